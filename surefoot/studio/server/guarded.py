"""`guarded_server`: a viser server that refuses foreign pages and asks for nothing from outside."""

from __future__ import annotations

import gzip
import http
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

import viser
import websockets.asyncio.server
from viser import _messages
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from surefoot.errors import NotSupportedError
from surefoot.studio.safety import names_of_host, request_is_ours

Pages = Callable[[str], Response | None]
"""From the path of a URL to a page of ours; None for those of viser."""
_Answer = Callable[[ServerConnection, Request], Response | None]
_ONE_AT_A_TIME = threading.Lock()
_TRIED = 100  # ports
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; connect-src 'self' data: blob:; frame-ancestors {frames}; "
    "form-action 'none'; base-uri 'none'"
)
"""A page that loads nothing from elsewhere and runs the scripts with the nonce alone, not those in names. Its own
scripts compile WebAssembly and the functions around it, hence `unsafe-eval`."""
_LOADER, _MODULE = b"<script data-p=", b'e.type="module";'
"""Where the page of viser begins its script, and where that adds the second one, which it unpacks."""
_SHEET = 'div[style*="position: fixed"][style*="max-height: 60%"]'
_HANDLE = 'div[style*="cursor: pointer"][style*="height: 3.5em"]'

_STYLE = f"""
{_SHEET} {{ left: 0 !important; right: 0 !important; width: auto !important; max-height: 56% !important; }}
{_SHEET} div[style="width: 20em;"] {{ width: 100% !important; }}
{_SHEET} .mantine-ScrollArea-content {{ min-width: 0 !important; display: block !important; }}
{_SHEET} {_HANDLE} {{ position: sticky !important; top: 0; z-index: 20; background: #fff; touch-action: manipulation;
  box-shadow: 0 1px 0 rgba(0, 0, 0, .1); }}
{_HANDLE}:focus-visible {{ outline: 2px solid #206abe; outline-offset: -3px; }}
{_HANDLE}::after {{ content: ""; flex: none; width: .55em; height: .55em; margin: .25em .5em 0 .9em;
  border: solid #495057; border-width: 2px 0 0 2px; transform: rotate(45deg); }}
{_HANDLE}[aria-expanded=true]::after {{ margin-top: -.25em; transform: rotate(225deg); }}
{_HANDLE}[aria-expanded=false]::before {{ content: "Controls"; order: 1; margin-left: auto; color: #206abe;
  font-weight: 500; }}
{_HANDLE}::after {{ order: 2; }}
.surefoot-text {{ padding: 0 .75em .5em; font-size: .875rem; line-height: 1.5; overflow-wrap: anywhere; }}
.surefoot-text table {{ width: 100%; border-collapse: collapse; }}
.surefoot-text td, .surefoot-text th {{ padding: .2em .5em; border-bottom: 1px solid #dee2e6; text-align: left; }}
.surefoot-text td:last-child, .surefoot-text th:last-child {{ text-align: right; }}
.surefoot-text code {{ padding: 0 .3em; border-radius: 3px; background: rgba(127, 127, 127, .15); }}
.surefoot-text small {{ opacity: .7; }}
"""

_SCRIPT = f"""
(() => {{
  // viser would add the address of its websocket to that of the page, because that has a token.
  const put = history.replaceState.bind(history);
  const plain = url => (`${{url}}`.includes('websocket=') ? location.pathname : url);
  history.replaceState = (state, title, url) => put(state, title, plain(url));
  let sheet = null, room = null;
  const open = handle => handle.parentElement.offsetHeight > 1.5 * handle.offsetHeight;
  const fit = handle => {{
    handle.setAttribute('aria-expanded', open(handle));
    if (room) room.style.height = `calc(100% - ${{sheet.offsetHeight}}px)`;
  }};
  const take = handle => {{
    const facts = {{ role: 'button', tabindex: '0', 'aria-label': 'controls' }};
    for (const [name, value] of Object.entries(facts)) handle.setAttribute(name, value);
    handle.addEventListener('keydown', event => {{
      if (event.target !== handle || (event.key !== 'Enter' && event.key !== ' ')) return;
      event.preventDefault();
      handle.click();
    }});
    room = [...sheet.parentElement.children].find(child => child !== sheet && child.querySelector('canvas'));
    new ResizeObserver(() => fit(handle)).observe(sheet);
    handle.click();  // it starts closed
  }};
  new MutationObserver(() => {{
    const found = document.querySelector('{_SHEET}'), handle = found && found.querySelector('{_HANDLE}');
    if (handle && !document.querySelector('canvas')) return;  // the scene comes later
    if ((handle ? found : null) === sheet) return;
    if (room) room.style.height = '100%';
    sheet = handle ? found : null;
    if (sheet) take(handle);
  }}).observe(document, {{ childList: true, subtree: true }});
}})();
"""


