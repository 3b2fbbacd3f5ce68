"""`surefoot cache`: what it shows, what it removes, and its exit status."""

from __future__ import annotations

import json
import os
import time

import pytest

from surefoot.cli.main import _status
from surefoot.codegen import cache

DAY = 86400.0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of three kernels, used 9, 5 and 1 days ago."""
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SUREFOOT_CACHE_LIMIT", raising=False)
    for robot, days in (("talos", 9.0), ("[g1]", 5.0), ("anymal", 1.0)):
        cache.store(cache.key(robot), bytes(2000), {"robot": robot, "algorithm": "rnea", "build": "float64 x 8"})
        used = time.time() - days * DAY
        os.utime(tmp_path / "cache" / "kernels" / f"{cache.key(robot)}.kernel", (used, used))
    return tmp_path / "cache" / "kernels"


def surefoot(capsys, *words: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    status = _status(list(words))
    return status, *capsys.readouterr()


def test_the_page_shows_folder_number_size_and_entries(capsys, folder):
    status, out, _ = surefoot(capsys, "cache")
    assert status == 0
    head, titles, *rows = out.splitlines()
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert head == f"{folder}: 3 kernels, {size / 1024:.1f} KiB of 1.0 GiB"
    assert titles.split() == ["robot", "algorithm", "build", "size", "last", "used"]
    assert [row.split()[0] for row in rows] == ["anymal", "[g1]", "talos"]
    assert "rnea" in rows[0]
    assert "float64 x 8" in rows[0]
    assert "2.1 KiB" in rows[0]
    assert time.strftime("%Y-%m-%d", time.localtime(time.time() - DAY)) in rows[0]


def test_json_says_the_same(capsys, folder):
    status, out, _ = surefoot(capsys, "cache", "--json")
    data = json.loads(out)
    assert status == 0
    assert (data["folder"], data["count"], data["limit_bytes"]) == (str(folder), 3, 1 << 30)
    assert data["size_bytes"] == sum(row["size_bytes"] for row in data["entries"])
    assert data["size_bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    assert [row["description"]["robot"] for row in data["entries"]] == ["anymal", "[g1]", "talos"]


def test_an_empty_cache(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "none"))
    assert surefoot(capsys, "cache")[:2] == (0, f"{tmp_path / 'none' / 'kernels'}: 0 kernels, 0 B of 1.0 GiB\n")
    assert surefoot(capsys, "cache", "clear")[0] == 0
    assert not (tmp_path / "none").exists()


def test_a_damaged_entry_is_a_bad_verdict_and_clear_the_cure(capsys, folder):
    os.truncate(folder / f"{cache.key('talos')}.kernel", 200)
    status, out, _ = surefoot(capsys, "cache")
    assert status == 1
    assert "another length" in out
    assert "surefoot cache clear" in out
    assert [bool(row["defect"]) for row in json.loads(surefoot(capsys, "cache", "--json")[1])["entries"]].count(
        True
    ) == 1
    assert surefoot(capsys, "cache", "clear")[0] == 0
    assert surefoot(capsys, "cache")[0] == 0
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "removed"),
    [
        (["clear"], 3),
        (["clear", "--older-than", "4"], 2),
        (["clear", "--older-than", "30"], 0),
        (["bound", "5K"], 1),
        (["bound", "0"], 3),
        (["bound", "1G"], 0),
    ],
)
def test_clear_and_bound(capsys, folder, words, removed):
    status, out, _ = surefoot(capsys, "cache", *words, "--json")
    data = json.loads(out)
    assert status == 0
    assert (data["removed"], data["count"]) == (removed, 3 - removed)
    assert [entry.description["robot"] for entry in cache.entries()] == ["talos", "[g1]", "anymal"][removed:]
    status, out, _ = surefoot(capsys, "cache", "--json", *words)
    assert (status, json.loads(out)["removed"]) == (0, 0)
    assert surefoot(capsys, "cache", *words)[1].startswith("removed 0\n")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["cler"], "did you mean `clear`"),
        (["clear", "--older", "3"], "did you mean `--older-than`"),
        (["clear", "--older-than", "-1"], "older-than"),
        (["clear", "--older-than", "soon"], "older-than"),
        (["bound"], "SIZE"),
        (["bound", "much"], "500M"),
        (["--jsn"], "did you mean `--json`"),
    ],
)
def test_wrong_words_are_status_2(capsys, folder, words, hint):
    status, _, err = surefoot(capsys, "cache", *words)
    assert status == 2, err
    assert hint in err
    assert len(cache.entries()) == 3


def test_a_folder_that_others_can_write_is_refused_with_the_remedy(capsys, folder):
    folder.chmod(0o777)
    for words in (["cache"], ["cache", "clear"], ["cache", "bound", "0"]):
        status, _, err = surefoot(capsys, *words)
        assert status == 2
        assert f"chmod go-w {folder}" in err
    status, out, _ = surefoot(capsys, "doctor", "--json")
    (row,) = [row for row in json.loads(out) if row["what"] == "cache folder"]
    assert status == 1
    assert f"chmod go-w {folder}" in row["remedy"]
    assert len(list(folder.iterdir())) == 3
