"""The live view: fed from a loop, seen by whoever connects."""

import time

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ShapeError, UnknownNameError

viser = pytest.importorskip("viser")


@pytest.fixture
def live():
    with sf.view(sf.load("panda"), open_browser=False) as view:
        yield view


def test_a_loop_moves_it_and_arrows_and_frames_come_and_go(live):
    q = np.array(live.robot.home)
    for angle in np.linspace(0.0, 0.5, 5):
        q[0] = angle
        live.show(q, arrows={"force": ([0, 0, 0], [0, 0, 0.3])}, frames=["panda_hand"])
    np.testing.assert_allclose(live._arrows["force"], [[0, 0, 0], [0, 0, 0.3]])
    np.testing.assert_allclose(live._frames["panda_hand"], live.robot.placements(q)["panda_hand"])
    live.show(q)
    assert not live._arrows
    assert not live._frames


def test_a_thousand_postures_take_no_time_without_a_browser(live):
    start = time.process_time()
    for _ in range(1000):
        live.show(live.robot.home)
    assert time.process_time() - start < 1.0


def test_what_does_not_fit_is_refused(live):
    with pytest.raises(ShapeError, match="q has shape"):
        live.show(np.zeros(3))
    with pytest.raises(UnknownNameError, match="panda_han"):
        live.show(live.robot.home, frames=["panda_han"])
    with pytest.raises(ShapeError, match="arrow `f`"):
        live.show(live.robot.home, arrows={"f": ([0, 0], [0, 0, 1])})


def test_in_a_notebook_it_is_a_frame(live):
    text = live._repr_html_()
    assert text.startswith("<iframe")
    assert live.url in text


def test_dir_shows_the_rooms():
    names = dir(sf)
    assert {"robot", "ik", "tasks", "dynamics", "load", "view"} <= set(names)
    assert not {"Any", "TYPE_CHECKING", "importlib", "pkgutil"} & set(names)
