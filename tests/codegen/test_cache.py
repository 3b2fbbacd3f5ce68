"""What was stored comes back, what is damaged or foreign does not, and many processes share one folder."""

from __future__ import annotations

import multiprocessing
import os
import resource
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.codegen import cache
from surefoot.codegen.cache import CacheWarning, key, load, store
from surefoot.codegen.cache_files import CacheError, UnsafeFolderError

KEY = key("an entry")
PAYLOAD = bytes(range(256))
DESCRIPTION = {"robot": "g1", "algorithm": "rnea", "build": "float64 x 8"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """The folder of the entries of a fresh cache."""
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SUREFOOT_CACHE_LIMIT", raising=False)
    return tmp_path / "cache" / "kernels"


@pytest.fixture
def file(folder) -> Path:
    """The file of an entry that was stored."""
    store(KEY, PAYLOAD, DESCRIPTION)
    return folder / f"{KEY}.kernel"


def stored_at(name: str, age: float, size: int = 1000) -> str:
    """Store an entry that was last used `age` seconds ago; its key."""
    store(key(name), bytes(size), {"robot": name})
    used = time.time() - age
    os.utime(cache.kernel_folder() / f"{key(name)}.kernel", (used, used))
    return key(name)


# --- there and back


@pytest.mark.parametrize("payload", [b"", b"x", PAYLOAD, os.urandom(1 << 20)])
def test_what_was_stored_comes_back(folder, payload):
    assert load(KEY) is None
    store(KEY, b"older", {})
    store(KEY, payload, DESCRIPTION)
    assert load(KEY) == payload
    assert load(key("another")) is None
    assert [path.name for path in folder.iterdir()] == [f"{KEY}.kernel"]


def test_files_are_for_the_user_alone(file):
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.parent.parent.stat().st_mode) == 0o700


def test_entries_say_what_was_stored(file):
    (entry,) = cache.entries()
    assert (entry.key, entry.size, entry.defect) == (KEY, file.stat().st_size, "")
    assert DESCRIPTION.items() <= entry.description.items()
    assert abs(entry.description["created"] - time.time()) < 60.0
    assert abs(entry.used - time.time()) < 60.0


def test_an_empty_cache_is_no_error():
    assert (cache.entries(), cache.clear(), cache.bound(0)) == ([], 0, 0)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", KEY.upper(), KEY + "0", KEY[:-1] + "\n"])
def test_a_key_is_no_path(name):
    with pytest.raises(CacheError, match="64 hexadecimal"):
        load(name)
    with pytest.raises(CacheError, match="64 hexadecimal"):
        store(name, b"", {})


# --- damage


def assert_rebuilt(file: Path) -> None:
    """The entry counts as absent, is gone, and can be stored anew; nobody is warned."""
    assert load(KEY) is None
    assert not file.exists()
    store(KEY, PAYLOAD, DESCRIPTION)
    assert load(KEY) == PAYLOAD


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_damage_of_any_byte_is_found(file, flip):
    good = file.read_bytes()
    for place in range(len(good)):
        content = bytearray(good)
        content[place] ^= flip
        file.write_bytes(content)
        assert_rebuilt(file)


def test_a_file_that_was_cut_off_anywhere_is_found(file):
    good = file.read_bytes()
    for length in range(len(good)):
        file.write_bytes(good[:length])
        assert_rebuilt(file)


@settings(deadline=None, max_examples=100)
@given(start=st.floats(0, 1), end=st.floats(0, 1), between=st.binary(max_size=400))
def test_any_other_content_is_found(tmp_path_factory, start, end, between):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUREFOOT_CACHE", str(tmp_path_factory.mktemp("cache")))
        store(KEY, PAYLOAD, DESCRIPTION)
        file = cache.kernel_folder() / f"{KEY}.kernel"
        good = file.read_bytes()
        content = good[: int(start * len(good))] + between + good[len(good) - int(end * len(good)) :]
        file.write_bytes(content)
        if content == good:
            assert load(KEY) == PAYLOAD
        else:
            assert_rebuilt(file)


