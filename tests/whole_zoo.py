"""The robots of the zoo as parameters: a dozen of every kind in each run, all others in `make test-full`."""

from __future__ import annotations

import pytest

from surefoot.robot import zoo

__all__ = ["NOT_READ", "WHOLE_ZOO"]

NOT_READ = {"cassie"}  # its file is SDF
OFTEN = {
    *("anymal", "b1_z1", "baxter", "biped", "bravo7_gripper", "cartpole", "g1", "go1", "hexapod", "panda", "pr2"),
    *("romeo", "so101", "talos_full", "tiago_dual", "ur5"),
}
"""Arms, quadrupeds, humanoids, wheels, followers, closed grippers, singular mass matrices; built, URDF and MJCF."""
WHOLE_ZOO = [
    pytest.param(name, marks=() if name in OFTEN else pytest.mark.slow, id=name)
    for name in zoo.names()
    if name not in NOT_READ
]
