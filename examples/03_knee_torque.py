"""The largest static knee torque of Talos on one leg, over a million random postures.

Joints are drawn between their limits with the trunk upright; the robot stands on one foot, and gravity is all that
acts. The function below is written for one posture; compiled, it takes the whole batch on all cores.

    python examples/03_knee_torque.py [postures]
"""

import sys
import time

import numpy as np

import surefoot as sf
from surefoot import ops
from surefoot.dynamics import gravity_terms
from surefoot.kinematics import com, frame_jacobian, frame_of, total_mass

CHUNK = 100_000
ROBOT = sf.load("talos")
FEET = [frame_of(ROBOT, f"leg_{side}_6_link") for side in ("left", "right")]
KNEES = [int(ROBOT.tree.v_index[ROBOT.tree.joint_names.index(f"leg_{side}_4_joint")]) for side in ("left", "right")]


def standing_knee_torques(tree, q):
    """Torque (2,) of each knee, N m, if the robot stands on the foot below it."""
    weight = -total_mass(tree) * tree.gravity  # what the ground carries, and about the world's origin:
    wrench = ops.concatenate([weight, ops.cross(com(tree, q), weight)])
    hanging = gravity_terms(tree, q)
    jacobians = [frame_jacobian(tree, foot, q, "world") for foot in FEET]
    return ops.array([hanging[k] - J[:, k] @ wrench for k, J in zip(KNEES, jacobians, strict=True)])


def main() -> None:
    """Sample, compute, report."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    kernels = sf.compile(ROBOT, threads="all", functions={"knees": standing_knee_torques})
    rng, start, most, where = np.random.default_rng(0), time.perf_counter(), 0.0, ROBOT.home
    for first in range(0, n, CHUNK):
        q = np.tile(ROBOT.home, (min(CHUNK, n - first), 1))
        q[:, 7:] = rng.uniform(ROBOT.limits.lower[7:], ROBOT.limits.upper[7:], q[:, 7:].shape)
        torque = np.abs(kernels.knees(q)).max(axis=1)
        if torque.max() > most:
            most, where = float(torque.max()), q[torque.argmax()]
    seconds = time.perf_counter() - start
    bent = ", ".join(f"{where[k + 1]:.2f}" for k in KNEES)
    print(f"{n} postures in {seconds:.1f} s: largest static knee torque {most:.0f} N m (knees at {bent} rad)")
    print(f"the drives give {ROBOT.limits.effort[KNEES].max():.0f} N m")


if __name__ == "__main__":
    main()
