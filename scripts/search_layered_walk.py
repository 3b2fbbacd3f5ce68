"""Search the numbers of the planar biped's walk that Busenhart 1994 does not print; same seed, same set.

    python scripts/search_layered_walk.py --seed 0 --trials 60

Each set walks at 0.1, 0.3, 0.5 and 1.0 m/s in MuJoCo; its score is the mean share of time without a fall, less the
error of the speed. The best set so far is printed whenever there is a better one; `WalkWeights` has the one in use.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

import surefoot as sf
from surefoot.control.layered import LayeredWalk, WalkWeights
from surefoot.motion import State
from surefoot.scenario import read_scenario

SPEEDS = ((0.1, 12.0), (0.3, 10.0), (0.5, 8.0), (1.0, 8.0))


def score(weights: WalkWeights) -> tuple[float, list[float]]:
    """Score of a set, at most 0, and the mean speeds [m/s]."""
    robot = sf.load("biped")
    q = robot.home.copy()
    for joint, angle in read_scenario("biped-004").initial.joints.items():
        q[robot.tree.q_index[robot.joint_index(joint)]] = angle
    start = State(0.0, q, np.zeros(robot.nv))
    total, speeds = 0.0, []
    for speed, duration in SPEEDS:
        control = LayeredWalk(robot, speed, weights=weights)
        log = sf.simulate(robot, control, sf.World(), duration, control_dt=0.01, dt=0.001, initial=[start])
        up = np.flatnonzero(log["q"][:, 1] > 0.8)
        share, half = len(up) / (duration / 0.01), len(up) // 2
        mean = (log["q"][len(up) - 1, 0] - log["q"][half, 0]) / max(0.01 * (len(up) - 1 - half), 0.1)
        total += share - 1.0 - min(1.0, abs(mean - speed) / speed)
        speeds.append(float(mean))
    return total / len(SPEEDS), speeds


def main() -> None:
    """Random steps from the best set, larger after a success."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=60)
    options = parser.parse_args()
    rng, best, size = np.random.default_rng(options.seed), WalkWeights(), 1.0
    value, speeds = score(best)
    print(f"{value:.3f}", np.round(speeds, 3), best, flush=True)
    for _ in range(options.trials):
        step = size * rng.normal(size=4)
        pace = tuple((v, float(w * np.exp(0.7 * s))) for (v, w), s in zip(best.pace, step[1:], strict=False))
        tried = replace(best, height=float(np.clip(best.height + 0.01 * step[0], 1.14, 1.215)), pace=pace)
        found, speeds = score(tried)
        size = min(1.5 * size, 2.0) if found > value else max(0.93 * size, 0.3)
        if found > value:
            value, best = found, tried
            print(f"{value:.3f}", np.round(speeds, 3), best, flush=True)


if __name__ == "__main__":
    main()
