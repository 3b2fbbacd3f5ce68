"""Damaged files: each ends as a robot with the numbers of its file, or as an error that names the place."""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.robot import zoo
from surefoot.robot.loading import load
from surefoot.robot.model.robot import Robot
from tests.mutations import XML
from tests.robot.sample_files import ARM_MJCF, ARM_URDF

COUNT = 500
LIMIT_S = 2.0  # the promise to users; generous against a busy machine, and the median is milliseconds


def sources() -> list[tuple[str, bytes]]:
    """Our own small files and real robots (without their meshes, which tmp_path does not have)."""
    real = [Path(zoo.load(name).source).read_bytes() for name in ("solo12", "double_pendulum", "hyq")]
    return [("arm.urdf", ARM_URDF.encode()), *(("real.urdf", data) for data in real), ("arm.xml", ARM_MJCF.encode())]


@pytest.mark.slow
def test_mutated_files_load_truly_or_are_refused_with_a_place(tmp_path):
    rng, files = np.random.default_rng(7), sources()
    loaded, slowest = 0, 0.0
    for i in range(COUNT):
        name, data = files[i % len(files)]
        mutation = XML[rng.integers(len(XML))]
        path = tmp_path / f"{i}_{name}"
        path.write_bytes(mutation(data, rng))
        start = time.perf_counter()
        try:
            robot = load(path)
        except SurefootError as error:
            assert str(path) in str(error), f"{mutation.__name__}: no file in: {error}"
            assert error.line is not None or re.search(r"`[^`]+`|<\w+>", str(error)), f"no place in: {error}"
        else:
            loaded += 1
            require_finite(robot)
            require_numbers_of_file(robot, path)
        slowest = max(slowest, time.perf_counter() - start)
    assert 0.1 * COUNT < loaded < 0.9 * COUNT, "the mutations are too weak or too strong to test both ways"
    assert slowest < LIMIT_S


def require_finite(robot: Robot) -> None:
    for key in ("placements", "axes", "pitches", "masses", "coms", "inertias", "armature", "gravity"):
        assert np.isfinite(getattr(robot.tree, key)).all(), key
    for key in ("lower", "upper", "velocity", "effort"):
        assert not np.isnan(getattr(robot.limits, key)).any(), key
    assert np.isfinite(robot.home).all()
    assert np.isfinite(robot.mass)


def require_numbers_of_file(robot: Robot, path: Path) -> None:
    """Second reading by the standard library (URDF) or by MuJoCo (MJCF)."""
    if path.suffix == ".xml":
        model = mujoco.MjModel.from_xml_path(str(path))
        moving = [b for b in range(1, model.nbody) if model.body_weldid[b] != 0]
        assert robot.mass == pytest.approx(float(model.body_mass[moving].sum()), rel=1e-9)
        return
    root = ElementTree.fromstring(path.read_bytes())
    joints = {joint.get("name"): joint for joint in root.findall("joint")}
    for i, name in enumerate(robot.joint_names):
        if name == "root_joint" or robot.tree.nq_of(i) != 1:
            continue
        limit = joints[name].find("limit")
        row = robot.tree.q_index[i]
        assert robot.limits.lower[row] == float(limit.get("lower", "0")), name
        assert robot.limits.upper[row] == float(limit.get("upper", "0")), name
    masses = [float(mass.get("value")) for mass in root.findall("link/inertial/mass")]
    fixed_to_world = float(robot.model.inertias[0].mass)
    assert robot.mass + fixed_to_world == pytest.approx(sum(masses), rel=1e-9, abs=1e-300)
