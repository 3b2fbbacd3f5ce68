from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.ik.predictive.study import arm4_study, compare, harvester_study, plan_whole, stems_study


def test_histories_of_one_motion():
    study = replace(arm4_study(), duration=0.3)
    found = compare(study, [0.2])
    assert list(found) == ["unaware", "local", "predictive 0.2 s"]
    for history in found.values():
        assert history.q.shape == (31, 4)
        assert history.distances.shape == (31, 4)
        assert_allclose(np.diff(history.q, axis=0), study.dt * history.v, atol=1e-14)
        assert_allclose(history.pseudo_energy, (history.v**2).sum(axis=1))
        assert history.peak == history.pseudo_energy.max()
        wanted = study.reference(history.time[-1:])[0][0, :3, 3]
        reached = study.robot.placements(history.q[-1])["tip"][:3, 3]
        assert_allclose(history.error[-1], np.abs(wanted - reached).max(), atol=1e-15)


def test_pseudo_energy_leaves_the_lift_out():
    """Fig. 5.35 is that of the revolute joints."""
    history, _ = plan_whole(replace(harvester_study(), duration=0.2))
    assert_allclose(history.pseudo_energy, (history.v[:, 1:] ** 2).sum(axis=1))


@pytest.mark.parametrize("make", [arm4_study, harvester_study, stems_study])
def test_studies_begin_inside_the_limits_and_clear_of_everything(make):
    study = make()
    limits = study.robot.limits
    assert ((limits.lower < study.q0) & (study.q0 < limits.upper)).all()
    history = compare(replace(study, duration=study.dt), [])["local"]
    assert history.distances[0].min() > study.repulsion.reach
    assert_array_equal(history.q[0], study.q0)
