"""The benchmark of inverse kinematics: targets that are reachable, a judge that is strict, a fair loop for peers."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from bench.cases import ik
from bench.cases.ik import IK_CASES, bench_robot, judge, make_problems, solve_peer
from bench.peers import IK_PEERS, ik_script, peer_pythons, write_bare_urdf
from bench.timing import listen
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.kinematics import com, frame_placement
from surefoot.kinematics.frames import frame_of
from surefoot.robot.loading import load

N = 12


@pytest.fixture(scope="module", params=list(IK_CASES))
def problems(request):
    """A few problems of every robot."""
    return make_problems(request.param, N, seed=3)


# -- problems ---------------------------------------------------------------------------------------------------------


def test_the_postures_that_targets_were_read_off_are_answers(problems):
    found = judge(problems, problems.answers)
    assert found.solved.all()
    assert found.position.max() < 1e-9
    assert found.angle.max() < 1e-9
    assert found.excess.max() <= 0.0


def test_home_is_no_answer(problems):
    assert not judge(problems, np.tile(problems.home, (N, 1))).solved.any()


def test_starts_are_inside_the_limits_and_differ(problems):
    limits = problems.robot.limits
    assert (problems.starts >= limits.lower).all()
    assert (problems.starts <= limits.upper).all()
    assert len(np.unique(problems.starts, axis=0)) == len(problems.starts)


def test_the_centre_of_mass_is_over_the_feet(problems):
    if problems.com is None:  # an arm
        assert not problems.feet
        return
    corners = np.vstack(list(problems.robot.contact_corners(problems.home).values()))
    assert (problems.com[:, :2] > corners[:, :2].min(axis=0)).all()
    assert (problems.com[:, :2] < corners[:, :2].max(axis=0)).all()


def test_same_seed_same_targets():
    first, again, other = (make_problems("g1", 3, seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.hand, again.hand)
    np.testing.assert_array_equal(first.starts, again.starts)
    assert not np.allclose(first.hand, other.hand)


def test_more_targets_begin_with_the_same_ones():
    few, many = make_problems("panda", 3, 1), make_problems("panda", 9, 1)
    np.testing.assert_array_equal(few.hand, many.hand[:3])


@pytest.mark.parametrize("name", list(IK_CASES))
def test_the_bare_robot_moves_like_the_one_of_the_zoo(name):
    case = IK_CASES[name]
    robot, _ = bench_robot(case)
    whole = load(case.robot)
    for frame in (case.hand, *case.feet):
        np.testing.assert_allclose(robot.placements(robot.home)[frame], whole.placements(whole.home)[frame], atol=1e-12)
    assert not robot.collisions
    assert robot.base == whole.base


def test_the_bare_file_has_masses_and_joints_alone(tmp_path):
    source = Path(load("panda").source)
    write_bare_urdf(source, tmp_path / "bare.urdf", fixed=("panda_finger_joint1",))
    root = ElementTree.parse(tmp_path / "bare.urdf").getroot()
    assert {part.tag for part in root} == {"link", "joint"}
    assert not list(root.iter("mesh"))
    assert not list(root.iter("mimic"))
    kinds = {joint.get("name"): joint.get("type") for joint in root.findall("joint")}
    assert kinds["panda_finger_joint1"] == "fixed"
    assert kinds["panda_finger_joint2"] == "prismatic"


def test_a_floating_joint_of_the_file_goes():
    _, text = bench_robot(IK_CASES["g1"])
    assert "floating" not in text


def test_unknown_robots_are_refused():
    with pytest.raises(UnknownNameError, match="pandas"):
        make_problems("pandas", 1, 0)


# -- judge ------------------------------------------------------------------------------------------------------------


def test_the_judge_agrees_with_kinematics_of_our_own(problems):
    q = problems.starts[:N]
    found = judge(problems, q)
    robot = problems.robot
    targets = [(problems.case.hand, problems.hand), *((foot, [T] * N) for foot, T in problems.feet.items())]
    for k in range(N):
        at = [(frame_placement(robot.tree, frame_of(robot, name), q[k]), T[k]) for name, T in targets]
        distances = [np.linalg.norm(x[:3, 3] - y[:3, 3]) for x, y in at]
        if problems.com is not None:
            distances.append(np.linalg.norm(com(robot.tree, q[k]) - problems.com[k]))
        cosines = [0.5 * (np.trace(x[:3, :3].T @ y[:3, :3]) - 1.0) for x, y in at]
        np.testing.assert_allclose(found.position[k], max(distances), atol=1e-10)
        np.testing.assert_allclose(found.angle[k], np.arccos(np.clip(min(cosines), -1.0, 1.0)), atol=1e-6)


@pytest.mark.parametrize(("step", "good"), [(0.9e-3, True), (1.1e-3, False)])
@pytest.mark.parametrize("what", ["position", "angle"])
def test_a_hand_may_miss_by_a_millimetre_or_a_milliradian(problems, what, step, good):
    moved = problems.hand.copy()
    if what == "position":
        moved[:, :3, 3] += step / np.sqrt(3.0)
    else:
        moved[:, :3, :3] = moved[:, :3, :3] @ pin.exp3(np.array([0.0, step, 0.0]))
    assert (judge(replace(problems, hand=moved), problems.answers).solved == good).all()


def test_feet_and_centre_of_mass_count(problems):
    if problems.com is None:  # an arm
        assert not problems.feet
        return
    foot, T = next(iter(problems.feet.items()))
    moved = T.copy()
    moved[0, 3] += 2e-3
    off_foot = replace(problems, feet={**problems.feet, foot: moved})
    assert not judge(off_foot, problems.answers).solved.any()
    off_com = replace(problems, com=problems.com + 1e-3)
    assert not judge(off_com, problems.answers).solved.any()


def test_a_joint_beyond_its_limit_is_no_answer(problems):
    limits, row = problems.robot.limits, problems.robot.nq - 1
    narrow = replace(limits, upper=np.where(np.arange(len(limits.upper)) == row, -10.0, limits.upper))
    tight = replace(problems, robot=problems.robot.replace(limits=narrow))
    assert not judge(tight, problems.answers).solved.any()


def test_what_is_not_finite_is_no_answer_and_a_wrong_shape_is_refused(problems):
    q = problems.answers.copy()
    q[0, 0] = np.nan
    assert judge(problems, q).solved.tolist() == [False] + [True] * (N - 1)
    with pytest.raises(ShapeError, match="answers have shape"):
        judge(problems, q[:, 1:])


# -- peers ------------------------------------------------------------------------------------------------------------

DOUBLE = '''
"""In place of a peer: damped steps of an arm by Pinocchio, its joints in reverse order."""
import numpy as np
import pinocchio as pin

class Double:
    failures = (ZeroDivisionError,)
    versions = staticmethod(lambda: {"double": "1"})
    load = staticmethod(lambda urdf, plan: pin.buildModelFromUrdf(str(urdf)))
    def __init__(self, loaded, plan, settings, tolerances):
        self.model, self.data, self.tolerances, self.gain = loaded, loaded.createData(), tolerances, settings["gain"]
        self.order = list(range(loaded.nq))[::-1]
        self.home = np.zeros(loaded.nq)
        self.home[self.order] = plan["home"]
        self.at = loaded.getFrameId(plan["hand"])
    def aim(self, hand, com): self.goal = hand
    def put(self, q):
        self.x = q[::-1].copy()
        pin.computeJointJacobians(self.model, self.data, self.x)
        pin.updateFramePlacements(self.model, self.data)
    def step(self):
        if self.gain == 0.0: raise ZeroDivisionError
        e = pin.log6(self.data.oMf[self.at].actInv(pin.SE3(self.goal))).vector
        J = pin.getFrameJacobian(self.model, self.data, self.at, pin.LOCAL)
        step = J.T @ np.linalg.solve(J @ J.T + (1e-6 + 1e-2 * e @ e) * np.eye(6), self.gain * e)
        x = np.clip(self.x + step, self.model.lowerPositionLimit, self.model.upperPositionLimit)
        self.put(x[::-1])
    def error(self): return self.tolerances.pose(self.data.oMf[self.at].homogeneous, self.goal)
    def q(self): return self.x[::-1].copy()
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as a peer's script gets it, with a double of a peer."""
    problems = make_problems("panda", N, 0)
    (tmp_path / "ik_double.py").write_text(DOUBLE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ik_double", raising=False)
    (tmp_path / "robot.urdf").write_text(problems.urdf, encoding="utf-8")
    arrays = {"hand": problems.hand, "com": np.zeros((N, 3)), "feet": np.zeros((0, 4, 4)), "starts": problems.starts}
    for name in ("tuning", "problems"):
        np.savez(tmp_path / f"{name}.npz", **arrays)
    plan = {
        "peer": "double", "module": "ik_double", "hand": problems.case.hand, "feet": {}, "floating": False,
        "home": problems.home.tolist(),
        "joints": list(problems.robot.joint_names), "position": 1e-3, "angle": 1e-3, "passes": 1,
        "settings": {"gain": 1.0, "iterations": 60, "patience": 8, "tries": 30, "spread": 1.0},
        "stages": [{"gain": [0.0, 0.05, 1.0]}],
    }  # fmt: skip
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    return tmp_path


def test_the_loop_of_peers_chooses_settings_and_starts_again(folder):
    ik_script.main(folder)
    facts = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    answers = np.load(folder / "answers.npz")
    problems = make_problems("panda", N, 0)
    assert facts["settings"]["gain"] == 1.0  # 0 fails at every step, 0.05 is slow
    assert len(facts["tried"]) == 3
    verdict = judge(problems, answers["restarts"])
    assert verdict.rate == facts["restarts"]["claimed"] == 1.0
    once = judge(problems, answers["once"])
    assert once.rate == facts["once"]["claimed"] < 1.0
    assert facts["restarts"]["restarts"] > 0.0 == facts["once"]["restarts"]
    assert facts["restarts"]["iterations"] > 0.0


def test_a_step_that_fails_starts_again_until_the_tries_are_spent(folder):
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    plan["stages"] = [{"gain": [0.0]}]
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    ik_script.main(folder)
    facts = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert facts["restarts"]["claimed"] == 0.0
    assert facts["restarts"]["restarts"] == 29.0


@pytest.mark.parametrize("angle", [0.0, 1e-4, 5e-4, 2e-3])
def test_errors_of_poses_over_their_tolerances(angle):
    limits = ik_script.Tolerances({"position": 1e-3, "angle": 1e-3})
    T, rng = np.eye(4), np.random.default_rng(0)
    T[:3, :3], T[:3, 3] = pin.exp3(rng.standard_normal(3)), rng.standard_normal(3)
    goal = T.copy()
    goal[:3, :3] = T[:3, :3] @ pin.exp3(np.array([angle, 0.0, 0.0]))
    goal[2, 3] += 3e-4
    assert limits.pose(T, goal) == pytest.approx(max(0.3, 1e3 * angle) / 0.999, rel=1e-5)
    assert limits.point(T[:3, 3], goal[:3, 3]) == pytest.approx(0.3 / 0.999)


@pytest.mark.parametrize("stands", [False, True])
@pytest.mark.parametrize("peer", list(IK_PEERS))
def test_every_setting_that_is_tried_has_a_first_value(peer, stands):
    plan = IK_PEERS[peer].plan(stands)
    assert {name for stage in plan["stages"] for name in stage} <= set(plan["settings"])
    assert {"iterations", "patience", "tries", "spread"} <= set(plan["settings"])
    assert ("feet" in plan["settings"]) == stands
    assert json.loads(json.dumps(plan))


@pytest.mark.parametrize("peer", list(IK_PEERS))
def test_an_interpreter_without_the_peer_is_told(peer):
    problems = make_problems("panda", 1, 0)
    with pytest.raises(NotSupportedError, match=f"does not run {peer}"):
        solve_peer(peer, Path(sys.executable), problems, problems, passes=1)


def test_interpreters_of_peers_are_found_in_their_folder(tmp_path):
    (tmp_path / "pink" / "bin").mkdir(parents=True)
    (tmp_path / "pink" / "bin" / "python").touch()
    assert peer_pythons(tmp_path) == {"pink": tmp_path / "pink" / "bin" / "python"}


PEERS = os.environ.get("SUREFOOT_IK_PEERS")


@pytest.mark.slow
@pytest.mark.skipif(PEERS is None, reason="SUREFOOT_IK_PEERS names no folder of scripts/make_ik_peers.sh")
@pytest.mark.parametrize("robot", ["panda", "g1"])
@pytest.mark.parametrize("peer", list(IK_PEERS))
def test_peers_reach_what_is_reachable_and_the_judge_agrees_with_them(peer, robot):
    """So that nobody loses by a wrong layout, another robot or limits that are not kept."""
    problems = make_problems(robot, N, 2)
    found = solve_peer(peer, peer_pythons(Path(PEERS))[peer], make_problems(robot, 3, 1), problems, passes=1)
    assert judge(problems, found.restarts).rate == found.facts["restarts"]["claimed"] == 1.0
    assert judge(problems, found.once).rate == found.facts["once"]["claimed"] >= 0.5


# -- the whole --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    """The quick benchmark of an arm."""
    shares = []
    with listen(lambda share, text: shares.append(share)):
        found = ik.run("panda", quick=True)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    return found


def test_the_result_is_json_and_says_what_was_left_out(result):
    assert json.loads(json.dumps(result)) == result
    assert (result["bench"], result["targets"], result["quick"]) == ("ik", 20, True)
    assert [line.split(":")[0] for line in result["skipped"]] == ["mink", "pink", "placo"]
    robot = result["robots"]["panda"]
    assert (robot["nv"], robot["hand"], robot["peers"]) == (7, "panda_hand_tcp", {})
    assert robot["ratios"] == {"fastest_peer": None, "solve": {}, "solver": {}, "batch": {}}


def test_we_solve_what_is_reachable(result):
    for row in result["robots"]["panda"]["ours"].values():
        assert row["success"] == 1.0
        assert row["worst_position_m"] <= 1e-3
        assert row["worst_angle_rad"] <= 1e-3
        assert row["worst_limit_excess"] <= 0.0


def test_a_peer_that_does_not_run_is_skipped_with_a_line(tmp_path):
    (tmp_path / "placo" / "bin").mkdir(parents=True)
    (tmp_path / "placo" / "bin" / "python").symlink_to(sys.executable)
    found = ik.run("panda", targets=2, peers=tmp_path)
    assert found["robots"]["panda"]["peers"] == {}
    assert any(line.startswith("panda placo:") and "does not run placo" in line for line in found["skipped"])


def test_wrong_names_are_refused():
    with pytest.raises(UnknownNameError, match="pando"):
        ik.run("pando")
