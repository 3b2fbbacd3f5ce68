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
from tests.robot.sample_files import ARM_MJCF, ARM_URDF

COUNT = 500
LIMIT_S = 2.0  # the promise to users; generous against a busy machine, and the median is milliseconds
NUMBER = re.compile(rb'(?<=[" ])[-+]?\d+\.?\d*(?:e[-+]?\d+)?(?=[" ])')
NAME = re.compile(rb'(?:name|link|joint|body1)="([^"]+)"')


def truncate(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(0, len(data))]


def flip_bits(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    for position in rng.integers(0, len(out), rng.integers(1, 6)):
        out[position] ^= 1 << rng.integers(0, 8)
    return bytes(out)


def swap_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    for position in rng.integers(0, len(out), 3):
        out[position] = rng.integers(32, 127)
    return bytes(out)


def wrong_type(data: bytes, rng: np.random.Generator) -> bytes:
    words = [b"abc", b"nan", b"inf", b"", b"1,5", b"1 2 3 4", b"0x10", b"1e999", b"--1", b"1.0abc", b"\xc2\xb2"]
    return _replace(NUMBER, words[rng.integers(len(words))], data, rng)


def huge_number(data: bytes, rng: np.random.Generator) -> bytes:
    values = [b"1e308", b"-1e308", b"1e200", b"1e100", b"1e-320", b"-1e-200", b"1" + b"0" * 400, b"1e30", b"-5"]
    return _replace(NUMBER, values[rng.integers(len(values))], data, rng)


def wrong_name(data: bytes, rng: np.random.Generator) -> bytes:
    names = NAME.findall(data)
    return _replace(NAME, b'name="' + names[rng.integers(len(names))] + b'"', data, rng) if names else data


def other_reference(data: bytes, rng: np.random.Generator) -> bytes:
    """Another link as parent or child: cycles, two parents, two roots."""
    names = NAME.findall(data)
    pattern = re.compile(rb'(?<=link=")[^"]+')
    return (
        _replace(pattern, names[rng.integers(len(names))], data, rng) if pattern.search(data) else wrong_name(data, rng)
    )


def entity(data: bytes, rng: np.random.Generator) -> bytes:
    head = b'<!DOCTYPE r [<!ENTITY a "1"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    body = re.sub(rb"^<\?xml[^>]*\?>", b"", data)
    return head + _replace(NUMBER, b"&b;", body, rng)


def cut_line(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.splitlines()
    del lines[rng.integers(len(lines))]
    return b"\n".join(lines)


def repeat_line(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.splitlines()
    i = rng.integers(len(lines))
    return b"\n".join([*lines[: i + 1], lines[i], *lines[i + 1 :]])


def _replace(pattern: re.Pattern, new: bytes, data: bytes, rng: np.random.Generator) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    match = found[rng.integers(len(found))]
    return data[: match.start()] + new + data[match.end() :]


MUTATIONS = [
    truncate,
    flip_bits,
    swap_bytes,
    wrong_type,
    huge_number,
    wrong_name,
    other_reference,
    entity,
    cut_line,
    repeat_line,
]


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
        mutation = MUTATIONS[rng.integers(len(MUTATIONS))]
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
