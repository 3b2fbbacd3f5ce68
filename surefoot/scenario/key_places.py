"""The line of every key of a TOML text, also inside of lists and inline tables."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

__all__ = ["KeyPath", "key_places"]

KeyPath = tuple[str | int, ...]
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}' r"|'''(?:[^']|'(?!''))*'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'", re.DOTALL
)
_BARE = re.compile(r"[^,\]}\n#]*")


def key_places(text: str) -> dict[KeyPath, int]:
    """Line of every table, key and entry of a list, counted from 1, by its path.

    Args:
        text: TOML that can be read.
    """
    return _Reader(text).places


class _Reader:
    """Goes through the text once.

    Args:
        text: TOML that can be read.
    """

    def __init__(self, text: str) -> None:
        self.places: dict[KeyPath, int] = {}
        self._text, self._at = text, 0
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._entries: dict[KeyPath, int] = {}
        table: KeyPath = ()
        self._skip(_GAP)
        while self._at < len(text):
            if text.startswith("[", self._at):
                table = self._header()
            else:
                self._assignment(table)
            self._skip(_GAP)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        """Go over what the pattern matches."""
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found[0] if found else ""

    def _note(self, path: KeyPath, known: int, at: int) -> None:
        """The line of a path, and of the tables on the way to it that are not known yet."""
        for n in range(known + 1, len(path) + 1):
            self.places.setdefault(path[:n], bisect_right(self._ends, at - 1) + 1)

    def _header(self) -> KeyPath:
        """`[table]` or `[[table]]`; what is below the entry of a list belongs to the last one."""
        start, is_list = self._at, self._text.startswith("[[", self._at)
        self._at += 2 if is_list else 1
        self._skip(_GAP)
        *parents, last = self._dotted()
        self._at = self._text.index("]", self._at) + (2 if is_list else 1)
        path: KeyPath = ()
        for part in parents:
            path = self._last_entry((*path, part))
        path = (*path, last)
        if is_list:
            self._note(path, 0, start)
            self._entries[path] = self._entries.get(path, -1) + 1
        path = self._last_entry(path)
        self._note(path, 0, start)
        return path

    def _last_entry(self, path: KeyPath) -> KeyPath:
        return (*path, self._entries[path]) if path in self._entries else path

    def _dotted(self) -> list[str]:
        keys = [self._key()]
        while self._skip(_DOT):
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        text = self._skip(_KEY)
        if not text:
            raise ValueError(f"no key at character {self._at}")
        return next(iter(tomllib.loads(f"{text}=0"))) if text[0] in "\"'" else text

    def _assignment(self, table: KeyPath) -> None:
        start = self._at
        path = (*table, *self._dotted())
        self._note(path, len(table), start)
        self._at = self._text.index("=", self._at) + 1
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._skip(_GAP)
        match self._text[self._at : self._at + 1]:
            case "[":
                self._list(path)
            case "{":
                self._inline_table(path)
            case '"' | "'":
                self._skip(_STRING)
            case _:
                self._skip(_BARE)

    def _list(self, path: KeyPath) -> None:
        number = 0
        while self._is_inside("]"):
            self._note((*path, number), len(path), self._at)
            self._value((*path, number))
            number += 1

    def _inline_table(self, path: KeyPath) -> None:
        while self._is_inside("}"):
            self._assignment(path)

    def _is_inside(self, end: str) -> bool:
        """Go over an opening bracket or a comma; False, and over it, at the closing one."""
        self._skip(_GAP)
        if self._text[self._at] != end:
            if self._text[self._at] in "[{,":
                self._at += 1
            self._skip(_GAP)
        if self._text[self._at] != end:
            return True
        self._at += 1
        return False