def test_an_entry_under_the_name_of_another_is_not_used(file):
    other = file.with_name(f"{key('another')}.kernel")
    file.rename(other)
    assert load(key("another")) is None
    assert not other.exists()


def test_a_damaged_entry_is_listed_as_such(file):
    os.truncate(file, 100)
    (entry,) = cache.entries()
    assert entry.defect
    assert cache.entries()
    assert cache.clear() == 1


# --- foreign files


def refused(reason: str) -> None:
    """The entry counts as absent, stays, and the user is told so once."""
    with pytest.warns(CacheWarning, match=reason):
        assert load(KEY) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(KEY) is None
    assert cache.entries()[0].defect
    store(KEY, PAYLOAD, DESCRIPTION)  # takes the place of the foreign file
    assert load(KEY) == PAYLOAD


def test_a_link_is_not_followed(file, tmp_path):
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    content = (tmp_path / "elsewhere").read_bytes()
    refused("a link")
    assert not file.is_symlink()
    assert (tmp_path / "elsewhere").read_bytes() == content


def test_a_pipe_does_not_make_us_wait(file):
    file.unlink()
    os.mkfifo(file, 0o600)
    refused("no regular file")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_can_write_is_refused(file, mode):
    file.chmod(mode)
    refused("writable by other users")


def test_an_entry_of_another_user_is_refused(file, monkeypatch):
    real = os.fstat
    foreign = real(os.open(file, os.O_RDONLY)).st_ino

    def fstat(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        return os.stat_result([*found[:4], found.st_uid + (found.st_ino == foreign), *found[5:]])

    monkeypatch.setattr(os, "fstat", fstat)
    refused("owned by another user")


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_can_write_is_an_error(file, mode):
    file.parent.chmod(mode)
    for work in (lambda: load(KEY), lambda: store(KEY, b"", {}), cache.entries, cache.clear, lambda: cache.bound(0)):
        with pytest.raises(UnsafeFolderError, match=r"writable by other users") as caught:
            work()
        assert f"chmod go-w {file.parent}" in caught.value.next_step
    file.parent.chmod(0o755)
    assert load(KEY) == PAYLOAD


def test_a_folder_of_another_user_is_an_error(file, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    with pytest.raises(UnsafeFolderError, match="owned by another user") as caught:
        load(KEY)
    assert "SUREFOOT_CACHE" in caught.value.next_step
    with pytest.raises(UnsafeFolderError):
        store(KEY, b"", {})


# --- work goes on without a cache


def test_a_place_that_cannot_be_written_is_said_once(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "file"))
    with pytest.warns(CacheWarning, match="cannot be kept"):
        store(KEY, PAYLOAD, {})
    with pytest.warns(CacheWarning, match="cannot be read"):
        assert load(KEY) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store(KEY, PAYLOAD, {})
        assert load(KEY) is None


def test_a_write_that_fails_midway_leaves_what_was_there(file):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))  # stands for a full disk
    try:
        with pytest.warns(CacheWarning, match="cannot be kept"):
            store(KEY, bytes(100_000), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert load(KEY) == PAYLOAD
    assert list(file.parent.iterdir()) == [file]


# --- bounds


def test_the_limit_holds_and_the_oldest_go_first(monkeypatch):
    old, used, young = stored_at("old", 300.0), stored_at("used", 400.0), stored_at("young", 100.0)
    size = cache.entries()[0].size
    assert load(used)
    assert [entry.key for entry in cache.entries()] == [old, young, used]
    assert cache.bound(3 * size + 100) == 0
    monkeypatch.setenv("SUREFOOT_CACHE_LIMIT", str(3 * size + 100))
    store(key("new"), bytes(1000), {"robot": "new"})
    assert [entry.key for entry in cache.entries()] == [young, used, key("new")]
    assert cache.bound(size + 100) == 2
    assert [entry.key for entry in cache.entries()] == [key("new")]
    assert cache.bound(0) == 1


def test_a_kernel_over_the_limit_does_not_push_out_the_others(file, monkeypatch):
    monkeypatch.setenv("SUREFOOT_CACHE_LIMIT", "1K")
    with pytest.warns(CacheWarning, match="over the limit"):
        store(key("large"), bytes(1024), {})
    assert [entry.key for entry in cache.entries()] == [KEY]
    monkeypatch.setenv("SUREFOOT_CACHE_LIMIT", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store(key("large"), bytes(1024), {})
    assert load(key("large")) is None


def test_clear_by_age():
    day = 86400.0
    stored_at("a", 5 * day)
    stored_at("b", 3 * day)
    left = stored_at("c", 1 * day)
    assert cache.clear(2.0) == 2
    assert [entry.key for entry in cache.entries()] == [left]
    assert cache.clear() == 1
    for days in (-1.0, float("nan")):
        with pytest.raises(CacheError):
            cache.clear(days)


def test_leftovers_of_dead_writers_go_and_other_files_stay(file):
    dead, alive, foreign = (file.with_name(name) for name in (f".{KEY}.{'0' * 16}.tmp", f".{KEY}.{'1' * 16}.tmp", "me"))
    for path in (dead, alive, foreign):
        path.write_text("")
    os.utime(dead, (0.0, 0.0))
    assert cache.clear() == 1
    assert set(file.parent.iterdir()) == {alive, foreign}


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("1000", 1000), ("2K", 2048), ("1.5 GiB", 3 << 29), ("10mb", 10 << 20), ("1T", 1 << 40)],
)
def test_sizes(monkeypatch, text, size):
    monkeypatch.setenv("SUREFOOT_CACHE_LIMIT", text)
    assert cache.size_limit() == size


