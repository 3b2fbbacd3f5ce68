"""What Buschmann 2014, section 5.6, found about predictive inverse kinematics; sizes and paths are our choice."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.ik.predictive.descent import DescentSettings
from surefoot.ik.predictive.study import (
    arm4_study,
    compare,
    follow,
    harvester_study,
    plan_whole,
    predictive_ik,
    stems_study,
)

IN_THE_WAY, KEPT = -0.02, 0.01  # distance [m] without avoidance, and with it


@pytest.mark.parametrize("ball", [(0.0, 0.0, 0.0), (0.02, 0.0, -0.03), (-0.02, 0.0, 0.02)])
def test_peaks_of_the_planar_arm(ball):
    """Fig. 5.31: a horizon of 1 s is slightly worse than the global solution, and much better than the local one."""
    study = arm4_study()
    obstacle = study.repulsion.obstacles[0]
    volume = replace(obstacle.volume, vertices=obstacle.volume.vertices + np.array(ball))
    moved = replace(obstacle, volume=volume)
    pairs = tuple((link, moved) for link, _ in study.repulsion.pairs)
    study = replace(study, repulsion=replace(study.repulsion, pairs=pairs))

    found = compare(study, [1.0])
    found["global"], _ = plan_whole(study, found["predictive 1.0 s"])
    predictive, whole, local = (found[name].peak for name in ("predictive 1.0 s", "global", "local"))
    assert whole < predictive < 1.25 * whole
    assert predictive < 0.4 * local
    assert found["unaware"].distances.min() < IN_THE_WAY
    assert min(found[name].distances.min() for name in ("predictive 1.0 s", "global", "local")) > KEPT


@pytest.mark.slow
@pytest.mark.parametrize("make", [harvester_study, stems_study])
def test_peaks_of_the_nine_joint_arm(make):
    """Fig. 5.35: a horizon of 0.15 s already reduces the peaks slightly, one of 2 s strongly; one step per cycle."""
    found = compare(make(), [0.15, 2.0])
    local, short, long = (found[name].peak for name in ("local", "predictive 0.15 s", "predictive 2.0 s"))
    assert 0.6 * local < short < 0.95 * local
    assert long < 0.4 * local
    assert found["unaware"].distances.min() < IN_THE_WAY
    assert min(found[name].distances.min() for name in found if name != "unaware") > KEPT
    assert max(history.error.max() for history in found.values()) < 1e-3


@pytest.mark.parametrize(("make", "steps"), [(arm4_study, 8), (harvester_study, 30)])
def test_conjugate_gradients_converge_faster(make, steps):
    """Fig. 5.32: compared with steepest descent, from the same start, with the same search along each direction."""
    study = make()
    costs = {
        method: plan_whole(study, settings=DescentSettings(120, 0.0, method, refine=True))[1]
        for method in ("conjugate", "steepest")
    }
    best = min(cost[-1] for cost in costs.values())
    gaps = {method: cost[min(steps, len(cost) - 1)] - best for method, cost in costs.items()}
    assert gaps["conjugate"] < 0.2 * gaps["steepest"]


def test_augmented_state_gives_continuous_velocities():
    """Figs. 5.33 and 5.34: velocities jump from cycle to cycle, but not where their rate is the input."""
    study = arm4_study()
    study = replace(study, predictive=replace(study.predictive, change=0.001))
    plain, smooth = (follow(study, predictive_ik(study, 1.0, smooth=smooth)) for smooth in (False, True))
    jumps = [np.abs(np.diff(history.v, axis=0, prepend=0.0)).max() for history in (plain, smooth)]
    assert jumps[1] < 0.2 * jumps[0]
    assert smooth.peak < 1.25 * plain.peak


def test_free_start_is_the_best_of_all():
    """(5.109): with the start free in its self-motion, the cost of the whole motion is lower still."""
    study = arm4_study()
    given = plan_whole(study)[1][-1]
    free, costs = plan_whole(study, free_start=True)
    assert costs[-1] < 0.7 * given
    assert free.error[0] < 1e-9
