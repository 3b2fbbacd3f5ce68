"""Kernels come from the cache if they are there, are made again if they are damaged, and never for another robot."""

import subprocess
import sys

import numpy as np
import pytest

from surefoot import ops
from surefoot.codegen import artifact, cache
from surefoot.codegen.artifact import Artifact, make
from surefoot.codegen.build import Build
from surefoot.compiler import compile_robot
from surefoot.robot import Joint, Link, Robot
from tests.compiler.examples import recipe_of, states
from tests.sim.examples import turned

FRESH = """
import sys
import numpy as np
from surefoot.codegen import artifact
from surefoot.compiler import compile_robot
from surefoot.robot import load

def refused(*_, **__):
    raise RuntimeError("compiled or traced, though it is in the cache")

if sys.argv[3] == "refuse":
    artifact.compile_text = refused
    artifact.Recipe.program = property(refused)
kernels = compile_robot(load("panda"))
q, v, a = np.load(sys.argv[1])
tau, one, jacobian = kernels.rnea(q, v, a), kernels.rnea(q[0], v[0], a[0]), kernels.jacobian(q, "panda_hand")
M = kernels.bundle(["M", "h"])(q, v)["M"]
if sys.argv[3] == "refuse":
    assert "surefoot.codegen.drivers" not in sys.modules
np.savez(sys.argv[2], tau=tau, one=one, jacobian=jacobian, M=M)
"""


def test_a_fresh_process_compiles_nothing(arm, of_arm, tmp_path):
    q, v, a = of_arm.q, of_arm.v, of_arm.a
    here = {
        "tau": arm.rnea(q, v, a), "one": arm.rnea(q[0], v[0], a[0]), "jacobian": arm.jacobian(q, "panda_hand"),
        "M": arm.bundle(["M", "h"])(q, v)["M"],
    }  # fmt: skip
    np.save(tmp_path / "states.npy", np.stack([q, v, a]))
    for how in ("fill", "refuse"):  # what this process has loaded from another cache need not be in this one
        call = [sys.executable, "-c", FRESH, tmp_path / "states.npy", tmp_path / "out.npz", how]
        subprocess.run(call, check=True, timeout=60)
    there = np.load(tmp_path / "out.npz")
    for name, right in here.items():
        assert (there[name] == right).all()


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


def pendulum(mass=1.0, armature=0.1, length=0.5, axis=(0.0, 1.0, 0.0), kind="revolute", pitch=0.0, name="rod"):
    joint = Joint("hinge", kind, axis=axis, armature=armature, pitch=pitch)
    rod = Link("rod", "ground", joint, mass=mass, com=(0.0, 0.0, -length), inertia=0.01 * np.eye(3))
    return Robot.from_tree(name, [Link("ground"), rod], "fixed", drives=())


def stored(robot) -> set[str]:
    """Entries that a kernel of a robot adds to the cache."""
    before = {entry.key for entry in cache.entries()}
    assert compile_robot(robot).rnea.single.artifact.operations
    return {entry.key for entry in cache.entries()} - before


def test_every_number_of_the_robot_makes_another_key(empty_cache, rng):
    assert len(stored(pendulum())) == 1
    assert not stored(pendulum())
    assert not stored(pendulum(name="another name"))
    tiny = np.nextafter(1.0, 2.0)
    changes = [
        {"mass": tiny}, {"armature": 0.2}, {"length": 0.4}, {"axis": (1.0, 0.0, 0.0)}, {"kind": "prismatic"},
        {"kind": "helical", "pitch": 0.1}, {"kind": "helical", "pitch": 0.2},
    ]  # fmt: skip
    for change in changes:
        assert len(stored(pendulum(**change))) == 1, change
    moved = [
        Link("ground"),
        Link("rod", "ground", Joint("hinge", "revolute", turned(rng)), mass=1.0, inertia=np.eye(3)),
    ]
    assert len(stored(Robot.from_tree("rod", moved, "fixed", drives=()))) == 1


def test_builds_and_functions_have_keys_of_their_own(empty_cache):
    def scaled(factor):
        return recipe_of(lambda x: x * factor, (3,))

    for build in (Build(1, 64), Build(1, 32), Build(2, 64), Build(4, 64)):
        make(scaled(2.0), build)
    make(scaled(2.5), Build(1, 64))
    make(scaled(2.0), Build(1, 64))
    assert len(cache.entries()) == 5


def test_a_damaged_entry_is_made_again(empty_cache, monkeypatch):
    compiled = []
    original = artifact.compile_text
    monkeypatch.setattr(artifact, "compile_text", lambda text, **how: compiled.append(text) or original(text, **how))
    q, v, a = (x[0] for x in states(pendulum(mass=3.0), 1)[:3])

    def fresh():
        return compile_robot(pendulum(mass=3.0)).rnea(q, v, a)

    right = fresh()
    (file,) = empty_cache.iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:-1] + bytes([whole[-1] ^ 1]), whole[: len(whole) // 2], b""):
        file.write_bytes(damaged)
        assert (fresh() == right).all()
        assert cache.load(file.stem) is not None
    assert len(compiled) == 4
    assert (fresh() == right).all()
    assert len(compiled) == 4


def test_an_artifact_is_what_its_bytes_say():
    recipe = recipe_of(lambda x: (ops.stack([x, x * 2.0]), 3.0, x @ x), (4,))
    found = make(recipe, Build(4, 64))
    again = Artifact.unpacked(found.packed(), found.build)
    for name in ("symbol", "build", "input_shapes", "output_shapes", "slots", "operations", "scratch", "code"):
        assert getattr(again, name) == getattr(found, name), name
    assert (again.numbers == found.numbers).all()
    assert all((x == y).all() for x, y in zip(again.layout, found.layout, strict=True))