@pytest.mark.parametrize("text", ["-1", "1X", "G", "nan", "1e3", "1 0", "٣"])
def test_what_is_no_size_is_an_error(monkeypatch, text):
    monkeypatch.setenv("SUREFOOT_CACHE_LIMIT", text)
    with pytest.raises(CacheError, match="is not a size") as caught:
        store(KEY, b"", {})
    assert "SUREFOOT_CACHE_LIMIT" in caught.value.next_step
    assert cache.entries() == []


# --- many processes


def work_together(seed: int, rounds: int) -> list[str]:
    """Store, load, list and remove in random order; what went wrong."""
    warnings.simplefilter("error")
    rng = np.random.default_rng(seed)
    wrong = []
    for _ in range(rounds):
        name = key(str(rng.integers(4)))
        match int(rng.integers(8)):
            case 0 | 1 | 2:
                store(name, name.encode() * int(rng.integers(1, 2000)), {"robot": name})
            case 3:
                cache.bound(200_000)
            case 4:
                wrong += [entry.defect for entry in cache.entries() if entry.defect]
            case _:
                found = load(name)
                if found is not None and found != name.encode() * (len(found) // len(name)):
                    wrong.append(name)
    return wrong


def test_many_processes_share_a_folder(folder):
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(4)
    with context.Pool(4, initializer=together.wait) as pool:
        assert pool.starmap(work_together, [(seed, 400) for seed in range(4)], chunksize=1) == [[]] * 4
    assert all(path.suffix == ".kernel" for path in folder.iterdir())
    assert cache.entries()


def test_what_another_process_removes_meanwhile_is_no_error(folder, monkeypatch):
    listed = cache.slots

    def slots(opened: int) -> list:
        found = listed(opened)
        (folder / f"{key('gone')}.kernel").unlink()
        return found

    for work, expected in ((lambda: len(cache.entries()), 1), (cache.clear, 1), (lambda: cache.bound(0), 1)):
        stored_at("gone", 300.0)
        stored_at("here", 100.0)
        with monkeypatch.context() as patch:
            patch.setattr(cache, "slots", slots)
            assert work() == expected


# --- keys


PARTS = st.lists(st.one_of(st.text("ab:1", max_size=4), st.binary(max_size=4)), max_size=4)


@given(PARTS, PARTS)
def test_keys_are_equal_for_equal_parts_only(first, second):
    assert (key(*first) == key(*second)) == (first == second)


def test_keys_know_where_parts_end_and_what_they_are():
    zeros = np.zeros(4)
    different = [
        (), ("",), (b"",), ("", ""), ("ab",), (b"ab",), ("a", "b"), ("ab", ""), ("a", b"b"), zeros.tobytes(), zeros,
        zeros.reshape(2, 2), zeros.reshape(4, 1), -zeros, zeros.astype("f4"), zeros.astype(">f8"), zeros.astype(int),
        ("atext:b",), ("atext:1:b",), zeros[:0], np.zeros((0, 3)), np.array(["a"]),
    ]  # fmt: skip
    keys = [key(*(parts if isinstance(parts, tuple) else (parts,))) for parts in different]
    assert len(set(keys)) == len(different)
    a = np.arange(6.0).reshape(2, 3)
    assert key(a) == key(np.asfortranarray(a)) == key(np.repeat(a, 2, axis=1)[:, ::2])
    with pytest.raises(CacheError):
        key(np.array([object()]))


def test_the_source_version_follows_the_sources(tmp_path, monkeypatch):
    def version() -> str:
        cache.source_version.cache_clear()
        return cache.source_version()

    here = cache.source_version()
    assert version() == here
    for room in ("spatial", "kinematics", "dynamics", "codegen", "compiler", "ops", "robot/model", "geometry"):
        (tmp_path / room).mkdir(parents=True)
    for name in ("tree.py", "contacts.py"):
        (tmp_path / "robot" / "model" / name).write_text("")
    monkeypatch.setattr(cache, "_PACKAGE", tmp_path)
    seen = {here, version()}
    for name in (
        "ops_more.py",
        "ops/a.py",
        "spatial/a.py",
        "kinematics/a.py",
        "dynamics/a.py",
        "codegen/a.py",
        "compiler/a.py",
        "robot/model/tree.py",
        "robot/model/contacts.py",
        "geometry/swept_a.py",
    ):
        (tmp_path / name).write_text("x = 1\n")
        seen.add(version())
    (tmp_path / "spatial" / "a.py").rename(tmp_path / "spatial" / "b.py")
    seen.add(version())
    assert len(seen) == 13
    (tmp_path / "robot" / "load.py").write_text("x = 1\n")
    assert version() in seen
    monkeypatch.undo()
    assert version() == here


def test_cpu_features_need_no_llvm_where_the_system_tells_them():
    code = (
        "import sys; from surefoot.codegen.cache import cpu_features; before = set(sys.modules);"
        "print(cpu_features()); print('llvmlite' in set(sys.modules) - before)"
    )
    features, asked = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert features.startswith("machine=")
    known = Path("/proc/cpuinfo")
    if known.exists() and {"flags", "Features"} & set(known.read_text().split()):
        assert asked == "False"


def test_cpu_features_elsewhere_come_from_llvm(tmp_path, monkeypatch):
    import llvmlite.binding as llvm

    monkeypatch.setattr(cache, "_first_processor", lambda path: {})
    assert llvm.get_host_cpu_name() in cache.cpu_features.__wrapped__()
    monkeypatch.undo()
    assert cache._first_processor(tmp_path / "none") == {}
    (tmp_path / "info").write_text("processor\t: 0\nmodel name\t: X\nmodel\t: 7\nflags\t\t: b a\n\nmodel\t: 8\n")
    assert cache._first_processor(tmp_path / "info") == {"model": "7", "flags": "a b"}


def test_the_folder_is_where_the_user_says(monkeypatch, tmp_path):
    assert cache.kernel_folder() == tmp_path / "cache" / "kernels"
    monkeypatch.setenv("SUREFOOT_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache.cache_folder() == Path("/x/surefoot")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.cache_folder() == Path.home() / ".cache" / "surefoot"


def test_the_folder_is_looked_through_now_and_then_only(monkeypatch):
    looks, slots = [], cache.slots
    monkeypatch.setattr(cache, "slots", lambda folder: looks.append(1) or slots(folder))
    for k in range(100):
        cache.store(cache.key("many", str(k)), b"x" * 100, {})
    assert len(looks) <= 2
    monkeypatch.setenv("SUREFOOT_CACHE_LIMIT", "10K")
    for k in range(100, 200):
        cache.store(cache.key("many", str(k)), b"x" * 100, {})
        assert sum(entry.size for entry in cache.entries()) <= 10 * 1024
