"""Samples that sit on and near every special case, and the comparison of numbers with traced symbols."""

import math

import numpy as np

from surefoot import ops

ANGLES = [0.0, 1e-300, 1e-150, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.199, 0.2, 0.5, 0.999999, 1.0, 1.000001, 1.5, 2.0, 3.0]
ANGLES += [math.pi - d for d in (1e-3, 1e-6, 1e-7, 1e-8, 1e-9, 1e-12, 4e-16)] + [math.pi]

AXES = [*np.eye(3), *-np.eye(3)]
AXES += [v / np.linalg.norm(v) for v in np.random.default_rng(1).standard_normal((4, 3))]
AXES += [v / np.linalg.norm(v) for v in np.array([[1.0, 1, 0], [0, -1, 1], [1, 1, 1], [1, 1e-9, 0], [-1e-9, 1, 1e-12]])]

VECTORS = [angle * axis for angle in ANGLES for axis in AXES]


def exact_quaternion(axis, gap_to_pi):
    """The quaternion of the turn by π - gap, with no rounding of the gap."""
    return np.append(np.asarray(axis) * math.cos(gap_to_pi / 2), math.sin(gap_to_pi / 2))


def trace(f, *arguments):
    """The CasADi function of f, as a function of arrays."""
    symbols = [ops.symbols(f"x{i}", np.shape(a)) for i, a in enumerate(arguments)]
    result = f(*symbols)
    compiled = ops.function("f", symbols, [result])
    return lambda *values: np.array(compiled(*values)).reshape(np.shape(result))


def difference(f, h=1e-5):
    """Derivative at 0 of a function of one number, by central differences of fourth order."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)
