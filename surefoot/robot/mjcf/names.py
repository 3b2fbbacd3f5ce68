"""Names and poses as a compiled MuJoCo model has them: every element gets a name, quaternions become matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.robot.model import placement
from surefoot.spatial import quaternion


@dataclass(frozen=True)
class Names:
    """Names by MuJoCo's index; elements without a name are called `body_7`, `joint_3`, `geom_5`, `site_2`.

    Args:
        bodies: Of the bodies; the first is the world.
        joints: Of the joints.
        geoms: Of the geoms.
        sites: Of the sites, none of them the name of a body or joint.
        equalities: Of the equality constraints.
        actuators: Of the actuators.
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    geoms: tuple[str, ...]
    sites: tuple[str, ...]
    equalities: tuple[str, ...]
    actuators: tuple[str, ...]


def names_of(model: mujoco.MjModel) -> Names:
    """The names in a compiled model."""
    bodies = _complete("body", [model.body(i).name for i in range(model.nbody)])
    joints = _complete("joint", [model.joint(i).name for i in range(model.njnt)])
    sites: list[str] = []
    for name in _complete("site", [model.site(i).name for i in range(model.nsite)]):
        taken = {*bodies, *joints, "universe", *sites}
        sites.append(name if name not in taken else unused(f"{name}_site", taken))
    return Names(
        bodies=("universe", *bodies[1:]),
        joints=tuple(joints),
        geoms=tuple(_complete("geom", [model.geom(i).name for i in range(model.ngeom)])),
        sites=tuple(sites),
        equalities=tuple(_complete("equality", [model.equality(i).name for i in range(model.neq)])),
        actuators=tuple(_complete("actuator", [model.actuator(i).name for i in range(model.nactuator)])),
    )


def _complete(kind: str, given: Sequence[str]) -> list[str]:
    """The given names; empty ones become the kind and the index."""
    taken = set(given)
    return [name or unused(f"{kind}_{i}", taken) for i, name in enumerate(given)]


def unused(name: str, taken: set[str]) -> str:
    """The name, lengthened by underscores until it is not taken."""
    while name in taken:
        name += "_"
    return name


def pose(position: ArrayLike, quaternion_wxyz: ArrayLike) -> Array:
    """T (4, 4) from a position [m] and a quaternion in MuJoCo's order."""
    unit = quaternion.normalise(quaternion.from_wxyz(np.array(quaternion_wxyz, dtype=float)))
    return placement(position, quaternion.to_matrix(unit))
