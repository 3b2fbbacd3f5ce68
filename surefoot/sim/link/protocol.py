"""The wire protocol, version 1: little-endian datagrams with a checksum.

    magic "SF", version u8, kind u8, session u32, sequence u32, time u32 [ms], payload, CRC-32 of all before it

    kind 1, targets, to the robot:    n u8, then n × (address u8 = 16 chip + channel, counts u16)
    kind 2, status, from the robot:   obeyed u32 (last sequence), state u8, contacts u8 (bits), battery u16 [mV],
                                      accepted u32, refused u32, k u8, then k × 6 i16: gyroscope [mrad/s] and
                                      accelerometer [cm/s²] of an IMU

A receiver refuses whatever is not exactly of this form. Sequences count up and may wrap around; a session is a random
number that the desktop draws when it starts.
"""

from __future__ import annotations

import ipaddress
import struct
import zlib
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, ShapeError

VERSION = 1
STATES = ("waiting", "following", "holding")
LARGEST_PACKET = 512  # bytes
_MAGIC = b"SF"
_HEAD, _CRC = struct.Struct("<2sBBIII"), struct.Struct("<I")
_TARGET, _STATUS = struct.Struct("<BH"), struct.Struct("<IBBHIIB")
_KINDS = {1: "targets", 2: "status"}


@dataclass(frozen=True)
class Targets:
    """Counts for the servos.

    Args:
        session: Of the desktop.
        sequence: Of the packet.
        time: Of the sender [ms], modulo 2³².
        counts: Address → counts of the PWM chip.
    """

    session: int
    sequence: int
    time: int
    counts: dict[int, int]


@dataclass(frozen=True, eq=False)
class Status:
    """A report of the robot.

    Args:
        session: Of the desktop that it listens to; 0 for none.
        sequence: Of the packet.
        time: Of the robot [ms], modulo 2³².
        obeyed: Sequence of the last targets that it took.
        state: One of `STATES`.
        contacts: Which feet touch, in the order of the robot's contacts; at most 8.
        battery: [V].
        accepted: Packets so far.
        refused: Packets so far.
        imus: (k, 6) gyroscopes [rad/s] and accelerometers [m/s²], in the axes of their links.
    """

    session: int
    sequence: int
    time: int
    obeyed: int
    state: str
    contacts: tuple[bool, ...]
    battery: float
    accepted: int
    refused: int
    imus: Array = field(default_factory=lambda: np.zeros((0, 6)))


def encode(message: Targets | Status) -> bytes:
    """The datagram of a message."""
    kind = 1 if isinstance(message, Targets) else 2
    head = _HEAD.pack(_MAGIC, VERSION, kind, message.session, message.sequence, message.time)
    if isinstance(message, Targets):
        rows = (_TARGET.pack(address, count) for address, count in message.counts.items())
        body = head + bytes([len(message.counts)]) + b"".join(rows)
    else:
        bits = sum(1 << k for k, touches in enumerate(message.contacts[:8]) if touches)
        volts = int(np.clip(round(1000.0 * message.battery), 0, 65535))
        imus = np.round(np.asarray(message.imus) * [1e3, 1e3, 1e3, 1e2, 1e2, 1e2])
        numbers = np.clip(imus, -32768, 32767).astype("<i2")
        state = STATES.index(message.state)
        counts = message.accepted & 0xFFFFFFFF, message.refused & 0xFFFFFFFF
        body = head + _STATUS.pack(message.obeyed, state, bits, volts, *counts, len(numbers)) + numbers.tobytes()
    return body + _CRC.pack(zlib.crc32(body))


def decode(data: bytes, contacts: int = 6) -> Targets | Status | None:
    """The message of a datagram; None for anything that is not one, to the last byte.

    Args:
        data: The datagram.
        contacts: Number of feet, 1…8.
    """
    if not _HEAD.size + 1 + _CRC.size <= len(data) <= LARGEST_PACKET:
        return None
    magic, version, kind, session, sequence, clock = _HEAD.unpack_from(data)
    if magic != _MAGIC or version != VERSION or kind not in _KINDS:
        return None
    if _CRC.unpack_from(data, len(data) - _CRC.size)[0] != zlib.crc32(data[: -_CRC.size]):
        return None
    payload = data[_HEAD.size : -_CRC.size]
    if kind == 1:
        rows = list(_TARGET.iter_unpack(payload[1:])) if (len(payload) - 1) % _TARGET.size == 0 else []
        counts = dict(rows)
        return Targets(session, sequence, clock, counts) if payload[0] == len(rows) == len(counts) > 0 else None
    if len(payload) < _STATUS.size:
        return None
    obeyed, state, bits, volts, accepted, refused, k = _STATUS.unpack_from(payload)
    if len(payload) != _STATUS.size + 12 * k or state >= len(STATES) or bits >> contacts:
        return None
    imus = np.frombuffer(payload, "<i2", 6 * k, _STATUS.size).reshape(k, 6) * [1e-3, 1e-3, 1e-3, 1e-2, 1e-2, 1e-2]
    touching = tuple(bool(bits >> i & 1) for i in range(contacts))
    return Status(
        session, sequence, clock, obeyed, STATES[state], touching, volts / 1000.0, accepted, refused, np.asarray(imus)
    )


def is_newer(sequence: int, than: int) -> bool:
    """Whether a sequence follows another; sequences wrap around at 2³²."""
    return 0 < (sequence - than) % (1 << 32) < 1 << 31


def loopback_address(url: str) -> tuple[str, int]:
    """Host and port of "udp://127.0.0.1:PORT".

    Args:
        url: The address. Only this machine can be linked: packets have a checksum, and no signature.

    Raises:
        ShapeError: It is not of this form.
        NotSupportedError: It is the address of another machine.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ShapeError(f"`{url}` is not an address", evidence={"reason": error}) from error
    if parts.scheme != "udp" or port is None or parts.path or parts.query:
        raise ShapeError(f"`{url}` is not the address of a link", next_step="write udp://127.0.0.1:PORT")
    if host != "localhost" and not _is_loopback(host):
        raise NotSupportedError(
            f"`{host}` is another machine", next_step="link to udp://127.0.0.1:PORT; packets are not signed"
        )
    return "127.0.0.1" if host == "localhost" else host, port


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return False
