"""Coordination of the planar biped (Busenhart 1994, section 6.2.2): phase, feet, contact forces.

Each node is a weighted least-squares problem whose rows are rules: (coefficients, target, weight). Bodies are numbered
as in the source: torso; right thigh, shank, foot; left ones; arms. Contacts: right ball and heel, left ball and heel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from surefoot.arrays import Array
from surefoot.redundant import Model, State

__all__ = ["CONTACTS", "Body", "Feet", "Forces", "Phase", "WalkWeights", "body_of", "detect", "place_feet", "share"]

CONTACTS = ("right_ball", "right_heel", "left_ball", "left_heel")
TORSO, FEET = 0, (3, 6)
Rows = Sequence[tuple[dict[int, float], float, float]]
"""Rules: coefficients by unknown, target, weight."""


@dataclass(frozen=True)
class WalkWeights:
    """The numbers that the source does not print, or that did not walk as printed.

    Args:
        height: X_d12, wished height of the torso [m]; lost.
        friction: μ₀; lost.
        touch: Height below which a contact counts as touching [m]: the feet are round.
        pace: (speed, weight) of the wish for the torso's forward acceleration. The source prints 2e-5 for all speeds;
            at 0.1 m/s the wishes for straight knees then win, and the biped stops between two steps.
        retests: How often contacts that would pull are released and the execution is solved again; the source does it
            in the next sample.
    """

    height: float = 1.1425
    friction: float = 0.7
    touch: float = 0.004
    pace: tuple[tuple[float, float], ...] = ((0.1, 1.16e-3), (0.2, 1.25e-5))
    retests: int = 2

    def forward(self, speed: float) -> float:
        """Weight of the torso's forward acceleration at a commanded speed [m/s], interpolated in its logarithm."""
        speeds, weights = zip(*self.pace, strict=True)
        return float(np.exp(np.interp(abs(speed), speeds, np.log(weights))))


@dataclass(frozen=True, eq=False)
class Body:
    """What the rules read from the redundant state, in the plane.

    Args:
        X: (11, 2) centres of mass [m].
        V: (11, 2) [m/s].
        angle: (11,) [rad].
        spin: (11,) [rad/s].
        sole: (4, 2) contacts [m].
        joint: Angles of the joints and their rates by name.
    """

    X: Array
    V: Array
    angle: Array
    spin: Array
    sole: Array
    joint: dict[str, tuple[float, float]]


def body_of(model: Model, state: State) -> Body:
    """The state as the rules read it.

    Args:
        model: The planar biped.
        state: Its state.
    """
    freedoms = dict(zip(model.layout.freedoms.names, zip(np.r_[state.angles, state.slides], state.rates, strict=True),
                        strict=True))  # fmt: skip
    sole = np.array([[freedoms[f"{name}_x"][0] - 0.1, freedoms[f"{name}_y"][0]] for name in CONTACTS])
    angle = 2.0 * np.arctan2(state.spinors[:, 3], state.spinors[:, 0])
    return Body(state.positions[:, :2], state.velocities[:, :2], np.remainder(angle + pi, 2.0 * pi) - pi,
                state.turning[:, 2], sole, freedoms)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Phase:
    """Fuzzy variables, 0 … 1; pairs are right and left.

    Args:
        touching: (4,) contact bits c.
        stepping: S: the leg swings, or shall.
        asked: S_d: the leg shall swing.
        reached: E: the leg is as far ahead as a step is long.
        down: C: the foot touches.
        falling: ST.
        wanted: (4,) TB_d: contacts that the controller counts on; one may be dropped while it carries load.
    """

    touching: Array
    stepping: tuple[float, float]
    asked: tuple[float, float]
    reached: tuple[float, float]
    down: tuple[float, float]
    falling: float
    wanted: Array

    @property
    def double(self) -> float:
        """Both feet carry, none shall swing."""
        return self.down[0] * self.down[1] * (1.0 - self.stepping[0]) * (1.0 - self.stepping[1])


