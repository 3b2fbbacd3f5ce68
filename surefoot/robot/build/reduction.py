"""Reduced robots: joints that are held at a position lose their coordinate, and their links become one body.

A joint that is coupled to a held one is held, too. Contacts, shapes, frames, loops and limits of what still moves stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ModelError, NotSupportedError, one_of
from surefoot.robot.build.home import on_ground
from surefoot.robot.model import Finding, Limits, Robot, makes_robots, tree_of_model

_PER_VELOCITY = (
    "armature", "damping", "effortLimit", "lowerEffortLimit", "velocityLimit", "lowerVelocityLimit",
    "upperDryFrictionLimit", "lowerDryFrictionLimit", "rotorInertia", "rotorGearRatio",
)  # fmt: skip
_SAME = 1e-9  # positions of coupled joints that agree [rad] or [m]


@makes_robots("lock")
def locked(
    robot: Robot, lock: Mapping[str, ArrayLike] | Iterable[str] = (), only: Iterable[str] | None = None
) -> Robot:
    """The robot with some joints held.

    Args:
        robot: The robot.
        lock: Joints, or patterns such as `waist_*`, with their positions; names alone are held at home.
        only: Joints, or patterns, that stay; all others but the base are held at home. None for all.

    Raises:
        UnknownNameError: No joint has that name.
        NotSupportedError: The base, or a robot with followers (mimic="reduce").
        ModelError: Two held joints contradict their coupling.
    """
    held = _held(robot, lock, only)
    if not held:
        return robot
    if (robot.tree.mimic_source >= 0).any():
        raise NotSupportedError(
            "joints of a robot with followers cannot be held", next_step='load with mimic="coupling"'
        )
    q = np.array(robot.home)
    for name, value in held.items():
        q[_entries(robot, name)] = value
    ids = sorted(robot.model.getJointId(name) for name in held)
    model = pin.buildReducedModel(robot.model, ids, q)
    kept = [name for name in robot.joint_names if name not in held]
    rows_q = np.concatenate([_entries(robot, name) for name in kept] or [np.zeros(0, dtype=np.int64)])
    rows_v = np.concatenate([_rows(robot, name) for name in kept] or [np.zeros(0, dtype=np.int64)])
    for key in _PER_VELOCITY:
        getattr(model, key)[:] = getattr(robot.model, key)[rows_v]
    own = robot.limits
    ties = {name: (None, 0.0, float(value[0])) for name, value in held.items() if len(value) == 1}
    out = robot.replace(
        model=model,
        tree=tree_of_model(model),
        limits=Limits(
            *map(_read_only, (own.lower[rows_q], own.upper[rows_q], own.velocity[rows_v], own.effort[rows_v]))
        ),
        neutral=_read_only(pin.neutral(model)),
        home=_read_only(q[rows_q]),
        drives=tuple(drive for drive in robot.drives if drive.joint not in held),
        couplings=tuple(item for item in robot.couplings if item.joint not in held),
        springs=tuple(spring for item in robot.springs if (spring := item.without(ties)) is not None),
        contacts=MappingProxyType(dict(robot.contacts)),
        notes=(*robot.notes, *_held_outside(robot, held)),
    )
    return out.replace(home=_read_only(on_ground(out, np.array(out.home)))) if _stands_on(robot) else out


def _held_outside(robot: Robot, held: Mapping[str, Array]) -> Iterator[Finding]:
    """Warnings about joints with one position that are held outside of their limits."""
    for name, value in held.items():
        low, high = (bound[_entries(robot, name)] for bound in (robot.limits.lower, robot.limits.upper))
        if len(value) == 1 and not (low - _SAME <= value <= high + _SAME).all():
            text = f"held at {value[0]:.4g}, outside its limits [{low[0]:.4g}, {high[0]:.4g}]"
            yield Finding("warning", name, text)


def _held(robot: Robot, lock: Mapping[str, ArrayLike] | Iterable[str], only: Iterable[str] | None) -> dict[str, Array]:
    """Positions of all joints that are held, by name."""
    values = dict(lock) if isinstance(lock, Mapping) else dict.fromkeys(lock)
    wanted: dict[str, ArrayLike | None] = {}
    for pattern, value in values.items():
        wanted |= dict.fromkeys(_matching(robot, pattern), value)
    base = [] if robot.base_joint is None else [robot.joint_names[robot.base_joint]]
    if only is not None:
        kept = {name for pattern in only for name in _matching(robot, pattern)} | set(base)
        kept |= {item.joint for item in robot.couplings if item.source in kept}
        wanted = dict.fromkeys(name for name in robot.joint_names if name not in kept) | wanted
    if set(base) & set(wanted):
        raise NotSupportedError(f"`{base[0]}` is the base of `{robot.name}`", next_step='load it with base="fixed"')
    return _with_coupled(robot, {name: _position(robot, name, value) for name, value in wanted.items()})


def _matching(robot: Robot, pattern: str) -> list[str]:
    found = [name for name in robot.joint_names if name == pattern or fnmatchcase(name, pattern)]
    if not found:
        raise one_of("joint", pattern, robot.joint_names)
    return found


def _position(robot: Robot, name: str, value: ArrayLike | None) -> Array:
    """Entries of q of a joint."""
    q = np.array(robot.home) if value is None else robot.q_of({name: value})
    return np.asarray(q[_entries(robot, name)])


def _with_coupled(robot: Robot, held: dict[str, Array]) -> dict[str, Array]:
    """Also the joints that are coupled to held ones."""
    out = dict(held)
    for item in robot.couplings:
        if item.source not in out and item.joint in out:
            if item.ratio == 0.0:
                raise ModelError(
                    f"joint `{item.joint}` does not move with `{item.source}` (ratio 0): hold `{item.source}`"
                )
            out[item.source] = (out[item.joint] - item.offset) / item.ratio
    for item in robot.couplings:
        if item.source in out:
            place = item.offset + item.ratio * out[item.source]
            if item.joint in held and np.abs(place - held[item.joint]).max() > _SAME:
                raise ModelError(
                    f"joint `{item.joint}` follows `{item.source}`, which is held elsewhere",
                    evidence={"held": held[item.joint].tolist(), "coupled": place.tolist()},
                    next_step=f"hold one of them, or both at q = {item.offset:g} + {item.ratio:g} q_source",
                )
            out[item.joint] = place
    return out


def _stands_on(robot: Robot) -> bool:
    """Whether the feet of a robot are on the ground at home."""
    lows = [corners[:, 2].min() for corners in robot.contact_corners(robot.home).values()]
    return bool(lows) and abs(min(lows)) < 1e-6


def _entries(robot: Robot, name: str) -> NDArray[np.int64]:
    i = robot.joint_index(name)
    return np.arange(robot.tree.nq_of(i)) + int(robot.tree.q_index[i])


def _rows(robot: Robot, name: str) -> NDArray[np.int64]:
    i = robot.joint_index(name)
    return np.arange(robot.tree.nv_of(i)) + int(robot.tree.v_index[i])


def _read_only(values: Array) -> Array:
    out = np.array(values, dtype=float)
    out.setflags(write=False)
    return out
