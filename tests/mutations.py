"""Damage to files: bytes, numbers, names and lines, for formats of text and for binary ones."""

from __future__ import annotations

import re

import numpy as np

__all__ = ["BINARY", "TEXT", "XML"]

NUMBER = re.compile(rb"(?<![\w.\-+])[-+]?\d+\.?\d*(?:e[-+]?\d+)?(?![\w.])")
NAME = re.compile(rb'(?:name|link|joint|body1)="([^"]+)"')
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]{2,}")


def truncate(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(0, len(data))]


def flip_bits(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    for position in rng.integers(0, len(out), rng.integers(1, 6)):
        out[position] ^= 1 << rng.integers(0, 8)
    return bytes(out)


def swap_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    for position in rng.integers(0, len(out), 3):
        out[position] = rng.integers(32, 127)
    return bytes(out)


def wrong_type(data: bytes, rng: np.random.Generator) -> bytes:
    words = [b"abc", b"nan", b"inf", b"", b"1,5", b"1 2 3 4", b"0x10", b"1e999", b"--1", b"1.0abc", b"\xc2\xb2"]
    return _replace(NUMBER, words[rng.integers(len(words))], data, rng)


def huge_number(data: bytes, rng: np.random.Generator) -> bytes:
    values = [b"1e308", b"-1e308", b"1e200", b"1e100", b"1e-320", b"-1e-200", b"1" + b"0" * 400, b"1e30", b"-5"]
    return _replace(NUMBER, values[rng.integers(len(values))], data, rng)


def other_number(data: bytes, rng: np.random.Generator) -> bytes:
    values = [b"0", b"-1", b"1e-9", b"1000000", b"2.5", b"1e9", b"-0.0", b"65536"]
    return _replace(NUMBER, values[rng.integers(len(values))], data, rng)


def wrong_name(data: bytes, rng: np.random.Generator) -> bytes:
    names = NAME.findall(data)
    return _replace(NAME, b'name="' + names[rng.integers(len(names))] + b'"', data, rng) if names else data


def other_reference(data: bytes, rng: np.random.Generator) -> bytes:
    """Another link as parent or child: cycles, two parents, two roots."""
    names = NAME.findall(data)
    pattern = re.compile(rb'(?<=link=")[^"]+')
    return (
        _replace(pattern, names[rng.integers(len(names))], data, rng) if pattern.search(data) else wrong_name(data, rng)
    )


def other_word(data: bytes, rng: np.random.Generator) -> bytes:
    """Another word of the file, or one that is not there, in the place of a word: keys, kinds, elements, names."""
    words = [*WORD.findall(data), b"x" * 300, b"true", "größe".encode(), b"None"]
    return _replace(WORD, words[rng.integers(len(words))], data, rng)


def entity(data: bytes, rng: np.random.Generator) -> bytes:
    head = b'<!DOCTYPE r [<!ENTITY a "1"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    body = re.sub(rb"^<\?xml[^>]*\?>", b"", data)
    return head + _replace(NUMBER, b"&b;", body, rng)


def cut_line(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.splitlines()
    del lines[rng.integers(len(lines))]
    return b"\n".join(lines)


def repeat_line(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.splitlines()
    i = rng.integers(len(lines))
    return b"\n".join([*lines[: i + 1], lines[i], *lines[i + 1 :]])


def swap_lines(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.splitlines()
    i, k = rng.integers(0, len(lines), 2)
    lines[i], lines[k] = lines[k], lines[i]
    return b"\n".join(lines)


def insert_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    at = rng.integers(0, len(data))
    return data[:at] + rng.bytes(rng.integers(1, 20)) + data[at:]


def fill(data: bytes, rng: np.random.Generator) -> bytes:
    """A stretch of the same byte: lengths, offsets and check sums that lie."""
    start, value = rng.integers(0, len(data)), [b"\0", b"\xff", b"\x7f", b"("][rng.integers(4)]
    length = min(int(rng.integers(1, 40)), len(data) - start)
    return data[:start] + value * length + data[start + length :]


def _replace(pattern: re.Pattern[bytes], new: bytes, data: bytes, rng: np.random.Generator) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    match = found[rng.integers(len(found))]
    return data[: match.start()] + new + data[match.end() :]


BINARY = (truncate, flip_bits, swap_bytes, insert_bytes, fill)
TEXT = (
    truncate, flip_bits, swap_bytes, wrong_type, huge_number, other_number, other_word, cut_line, repeat_line,
    swap_lines,
)  # fmt: skip
XML = (*TEXT, wrong_name, other_reference, entity)
