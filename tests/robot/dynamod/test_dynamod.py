"""DYNAMOD's files: written and read again, and the example that Koch prints."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.dynamics import crba, nonlinear_effects
from surefoot.errors import FileFormatError, NotSupportedError
from surefoot.kinematics import integrate
from surefoot.robot.dynamod import dynamod_robot, write_dynamod

_LEAVES = """
NSOL := 3: GNDDL := 6: PNDDL := 12: NDDL := PNDDL+GNDDL:
q := vector(NDDL): qdot := vector(NDDL):
actuation_joint_mask := [seq(1,n=1..PNDDL), seq(0,n=PNDDL+1..PNDDL+GNDDL)]:  # of appendix F
lx := vector(3); m := vector(3); Grav := vector(3);
parameter := [''Grav'', ''lx'', ''m'']:
ref_1 := 0: Rx_1 := q[6]: Ry_1 := q[5]: Rz_1 := q[4]: Tx_1 := q[1]+lx[1]: Ty_1 := q[2]: Tz_1 := q[3]:
Label_1 := "GLOBAL":
ref_2 := 1: Rx_2 := q[12]: Ry_2 := q[11]: Rz_2 := q[10]: Tx_2 := q[7]+lx[2]: Ty_2 := q[8]: Tz_2 := q[9]:
Label_2 := "LEAF_A":
ref_3 := 1: Rx_3 := q[18]: Ry_3 := q[17]: Rz_3 := q[16]: Tx_3 := q[13]+lx[3]: Ty_3 := q[14]: Tz_3 := q[15]:
Label_3 := "LEAF_B":
"""
_DYNAMICS = "Gravity := vector([Grav[1], Grav[2], Grav[3]]):\n" + "\n".join(
    f"m_{k} := m[{k}]: G_{k} := vector([0, 0.1, 0]): IG_{k} := matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]])*1e-2:"
    for k in (1, 2, 3)
)
_TAGS = (
    'NLNCONT := 1: lncontact := [2]: NTAG := 1: reftag_1 := 2: tag_1 := vector([10, 20, 30]*1e-3): tagLabel_1 := "a":'
)


def _written(folder: Path, kinematics: str = _LEAVES) -> Path:
    for name, text in (("Kinematic", kinematics), ("Dynamic", _DYNAMICS), ("Additional", _TAGS)):
        (folder / f"{name}Data.maple").write_text(text)
    return folder / "KinematicData.maple"


@pytest.mark.parametrize("name", ["pendulum", "humanoid", "ur5", "harvester"])
def test_a_robot_comes_back(name: str, tmp_path: Path) -> None:
    robot = sf.load(name)
    again = sf.load(write_dynamod(robot, tmp_path)[0])
    rng = np.random.default_rng(0)
    for _ in range(3):
        step, v = rng.normal(size=(2, robot.nv))
        q, p = (np.asarray(integrate(r.tree, pin.neutral(r.model), step)) for r in (robot, again))
        np.testing.assert_allclose(crba(again.tree, p), crba(robot.tree, q), atol=1e-12)
        np.testing.assert_allclose(nonlinear_effects(again.tree, p, v), nonlinear_effects(robot.tree, q, v), atol=1e-11)
        frames, others = robot.placements(q), again.placements(p)
        for key, contact in robot.contacts.items():
            own = again.contacts[key]
            np.testing.assert_allclose(others[own.frame], frames[contact.frame] @ contact.placement, atol=1e-12)
            np.testing.assert_allclose(own.corners, contact.corners, atol=1e-12)
    assert (again.base, again.nu) == (robot.base, robot.nu)


def test_the_printed_example_needs_its_parameters(tmp_path: Path) -> None:
    path = _written(tmp_path)
    with pytest.raises(FileFormatError, match=r"parameter `lx` has no numbers"):
        sf.load(path)
    values = {"lx": [0.0, 0.3, -0.3], "m": [5.0, 1.0, 2.0], "Grav": [0.0, 0.0, -9.81]}
    links, base, parts, gravity = dynamod_robot(path, values)
    assert base == "floating"
    assert np.asarray(gravity).tolist() == [0.0, 0.0, -9.81]
    assert [link.name for link in links if link.mass] == ["GLOBAL", "LEAF_A", "LEAF_B"]
    assert len(links) == 13
    assert [drive.joint[:6] for drive in parts.drives or ()] == ["LEAF_A"] * 6  # as the mask has it
    assert (parts.contacts or ())[0].corners.tolist() == [[0.01, 0.02, 0.03]]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("q[12]", "q[19]", r"q\[19\] of 18"),
        ("q[12]", "2*q[12]", "not a constant and ± one coordinate"),
        ("q[12]", "q[11]", "moves two frames"),
        ("ref_2 := 1", "ref_2 := 2", "does not hang on the world"),
        ("NSOL := 3", "NSOL := x.y", "`NSOL` is not understood"),
        ("NSOL := 3", "NSOL := 2.5", "not a whole number"),
        ("NSOL := 3", f"NSOL := {'(' * 4000}3", "`NSOL` is not understood"),
    ],
)
def test_other_files_are_refused_by_name(old: str, new: str, said: str, tmp_path: Path) -> None:
    given = _LEAVES.replace("vector(3)", "vector([1, 2, 3])").replace(old, new)
    with pytest.raises(sf.errors.SurefootError, match=said):
        sf.load(_written(tmp_path, given))


def test_closed_chains_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(NotSupportedError, match="closed chains"):
        write_dynamod(sf.load("four-bar"), tmp_path)
