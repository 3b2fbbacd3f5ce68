"""Poses as viser has them: quaternions with w first."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array


class Posed(Protocol):
    """Something in a scene with a pose."""

    @property
    def wxyz(self) -> Array:
        """Quaternion (4,), w first."""

    @property
    def position(self) -> Array:
        """(3,) [m]."""


def wxyz_of(R: Array) -> Array:
    """Quaternion (4,), w first, of a rotation matrix.

    Args:
        R: (3, 3).
    """
    x, y, z, w = pin.Quaternion(np.asarray(R, dtype=float)).coeffs()
    return np.array([w, x, y, z])


def placement_of(node: Posed) -> Array:
    """T (4, 4) of something in a scene."""
    w, x, y, z = (float(value) for value in node.wxyz)
    turn = pin.Quaternion(w, x, y, z)
    turn.normalize()
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = turn.matrix(), node.position
    return T
