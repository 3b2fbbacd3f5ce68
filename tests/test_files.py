"""Files appear whole or not at all."""

from __future__ import annotations

import os

import pytest

from surefoot.errors import FileFormatError
from surefoot.files import atomic_write, existing_file, read_bytes, write_text


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "a.txt"
    for text in ("one", "two"):
        with atomic_write(path) as temporary:
            assert temporary.parent == tmp_path
            temporary.write_text(text)
        assert path.read_text() == text
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_error_leaves_the_old_file_and_no_rest(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with atomic_write(path) as temporary:
            temporary.write_text("half of the new")
            raise KeyError("stop")

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_links_are_followed_and_modes_are_those_of_new_files(tmp_path):
    real, link, plain = tmp_path / "real", tmp_path / "link", tmp_path / "plain"
    real.write_text("old")
    link.symlink_to(real)
    plain.write_text("x")
    with atomic_write(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o777])
def test_a_replaced_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    with atomic_write(path) as temporary:
        assert temporary.stat().st_mode & 0o077 == 0  # nobody else reads it before it is in place
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o7777 == mode


def test_a_missing_folder_and_a_folder_as_target_are_refused(tmp_path):
    for path in (tmp_path / "no" / "a.txt", tmp_path):
        with pytest.raises(FileFormatError, match="cannot be written"), atomic_write(path):
            pass


def test_a_text_is_written_as_utf_8(tmp_path):
    write_text(tmp_path / "x.txt", "é\n")
    assert (tmp_path / "x.txt").read_bytes() == "é\n".encode()


def test_files_are_read_up_to_a_size(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"12345")
    assert read_bytes(path) == b"12345"
    assert read_bytes(path, limit=5) == b"12345"
    assert existing_file(path, limit=5) == path
    for refused in (lambda: read_bytes(path, limit=4, advice="cut it"), lambda: existing_file(path, limit=4)):
        with pytest.raises(FileFormatError, match="larger than"):
            refused()
    with pytest.raises(FileFormatError, match="cut it"):
        read_bytes(path, limit=4, advice="cut it")


def test_a_file_that_grows_is_not_read_to_its_end():
    """The size of /dev/zero is 0; it is not a regular file. /proc files state a size of 0 and hold more."""
    with pytest.raises(FileFormatError, match="larger than"):
        read_bytes("/proc/self/status", limit=10)
    with pytest.raises(FileFormatError, match="no such file"):
        read_bytes("/dev/zero")


def test_folders_and_missing_files_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="a folder"):
        read_bytes(tmp_path)
    with pytest.raises(FileFormatError, match="no such file"):
        read_bytes(tmp_path / "none")
