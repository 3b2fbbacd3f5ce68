"""References in closed loop: motions of the pendulum from the measured state; those for plans only are refused."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.control.walking import REFERENCES, WalkSettings
from surefoot.control.walking.reference import SampledReference
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.reduced import DcmPlan, ZmpPiece
from tests.scenario.studies.runs import studied

OMEGA, SOLE = 3.7, np.array([[-0.1, -0.05], [0.1, 0.05]])
PATH = [
    ZmpPiece(0.6, (0.0, 0.0), (0.0, 0.0)),
    ZmpPiece(0.2, (0.0, 0.0), (0.2, 0.2)),
    ZmpPiece(0.6, (0.2, 0.2), (0.2, 0.2)),
    ZmpPiece(0.2, (0.2, 0.2), (0.2, 0.1)),
]
STATE = np.array([0.02, 0.06]), np.array([0.1, 0.12])
SAMPLED = [name for name in REFERENCES if name != "dcm"]


@pytest.mark.parametrize("since", [0.0, 0.35, 0.7])
@pytest.mark.parametrize("method", SAMPLED)
def test_a_reference_is_a_motion_of_the_pendulum_from_the_measured_state(method, since):
    reference = SampledReference(method, PATH, OMEGA, STATE, since, SOLE)
    np.testing.assert_allclose(reference.at(since)[1], STATE[0] + STATE[1] / OMEGA, atol=1e-9)
    times = since + 0.01 * np.arange(120)
    zmp, dcm = (np.array([reference.at(t)[k] for t in times]) for k in range(2))
    middle = 0.5 * (zmp[1:] + zmp[:-1]) if method == "preview" else zmp[:-1]  # capture-point gaits hold it
    grow = np.exp(OMEGA * 0.01)
    np.testing.assert_allclose(dcm[1:], middle + (dcm[:-1] - middle) * grow, atol=2e-4)


def test_preview_comes_to_rest_where_the_path_ends():
    reference = SampledReference("preview", PATH, OMEGA, STATE, 0.0, SOLE)
    for value in reference.at(3.0):
        np.testing.assert_allclose(value, PATH[-1].end, atol=1e-3)
    bounded = DcmPlan(PATH, OMEGA)
    np.testing.assert_allclose(reference.at(1.0)[1], bounded.at(1.0)[1], atol=0.03)


def test_a_reference_that_moves_feet_or_is_unknown_is_refused():
    with pytest.raises(NotSupportedError, match="moves feet by itself"):
        WalkSettings(reference="mpc")
    with pytest.raises(UnknownNameError, match="preview"):
        WalkSettings(reference="prevew")


@pytest.mark.slow
@pytest.mark.parametrize(("method", "robot"), [("preview", "small-humanoid"), ("cps", "talos"), ("cpt", "talos")])
def test_robots_walk_by_other_references(method, robot):
    """On estimates, with noise and self-collision, as in the scenario."""
    found = studied("walk", f"walk.reference={method}", "walk.unit=leg", "walk.goal=[1.0, 0.0, 0.3]", robot=robot)
    assert found.findings.trouble is None
    assert found.log.metadata["fall_time_s"] is None
    assert isinstance(found.simulation.controller.ahead._path, SampledReference)
