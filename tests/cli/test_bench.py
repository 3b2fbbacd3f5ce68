"""`surefoot bench`: tables, files and exit status."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from surefoot.cli.main import _status
from surefoot.compiler import Kernel


def surefoot(capsys, *words: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    status = _status(list(words))
    return status, *capsys.readouterr()


def test_dynamics_of_a_small_robot(capsys, tmp_path):
    file = tmp_path / "bench.json"
    status, out, err = surefoot(
        capsys, "bench", "dynamics", "--robots", "arm4", "--states", "16", "--quick", "--seed", "3", "--json", str(file)
    )
    assert (status, err) == (0, "")
    for text in (
        "doubles per vector", "arm4: nq 4, nv 4", "rnea: inverse dynamics", "Pinocchio, before", "Pinocchio, after",
        "one state a call, arrays bound", "batch in rows, all cores", "MuJoCo", "× Pinocchio", "GB/s", "of peak",
        "rnea: MuJoCo: mj_kinematics", "not measured:", "drake: no interpreter",
    ):  # fmt: skip
        assert text in out
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (found["schema"], found["seed"], found["states"]) == (1, 3, 16)
    assert list(found["robots"]) == ["arm4"]


def test_a_wrong_answer_is_a_bad_verdict(capsys, tmp_path, monkeypatch):
    right = Kernel.unpack
    monkeypatch.setattr(Kernel, "unpack", lambda *args: tuple(x * (1.0 + 1e-9) for x in right(*args)))
    file = tmp_path / "bench.json"
    status, out, err = surefoot(
        capsys, "bench", "dynamics", "--robots", "arm4", "--states", "16", "--quick", "--json", str(file)
    )
    assert (status, out) == (1, "")
    assert "arm4 rnea, batch in tiles" in err
    assert "not timed" in err
    assert not file.exists()


def test_scaling_of_the_smallest_trees(capsys, tmp_path):
    file, plot = tmp_path / "scaling.json", tmp_path / "scaling.svg"
    status, out, err = surefoot(capsys, "bench", "scaling", "--max", "4", "--json", str(file), "--plot", str(plot))
    assert (status, err) == (0, "")
    assert "left out:" in out
    assert "coil, free rotors" in out
    assert json.loads(file.read_text(encoding="utf-8"))["bench"] == "scaling"
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dynamics", "--robots", "g9"), "there is no robot `g9`"),
        (("dynamics", "--robots", ","), "no robot was named"),
        (("dynamics", "--states", "0"), "--states"),
        (("dynamics", "--json", "no/folder/x.json"), "no folder"),
        (("scaling", "--plot", "x.png"), "x.png"),
        (("scaling", "--plot", "no/folder/x.svg"), "no folder"),
        (("scaling", "--max", "600"), "--max"),
        (("scalin",), "did you mean `scaling`"),
    ],
)
def test_bad_input(capsys, words, message):
    status, out, err = surefoot(capsys, "bench", *words)
    assert (status, out) == (2, "")
    assert message in err


def test_without_a_command_help_is_printed(capsys):
    status, out, _ = surefoot(capsys, "bench")
    assert status == 2
    assert "dynamics" in out
    assert "scaling" in out
