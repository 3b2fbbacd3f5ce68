"""`report_pages`: the pages of runs over HTTP, shut off from the studio."""

from __future__ import annotations

import http
from pathlib import Path
from urllib.parse import unquote

from websockets.datastructures import Headers
from websockets.http11 import Response

from surefoot.studio.files import report_of
from surefoot.studio.safety import OutsideError
from surefoot.studio.server.guarded import Pages

_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; worker-src blob:"
)


def report_pages(folder: Path, prefix: str) -> Pages:
    """Answers for addresses of `report_link`.

    A page may come from anybody, so it runs in a sandbox: it has no origin, cannot talk to the studio, and can load
    nothing. What it can learn from its own address must not open the studio: the prefix has another token.

    Args:
        folder: The folder of the studio.
        prefix: Of the addresses of reports, with a token that nobody can guess.
    """

    def page(path: str) -> Response | None:
        if not path.startswith(prefix):
            return None
        try:
            file = report_of(folder, unquote(path.removeprefix(prefix)))
            content = None if file is None else file.read_bytes()
        except (OutsideError, OSError):
            content = None
        if content is None:
            return Response(http.HTTPStatus.NOT_FOUND, "Not Found", Headers(**{"Content-Length": "0"}))
        headers = Headers(
            **{
                "Content-Type": "text/html; charset=utf-8",
                "Content-Length": str(len(content)),
                "Content-Security-Policy": _POLICY,
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
            }
        )
        return Response(http.HTTPStatus.OK, "OK", headers, content)

    return page
