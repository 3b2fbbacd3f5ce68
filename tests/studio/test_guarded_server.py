"""Handshakes of foreign pages are refused; pages of runs are shut off from the studio."""

from __future__ import annotations

import socket

import pytest

from surefoot.errors import NotSupportedError
from surefoot.studio.files import report_link
from surefoot.studio.server.guarded import guarded_server, stop_quietly
from surefoot.studio.server.studio import report_pages

TOKEN, REPORTS = "token", "/report/other-token/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    run = folder / "runs" / "a run"
    run.mkdir(parents=True)
    (run / "metrics.json").write_text("{}")
    (run / "report.html").write_text("<p>the page</p>")
    (folder / "runs" / "bare").mkdir()
    (folder / "runs" / "bare" / "report.html").write_text("no run")
    outside = tmp_path_factory.mktemp("outside")
    (outside / "metrics.json").write_text("{}")
    (outside / "report.html").write_text("secret")
    (folder / "runs" / "link").symlink_to(outside)
    return folder.resolve()


@pytest.fixture(scope="module")
def server(folder):
    server = guarded_server("127.0.0.1", 0, report_pages(folder, REPORTS), TOKEN)
    yield server
    stop_quietly(server)


def answer(server, path: str = f"/{TOKEN}/", *, upgrade: bool = False, **headers: str) -> tuple[int, str]:
    """Status and head of the answer to a request, by a bare socket."""
    port = server.get_port()
    given = {"Host": f"127.0.0.1:{port}"} | {name: value.replace("PORT", str(port)) for name, value in headers.items()}
    if upgrade:
        given |= {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
    text = f"GET {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in given.items()) + "\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(text.encode())
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                break
            data += part
    return int(data.split()[1]), data.decode("utf-8", errors="replace")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://127.0.0.1:PORT"}, 101),
        ({}, 101),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "http://evil.example:PORT", "Host": "evil.example:PORT"}, 403),
        ({"Host": "localhost:PORT", "Origin": "http://localhost:PORT"}, 101),
    ],
)
def test_websockets_of_foreign_pages_are_refused(server, headers, status):
    assert answer(server, upgrade=True, **headers)[0] == status


def test_two_origins_are_one_too_many(server):
    port = server.get_port()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        own = f"http://127.0.0.1:{port}"
        head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: {own}\r\nOrigin: http://evil.example\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(64).split()[1] == b"403"


def test_an_upgrade_in_other_letters_is_no_way_round(server):
    assert answer(server, Upgrade="WebSocket", Origin="http://evil.example")[0] == 403


def test_the_page_may_load_nothing_from_elsewhere_and_not_be_framed(server):
    status, head = answer(server)
    assert status == 200
    assert "default-src 'none'; script-src 'nonce-" in head
    assert "'unsafe-inline'" not in head.partition("script-src")[2].partition(";")[0]
    assert "frame-ancestors 'self'" in head


def test_a_host_that_is_not_ours_is_refused_at_once():
    with pytest.raises(NotSupportedError, match="not an address of this machine"):
        guarded_server("203.0.113.7", 0, lambda path: None, TOKEN)


def test_a_port_that_is_taken_is_passed_over(server):
    other = guarded_server("127.0.0.1", server.get_port(), lambda path: None, TOKEN)
    assert other.get_port() > server.get_port()
    stop_quietly(other)


def test_sharing_over_a_foreign_server_is_out(server):
    from viser import _messages

    assert _messages.ShareUrlRequest not in server._websock_server._incoming_handlers


def test_the_page_of_a_run_is_served_in_a_sandbox(server):
    status, head = answer(server, report_link(REPORTS, "runs/a run"))
    assert status == 200
    assert "sandbox allow-scripts" in head
    assert "allow-same-origin" not in head
    assert "the page" in head


@pytest.mark.parametrize("path", ["runs/bare", "runs/link", "../x", "%2e%2e/%2e%2e/etc", "/etc", "", "runs/a run/.."])
def test_nothing_else_is_served(server, path):
    status, text = answer(server, f"{REPORTS}{path.replace(' ', '%20')}")
    assert status == 404
    assert "secret" not in text


def test_pages_are_not_for_foreign_pages(server):
    assert answer(server, report_link(REPORTS, "runs/a run"), Origin="http://evil.example")[0] == 403


@pytest.mark.parametrize(
    "path", ["/", "", "/tok", "/token2/", "/token2", "//token/", "/?token", "/index.html", "/report/"]
)
@pytest.mark.parametrize("upgrade", [True, False])
def test_who_does_not_know_the_token_is_refused(server, path, upgrade):
    assert answer(server, path or "/%74oken/", upgrade=upgrade)[0] == 403


def test_the_token_of_reports_does_not_open_the_studio(server):
    assert answer(server, "/other-token/")[0] == 403
    assert answer(server, f"/report/{TOKEN}/runs/a%20run")[0] == 403
