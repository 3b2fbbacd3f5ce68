"""Keep volumes apart: of the robot among themselves, and from obstacles in the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.errors import ShapeError
from surefoot.kinematics import VolumeDistance, volume_distance
from surefoot.ops import Array
from surefoot.robot import BodyVolume, Robot
from surefoot.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Clearance(Task):
    """Keep pairs of volumes at least so far apart; one row for each pair, or one for all.

        d_k(q) ≥ target        [tasks.clearance]   Buschmann 2014, section 5.3

    With `together`, the rows are one: the error is √Σ max(0, target − d_k)², which vanishes when every pair is far
    enough. That is what position-level solvers want where there are hundreds of pairs.

    Args:
        pairs: Pairs of volumes; `CollisionModel.self_pairs` for instance.
        target: Least distance [m].
        name: Unique among the tasks; "clearance" if omitted.
        priority: See `Task`, and so for weight and gain.
        weight: See `Task`.
        gain: See `Task`.
        below: 0: nothing may be nearer.
        above: Infinite: further apart is well.
        activation: See `Task`.
        blur: See `kinematics.volume_distance`: makes the gradient continuous, and distances larger by up to as much:
            volumes may be nearer than `target` by that.
        together: Whether all pairs make one row.
    """

    pairs: Sequence[tuple[BodyVolume, BodyVolume]]
    target: float = 0.0
    blur: float | None = field(default=None, kw_only=True)
    together: bool = field(default=False, kw_only=True)
    above: float | Numbers = field(default=np.inf, kw_only=True)

    def _check(self) -> None:
        if not self.pairs:
            raise ShapeError(f"task `{self.name}` has no pairs of volumes")
        if not all(isinstance(pair, tuple | list) and [isinstance(x, BodyVolume) for x in pair] == [True] * 2
                   for pair in self.pairs):  # fmt: skip
            raise ShapeError(f"pairs of task `{self.name}` must be pairs of volumes", evidence={"first": self.pairs[0]})
        super()._check()

    @cached_property
    def structure(self) -> tuple[object, ...]:
        """Pairs by what they are."""
        shape = tuple((x.body, x.volume.radius, x.volume.vertices.tobytes()) for pair in self.pairs for x in pair)
        return type(self), shape, self.blur, self.together, self.is_equation

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Metres."""
        return (("m", 1 if self.together else len(self.pairs)),)

    def numbers_of(self, target: Any) -> Numbers:
        """The least distance (1,)."""
        return self.checked_target([target], (1,))

    def _distances(self, robot: Robot, q: Array) -> list[VolumeDistance]:
        return [volume_distance(robot.tree, q, a, b, self.blur) for a, b in self.pairs]

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Least distance − distance, of each pair or of all."""
        missing = [target[0] - found.distance for found in self._distances(robot, q)]
        if not self.together:
            return ops.array(missing)
        short = ops.array([ops.maximum(gap, 0.0) for gap in missing])
        return ops.array([ops.sqrt(short @ short)])

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """Gradients of the distances (rows, nv); of all together, weighted by what each one lacks."""
        found = self._distances(robot, q)
        rows = ops.stack([item.gradient for item in found])
        if not self.together:
            return rows
        short = ops.array([ops.maximum(target[0] - item.distance, 0.0) for item in found])
        return ((short / ops.maximum(ops.sqrt(short @ short), 1e-12)) @ rows)[None, :]
