"""`surefoot list`, `show` and `new` as a user meets them."""

from __future__ import annotations

import json

import pytest

from surefoot.scenario import names, read_scenario, scenario_text
from tests.cli.test_main import surefoot

SHORT = ["--set", "simulation.duration=0.5", "--set", "audit.kind=none"]


def test_list_has_one_line_each(capsys):
    status, out, _ = surefoot(capsys, "list")
    assert status == 0
    lines = out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == names()
    for line, name in zip(lines, names(), strict=True):
        assert line.split(maxsplit=1)[1].strip() == read_scenario(name).description
    described = json.loads(surefoot(capsys, "list", "--json")[1])
    assert described == {name: read_scenario(name).description for name in names()}


@pytest.mark.parametrize("name", names()[::6])
def test_show_prints_the_file_and_new_copies_it(capsys, tmp_path, name):
    assert surefoot(capsys, "show", name)[:2] == (0, scenario_text(name))
    status, out, _ = surefoot(capsys, "new", name, str(tmp_path / "my.toml"))
    assert status == 0
    assert out.splitlines()[-1] == str(tmp_path / "my.toml")
    assert read_scenario(tmp_path / "my.toml") == read_scenario(name)


def test_the_copy_runs_unchanged(capsys, tmp_path):
    surefoot(capsys, "new", "slide", str(tmp_path / "my.toml"))
    assert surefoot(capsys, "run", str(tmp_path / "my.toml"), "--out", str(tmp_path / "run"), *SHORT)[0] == 0


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["show", "stnad"], "did you mean `stand`"),
        (["new", "stnad", "{0}/my.toml"], "did you mean `stand`"),
        (["new", "stand", "{0}/there.toml"], "is not overwritten"),
        (["new", "stand", "{0}/dangling.toml"], "is not overwritten"),
        (["new", "stand", "{0}/my.yaml"], "use .toml"),
        (["new", "stand", "{0}/my"], "use .toml"),
        (["new", "stand", "{0}/none/my.toml"], "create the folder first"),
    ],
)
def test_what_cannot_be_done_is_told(capsys, tmp_path, words, hint):
    (tmp_path / "there.toml").write_text("mine")
    (tmp_path / "dangling.toml").symlink_to(tmp_path / "nowhere.toml")
    status, _, err = surefoot(capsys, *(word.format(tmp_path) for word in words))
    assert status == 2
    assert hint in err
    assert {path.name for path in tmp_path.iterdir()} == {"there.toml", "dangling.toml"}
    assert (tmp_path / "there.toml").read_text() == "mine"