def detect(body: Body, speed: float, wanted: Array, touch: float) -> Phase:
    """The state detection.

    Args:
        body: The state.
        speed: Commanded [m/s]; its sign is the direction. (The source takes that of the torso's speed, which flips at
            rest.)
        wanted: (4,) TB_d of the sample before.
        touch: Height at which a contact touches [m].
    """
    ahead = 1.0 if speed >= 0.0 else -1.0
    x, v = body.X[TORSO, 0], body.V[TORSO, 0]
    right, left = (body.X[foot, 0] for foot in FEET)
    passed = 2.0 * (x + 0.18 * v) - (right + left) - ahead * abs(right - left)
    tired = float(ahead * passed > 0.02)  # IS: the torso passes the front foot soon
    lift_right = float(np.interp(abs(x - right) - abs(x - left), (-0.05, 0.05), (0.0, 1.0)))
    apart = ahead * (right + 0.05 * body.V[FEET[0], 0] - left - 0.05 * body.V[FEET[1], 0])
    reached = (float(np.interp(apart, (0.4, 0.6), (0.0, 1.0))), float(np.interp(-apart, (0.4, 0.6), (0.0, 1.0))))
    c = (body.sole[:, 1] <= touch).astype(float)
    down = (float(max(c[:2])), float(max(c[2:])))
    asked = (
        _unit((tired * lift_right + 1.0 - down[0]) * (1.0 - reached[0]) * down[1]),
        _unit((tired * (1.0 - lift_right) + 1.0 - down[1]) * (1.0 - reached[1]) * down[0]),
    )
    stepping = (_unit(asked[0] + 1.0 - down[0]), _unit(asked[1] + 1.0 - down[1]))
    kept = [_unit((1.0 - stepping[i // 2]) * c[i] + 10.0 * wanted[i] * reached[i // 2] * (1.0 - c[i])
                  + (c[i] * c[i + 1] if i % 2 == 0 else 0.0)) for i in range(4)]  # fmt: skip
    falling = float(np.interp(body.V[TORSO, 1], (-1.0, -0.7), (1.0, 0.0)))
    return Phase(c, stepping, asked, reached, down, falling, np.array(kept))


@dataclass(frozen=True, eq=False)
class Feet:
    """Demanded places of the feet (right, left): (2, 2) x, y [m], and (2,) forward speeds [m/s]."""

    place: Array
    rate: Array


def place_feet(body: Body, phase: Phase) -> Feet:
    """The feet coordination: ten rules for x and y of both feet, and their forward speeds.

    Args:
        body: The state.
        phase: What is going on.
    """
    x, v = body.X[TORSO, 0], body.V[TORSO, 0]
    air = _unit(2.0 - sum(phase.down))  # BP
    moving = air * sum(phase.asked)
    rules: list[tuple[dict[int, float], float, float]] = [
        ({0: 1.0, 2: 1.0}, 2.0 * (x + 0.8 * v), moving),
        ({4: 1.0, 5: 1.0}, 2.0 * v, moving),
    ]
    for side, (foot, asked) in enumerate(zip(FEET, phase.asked, strict=True)):
        stay = 0.01 * (1.0 - air * asked)
        rules += [
            ({2 * side: 1.0}, body.X[foot, 0], stay),
            ({2 * side + 1: 1.0}, -0.02, 15.0 * (1.0 - asked + phase.falling)),
            ({4 + side: 1.0}, 0.0, stay),
            ({2 * side + 1: 1.0}, 0.14, asked * (1.0 - phase.falling)),
        ]
    z = _node(rules, 6)
    return Feet(z[:4].reshape(2, 2), z[4:])


@dataclass(frozen=True, eq=False)
class Forces:
    """Demanded accelerations of the torso (3,): turn, x, y; and forces (4, 2) of the ground on the contacts [N]."""

    torso: Array
    contacts: Array


def share(body: Body, phase: Phase, speed: float, weights: WalkWeights, masses: Array, inertia: float) -> Forces:
    """Demanded contact forces: wishes of the torso and quasi-static balance.

    Args:
        body: The state.
        phase: What is going on.
        speed: Commanded [m/s].
        weights: Of the walk.
        masses: (11,) [kg].
        inertia: Of the torso [kg m²].
    """
    (x, y), (vx, vy) = body.X[TORSO], body.V[TORSO]
    wishes = (
        20.0 * (0.0 - body.angle[TORSO]) - 2.0 * sqrt(20.0) * body.spin[TORSO],
        float(np.clip(2.0 * sqrt(5.0) * (speed - vx), -2.0, 2.0)),
        10.0 * (weights.height - y) - 2.0 * sqrt(10.0) * vy,
    )
    fx, fy = [3 + 2 * i for i in range(4)], [4 + 2 * i for i in range(4)]
    rules: list[tuple[dict[int, float], float, float]] = [({k: 1.0}, wish, 1e-4) for k, wish in enumerate(wishes)]
    rules += [({k: 1.0}, 0.0, 1e-4 * (1.0 - phase.wanted[(k - 3) // 2]) + 1e-10) for k in range(3, 11)]
    lever = {**dict.fromkeys(fx, y), **{k: body.sole[i, 0] - x for i, k in enumerate(fy)}, 0: -inertia}
    hanging = float(9.81 * masses[1:] @ (x - body.X[1:, 0]))
    rules += [
        (lever, -hanging, 1.0),
        ({**dict.fromkeys(fx, 1.0), 1: -masses[0]}, 0.0, 1.0),
        ({**dict.fromkeys(fy, 1.0), 2: -masses[0]}, 9.81 * float(masses.sum()), 1.0),
    ]
    z = _node(rules, 11)
    up = z[fy]
    other = up[[1, 0, 3, 2]]
    up = np.clip(np.clip(up, 2.0, 1600.0) + np.clip(other, -1600.0, 2.0), 2.0, 1600.0)
    along = np.clip(z[fx], -weights.friction * up, weights.friction * up)
    return Forces(z[:3], np.column_stack([along, up]))


def _unit(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)


def _node(rules: Rows, unknowns: int) -> Array:
    """The unknowns that fit weighted rules best."""
    A, b = np.zeros((len(rules), unknowns)), np.zeros(len(rules))
    for row, (coefficients, target, weight) in enumerate(rules):
        root = sqrt(weight)
        b[row] = root * target
        for k, c in coefficients.items():
            A[row, k] = root * c
    return np.asarray(np.linalg.lstsq(A, b, rcond=1e-13)[0])
