"""`surefoot bench`: tables, files and exit status."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from bench.cases import distance, hierarchy, ik
from bench.cases.distance import TABLE_5_1
from bench.runner import CASES
from surefoot.cli import bench as command
from surefoot.cli.main import _status
from surefoot.codegen import Kernel


def surefoot(capsys, *words: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    status = _status(list(words))
    return status, *capsys.readouterr()


@pytest.mark.slow
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


@pytest.mark.slow
def test_scaling_of_the_smallest_trees(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("bench.cases.scaling._ALL_SECONDS", 1.0)  # some cases do not fit on any machine
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


def test_without_a_name_all_are_listed(capsys):
    status, out, _ = surefoot(capsys, "bench")
    assert status == 2
    assert all(name in out for name in CASES)
    assert surefoot(capsys, "bench", "--help")[:2] == (0, out)


@pytest.mark.parametrize("name", list(CASES))
def test_every_case_explains_its_options(capsys, name):
    status, out, err = surefoot(capsys, "bench", name, "--help")
    assert (status, err) == (0, "")
    assert f"surefoot bench {name}" in out


def test_outside_of_a_checkout_the_repository_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "__file__", str(tmp_path / "site-packages" / "surefoot" / "cli" / "bench.py"))
    status, out, err = surefoot(capsys, "bench", "dynamics")
    assert (status, out) == (2, "")
    assert "benchmarks are part of the repository" in err
    assert "clone the repository" in err


def test_code_of_the_current_folder_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "__file__", str(tmp_path / "site-packages" / "surefoot" / "cli" / "bench.py"))
    monkeypatch.chdir(tmp_path)
    for file in ("bench/runner.py", "surefoot/__init__.py"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).touch()
    assert command.bench_folder() is None


def test_distances_of_six_kinds_of_pairs(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(distance, "_BODIES", 4)
    file = tmp_path / "distance.json"
    status, out, err = surefoot(
        capsys, "bench", "distance", "--quick", "--pairs", "64", "--seed", "2", "--json", str(file)
    )
    assert (status, err) == (0, "")
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (found["bench"], found["pairs"], found["seed"]) == ("distance", 64, 2)
    lines = out.splitlines()
    for kinds, table_us in TABLE_5_1.items():
        cells = next(line for line in lines if line.startswith("–".join(kinds))).split()
        ways = found["rows"][" ".join(kinds)]["ways"]
        assert float(cells[1]) == pytest.approx(1e3 * table_us, rel=1e-2)
        assert float(cells[2]) == pytest.approx(1e3 * ways["distance, tiles"]["p50_us"], rel=1e-2)
        assert float(cells[3]) == pytest.approx(ways["distance, tiles"]["ratio"], rel=1e-2)
        assert float(cells[-4]) == pytest.approx(ways["nearest, rows"]["ratio"], rel=1e-2)
        assert float(cells[-2]) == pytest.approx(ways["distance, one call"]["ratio"], rel=1e-2)
    for text in ("tiles + points", "rows + points", "smooth", "error (m)", "4 capsules", "postures, tiles"):
        assert text in out


def test_distances_that_are_not_coals_are_a_bad_verdict(capsys, tmp_path, monkeypatch):
    right = distance._coal_distance
    monkeypatch.setattr(distance, "_coal_distance", lambda *args: right(*args) + 1e-6)
    file = tmp_path / "distance.json"
    status, out, err = surefoot(capsys, "bench", "distance", "--quick", "--pairs", "64", "--json", str(file))
    assert (status, out) == (1, "")
    assert "coal" in err
    assert not file.exists()


def test_predictive_inverse_kinematics_of_one_study(capsys, tmp_path):
    file = tmp_path / "predictive.json"
    status, out, err = surefoot(capsys, "bench", "predictive", "--quick", "--studies", "arm4", "--json", str(file))
    assert (status, err) == (0, "")
    study = json.loads(file.read_text(encoding="utf-8"))["studies"]["arm4"]
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines()}
    for method, row in study["peaks"].items():
        assert float(rows[method][-2]) == pytest.approx(row["pseudo_energy"], rel=1e-2)
        assert float(rows[method][-1]) == pytest.approx(row["distance_m"], abs=1e-4)
    assert rows["horizon 1.0 s"][3] == "100"
    for text in ("cycle of 10 ms", "(rad²/s²)", "(m)", "step of descent"):
        assert text in out


def test_inverse_kinematics_of_an_arm(capsys, tmp_path):
    file = tmp_path / "ik.json"
    words = ("--quick", "--robots", "panda", "--targets", "5", "--seed", "4", "--json", str(file))
    status, out, err = surefoot(capsys, "bench", "ik", *words)
    assert (status, err) == (0, "")
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (found["bench"], found["targets"], found["seed"]) == ("ik", 5, 4)
    for text in (
        "5 reachable targets",
        "1 mm and 1 mrad",
        "panda: nv",
        "surefoot, batch",
        "not measured:",
        "placo: no",
    ):
        assert text in out
    for way in found["robots"]["panda"]["ours"]:
        assert f"surefoot, {way}" in out


def test_peers_stand_beside_ours():
    row = {"success": 0.987, "ms_per_target": 0.25, "solves_per_second": 3948.0, "iterations": 7.0, "restarts": 0.5}
    peer = {"with_restarts": row, "once": row, "settings": {"gain": 1}, "settings_tried": 9, "versions": {"pin": "4"}}
    robot = {
        "ours": {"batch": row},
        "peers": {"placo": peer},
        "ratios": {"fastest_peer": "placo", "batch": {"placo": 1.0}},
    }
    columns = list(zip(*ik._solver_rows(robot), strict=True))
    assert columns[0] == ("surefoot, batch", "placo, with restarts", "placo, once")
    assert columns[1] == ("98.7 %",) * 3
    assert columns[-1] == ("1.00", "fastest", "")
    assert ik._settings_lines(robot) == ["placo (pin 4), best of 9: gain 1"]


def test_a_control_loop_with_strict_priorities(capsys, tmp_path):
    file = tmp_path / "hierarchy.json"
    status, out, err = surefoot(capsys, "bench", "hierarchy", "--quick", "--seconds", "0.05", "--json", str(file))
    assert (status, err) == (0, "")
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (found["bench"], found["quick"], found["robot"]) == ("hierarchy", True, "talos")
    for name, motion in found["motions"].items():
        assert motion["ticks"] == 50
        cells = next(line for line in out.splitlines() if line.startswith(f"{name}  ")).split()
        assert float(cells[-4]) == pytest.approx(motion["p95_ms"], rel=1e-2)
        assert cells[-1] == ("yes" if motion["reached"] else "no")
        assert f"{name}: lower levels change higher ones by" in out
    assert "10 tasks on 3 strict levels" in out


def test_a_broken_priority_is_a_bad_verdict(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(hierarchy, "STRICT", -1.0)
    file = tmp_path / "hierarchy.json"
    status, out, err = surefoot(capsys, "bench", "hierarchy", "--seconds", "0.02", "--json", str(file))
    assert (status, out) == (1, "")
    assert "a tick of the control loop is wrong" in err
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("distance", "--pairs", "0"), "--pairs"),
        (("distance", "--json", "no/folder/x.json"), "no folder"),
        (("predictive", "--studies", "arm5"), "there is no study `arm5`"),
        (("predictive", "--studies", ","), "no study was named"),
        (("predictive", "--json", "no/folder/x.json"), "no folder"),
        (("ik", "--robots", "pandas"), "`pandas`"),
        (("ik", "--robots", ","), "no robot was named"),
        (("ik", "--targets", "0"), "--targets"),
        (("ik", "--peers", "no/such/folder"), "no peer has an environment there"),
        (("ik", "--json", "no/folder/x.json"), "no folder"),
        (("hierarchy", "--seconds", "0"), "--seconds"),
        (("hierarchy", "--json", "no/folder/x.json"), "no folder"),
        (("predict",), "did you mean `predictive`"),
    ],
)
def test_bad_input_of_kinematics(capsys, words, message):
    status, out, err = surefoot(capsys, "bench", *words)
    assert (status, out) == (2, "")
    assert message in err