def guarded_server(host: str, port: int, pages: Pages, token: str, frames: str = "'self'") -> viser.ViserServer:
    """A viser server with a guard before every request, HTTP and websocket.

    viser gives its websocket server no hook of ours; the guard is put in while it starts. A version of viser that goes
    another way is refused. Sharing over a server of viser's makers is taken out.

    Args:
        host: Name or address to listen on.
        port: Port; 0 for any that is free. If it is taken, the next free one.
        pages: Further pages; they see to it themselves who may read them.
        token: The first part of the path of the studio's addresses; who does not know it is refused.
        frames: Pages that may show it in a frame, as a content policy names them.

    Raises:
        NotSupportedError: The guard could not be put in, the host is not one of this machine, or no port is free.
    """
    guard, free = _Guard(host, pages, token, frames), _free_port(host, port)
    with _ONE_AT_A_TIME:
        original = websockets.asyncio.server.serve
        websockets.asyncio.server.serve = guard.serving(original)  # type: ignore[assignment, misc]
        try:
            with redirect_stdout(StringIO()):  # viser prints a banner of its own
                server = viser.ViserServer(host=host, port=free, label="surefoot studio", verbose=False)
        finally:
            websockets.asyncio.server.serve = original  # type: ignore[misc]
    if not guard.is_on or not _has_known_scripts():
        stop_quietly(server)
        raise NotSupportedError(
            f"viser {viser.__version__} cannot be protected against foreign pages and scripts",
            next_step="install the version of viser that surefoot is locked to (`make install`)",
        )
    # No tunnel to outside, whatever a client asks for
    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)
    return server


def _free_port(host: str, port: int) -> int:
    """The port, or the next one that is free; viser itself would wait for ever on a host that is not ours."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.bind((address[0], 0))
    except OSError as error:
        raise NotSupportedError(
            f"`{host}` is not an address of this machine",
            evidence={"reason": error.strerror or error},
            next_step="omit --host, or use 0.0.0.0 to listen on the network",
        ) from error
    for candidate in range(port, min(port + _TRIED, 65536)):
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address[0], candidate))
            except OSError:  # taken, or not for us: the next one
                continue
            return candidate
    raise NotSupportedError(f"no free port from {port} upwards", next_step="choose another with --port, or 0 for any")


def stop_quietly(server: viser.ViserServer) -> None:
    """Stop a server without its farewell on the terminal."""
    with redirect_stdout(StringIO()):
        server.stop()


class _Guard:
    """Answers before viser does."""

    def __init__(self, host: str, pages: Pages, token: str, frames: str) -> None:
        self._names, self._pages, self._token, self._frames = names_of_host(host), pages, token, frames
        self._nonce = secrets.token_urlsafe(16)
        self.is_on = False

    def serving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`serve` with the guard before its own `process_request`."""

        def serve(*arguments: Any, process_request: _Answer, **options: Any) -> Any:
            self.is_on = True
            return original(*arguments, process_request=self._guarding(process_request), **options)

        return serve

    def _guarding(self, answer: _Answer) -> _Answer:
        def guarded(connection: ServerConnection, request: Request) -> Response | None:
            if not self._is_ours(request.headers):
                return _refused("foreign page: no.")
            if not _is_websocket(request) and (own := self._pages(request.path.partition("?")[0])) is not None:
                return own
            _, token, rest = (*request.path.partition("?")[0].split("/", 2), "")[:3]
            if not secrets.compare_digest(token.encode(), self._token.encode()):
                return _refused("The address lacks the token of this studio: open the one that it printed.")
            return self._dressed(answer(connection, replace(request, path=f"/{rest}")))

        return guarded

    def _dressed(self, response: Response | None) -> Response | None:
        """The page under our name, fit for a phone; it loads nothing and runs no script but its own."""
        if response is None:
            return None
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.body = _ours(bytes(response.body), self._nonce)
            del response.headers["Content-Length"]
            response.headers["Content-Length"] = str(len(response.body))
        response.headers["Content-Security-Policy"] = _POLICY.format(nonce=self._nonce, frames=self._frames)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    def _is_ours(self, headers: Headers) -> bool:
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or len(origins) > 1:
            return False
        return request_is_ours(hosts[0], origins[0] if origins else None, self._names)


def _is_websocket(request: Request) -> bool:
    return request.headers.get("Upgrade", "").lower() == "websocket"


def _refused(why: str) -> Response:
    body = f"{why}\n".encode()
    headers = Headers(**{"Content-Length": str(len(body)), "Content-Type": "text/plain; charset=utf-8"})
    return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", headers, body)


@lru_cache(maxsize=4)
def _ours(body: bytes, nonce: str) -> bytes:
    is_packed = body.startswith(b"\x1f\x8b")
    text = gzip.decompress(body) if is_packed else body
    text = with_phone_sheet(text.replace(b"<title>Viser</title>", b"<title>surefoot studio</title>", 1), nonce)
    text = text.replace(_LOADER, _LOADER.replace(b" ", f' nonce="{nonce}" '.encode(), 1), 1)
    text = text.replace(_MODULE, f'e.nonce="{nonce}";'.encode() + _MODULE, 1)
    return gzip.compress(text) if is_packed else text


def _has_known_scripts() -> bool:
    """Whether the scripts of viser's page can be told from others."""
    page = Path(viser.__file__).parent / "client" / "build" / "index.html"
    text = page.read_bytes() if page.is_file() else b""
    return text.count(_LOADER) == text.count(_MODULE) == 1


def with_phone_sheet(page: bytes, nonce: str = "") -> bytes:
    """The page of viser with the sheet for phones, and the style of our texts.

    Args:
        page: HTML.
        nonce: Tells the policy of the page that a script is ours.
    """
    extra = f'<style>{_STYLE}</style><script nonce="{nonce}">{_SCRIPT}</script></head>'.encode()
    return page.replace(b"</head>", extra, 1)
