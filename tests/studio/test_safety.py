"""Paths stay in the folder, and foreign pages stay out."""

from __future__ import annotations

import pytest

from surefoot.studio.safety import OutsideError, inside, is_local_name, names_of_host, request_is_ours


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work" / "runs").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "work" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "work" / "near").symlink_to(tmp_path / "work" / "runs")
    (tmp_path / "work" / "ring").symlink_to(tmp_path / "work" / "ring")
    return tmp_path / "work"


@pytest.mark.parametrize("path", ["", ".", "runs", "runs/../runs", "not/there/yet", "near", "../work/runs"])
def test_what_lies_in_the_folder_is_found(folder, path):
    assert folder in (inside(folder, path), *inside(folder, path).parents)


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../secret",
        "/",
        "/etc/passwd",
        "runs/../../secret",
        "link",
        "link/file",
        "ring/x",
        "a\0b",
        "~root/x/../../..",
    ],
)
def test_what_leads_out_of_the_folder_is_refused(folder, path):
    with pytest.raises(OutsideError) as caught:
        inside(folder, path)
    assert path in str(caught.value).replace("\\x00", "\0")


def test_a_folder_that_is_a_link_is_no_way_out(tmp_path, folder):
    (tmp_path / "alias").symlink_to(folder)
    assert inside(tmp_path / "alias", "runs") == folder / "runs"
    with pytest.raises(OutsideError):
        inside(tmp_path / "alias", "../secret")


def test_a_name_that_begins_like_the_folder_lies_outside(tmp_path, folder):
    (tmp_path / "work-of-others").mkdir()
    with pytest.raises(OutsideError):
        inside(folder, "../work-of-others")


OURS = names_of_host("127.0.0.1")


@pytest.mark.parametrize(
    ("host", "origin", "is_ours"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("localhost:8080", "http://localhost:8080", True),
        ("[::1]:8080", "http://[::1]:8080", True),
        ("127.0.0.1:8080", None, True),
        ("127.0.0.1:8080", "http://evil.example", False),
        ("127.0.0.1:8080", "http://127.0.0.1:9090", False),
        ("127.0.0.1:8080", "http://localhost:8080", False),
        ("127.0.0.1:8080", "http://127.0.0.1:8080.evil.example", False),
        ("127.0.0.1:8080", "null", False),
        ("127.0.0.1:8080", "", False),
        ("evil.example:8080", "http://evil.example:8080", False),
        ("evil.example:8080", None, False),
        (None, None, False),
        ("", None, False),
        ("[", None, False),
    ],
)
def test_only_pages_of_this_server_are_ours(host, origin, is_ours):
    assert request_is_ours(host, origin, OURS) is is_ours


def test_a_server_for_the_network_knows_its_own_name():
    import socket

    own = socket.gethostname().lower()
    assert request_is_ours(f"{own}:1", f"http://{own}:1", names_of_host("0.0.0.0"))
    assert request_is_ours("192.168.1.7:1", "http://192.168.1.7:1", names_of_host("0.0.0.0"))
    assert not request_is_ours("evil.example:1", "http://evil.example:1", names_of_host("0.0.0.0"))


def test_which_hosts_are_local():
    assert all(is_local_name(name) for name in ("127.0.0.1", "localhost", "::1", "127.8.8.8"))
    assert not any(is_local_name(name) for name in ("0.0.0.0", "::", "192.168.1.7", "robot.example"))
