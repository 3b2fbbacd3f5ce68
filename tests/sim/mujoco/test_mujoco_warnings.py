"""Warnings go to the thread that causes them, and the process's own handler comes back."""

import threading

import mujoco
import pytest

from surefoot.errors import SimulationError
from surefoot.motion import Command
from surefoot.sim.mujoco.engine import MujocoEngine
from surefoot.sim.mujoco.physics import warnings_kept

from ..examples import pendulum

MODEL = """<mujoco><option><flag autoreset="disable"/></option>
<worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>"""


def explode():
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    data.qvel[:] = 1e30
    mujoco.mj_step(model, data)


@pytest.fixture
def own_handler():
    before, seen = mujoco.get_mju_user_warning(), []
    mujoco.set_mju_user_warning(seen.append)
    yield seen
    mujoco.set_mju_user_warning(before)


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_kept_then_given_back(own_handler):
    handler = mujoco.get_mju_user_warning()
    with warnings_kept() as messages:
        explode()
    assert len(messages) == 1
    assert own_handler == []
    assert mujoco.get_mju_user_warning() is handler
    explode()
    assert len(own_handler) == 1


def test_nested(own_handler):
    with warnings_kept() as outer:
        with warnings_kept() as inner:
            explode()
        explode()
    assert (len(outer), len(inner)) == (1, 1)


def test_threads_that_overlap_keep_their_own(own_handler):
    """The first to come is not the last to go: the handler of the process must survive it."""
    handler, came, may_go, kept = mujoco.get_mju_user_warning(), threading.Event(), threading.Event(), []

    def other():
        with warnings_kept() as messages:
            came.set()
            may_go.wait(10.0)
            explode()
        kept.extend(messages)

    thread = threading.Thread(target=other)
    with warnings_kept() as mine:
        thread.start()
        assert came.wait(10.0)
    may_go.set()
    thread.join()
    assert (len(mine), len(kept), own_handler) == (0, 1, [])
    assert mujoco.get_mju_user_warning() is handler


def test_other_threads_keep_the_handler_of_the_process(own_handler):
    with warnings_kept() as messages:
        in_thread(explode)
    assert messages == []
    assert len(own_handler) == 1


def test_simulations_in_threads(own_handler):
    """Each engine that diverges tells why, one that does not tells nothing, and the handler is as before."""
    handler, found = mujoco.get_mju_user_warning(), {}

    def run(torque):
        engine = MujocoEngine(pendulum(), dt=0.002)
        try:
            for _ in range(200):
                engine.step(Command(torque=[torque]))
            found[torque] = "fine"
        except SimulationError as error:
            found[torque] = error.evidence["MuJoCo"]

    threads = [threading.Thread(target=run, args=(torque,)) for torque in (0.0, 1e12, 1e13, 0.1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[0.0], found[0.1]] == ["fine", "fine"]
    assert all("unstable" in found[torque] for torque in (1e12, 1e13))
    assert own_handler == []
    assert mujoco.get_mju_user_warning() is handler
