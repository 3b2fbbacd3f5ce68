"""Access control of the studio: requests and files."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection
from pathlib import Path
from urllib.parse import urlsplit

from surefoot.errors import SurefootError


class OutsideError(SurefootError):
    """A path is outside the studio folder."""


def inside(folder: str | Path, path: str | Path) -> Path:
    """The real path of something in a folder, links followed.

    Args:
        folder: The folder that must not be left.
        path: Relative to the folder, or absolute; it need not exist.

    Raises:
        OutsideError: It lies outside of the folder, by `..`, by a link, or as it stands.
    """
    root = Path(folder).resolve()
    try:
        found = (root / Path(path)).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, names with a zero byte
        raise OutsideError(f"`{path!s}` is not a path", evidence={"reason": error}) from error
    if found != root and root not in found.parents:
        raise OutsideError(
            f"`{path!s}` is outside the studio folder",
            evidence={"folder": str(root)},
            next_step="choose a path in that folder, or start the studio with another one: `surefoot studio DIR`",
        )
    return found


def request_is_ours(host: str | None, origin: str | None, names: Collection[str]) -> bool:
    """Whether a request comes from a page of this server, or from no page at all.

    A browser says in `Origin` which page asks; a page of another site is refused. `Host` must be a name of this
    machine or a bare address: a foreign name that was pointed here (DNS rebinding) makes a foreign page look like ours.

    Args:
        host: The header `Host`.
        origin: The header `Origin`; programs other than browsers have none.
        names: Names of this server, in lower case; bare addresses need not be listed.
    """
    if host is None or not _is_ours(_name_of(f"//{host}"), names):
        return False
    return origin is None or origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def names_of_host(host: str) -> frozenset[str]:
    """Names under which a server is known that listens on a host.

    Args:
        host: Name or address that it listens on.
    """
    own = {"localhost", host.lower()}
    return frozenset(own if is_local_name(host) else own | {socket.gethostname().lower(), socket.getfqdn().lower()})


def is_local_name(host: str) -> bool:
    """Whether only programs of this machine can reach a server that listens on a host.

    Args:
        host: Name or address that it listens on.
    """
    address = _address(host)
    return host.lower() == "localhost" if address is None else address.is_loopback


def _name_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_ours(name: str, names: Collection[str]) -> bool:
    return name in names or _address(name) is not None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
