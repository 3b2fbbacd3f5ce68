"""Contact laws of the native engine: what the ground does to points that have sunk into it.

A law sees the points of one link at a time: how deep they are, how fast they sink, how far they were dragged from where
they stuck, and how fast they slide. It is written over `ops`, so that it is compiled with the step of the robot and
runs on numbers as it stands. Numbers left None are fitted to the robot and the step (`fitted`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import numpy as np

from surefoot import ops
from surefoot.errors import ShapeError, one_of
from surefoot.ops import Array
from surefoot.sim.native.touch import TINY, Anchored, Friction, LinkTouch, Regularised, Response, Scale, given


class ContactLaw(Protocol):
    """What the native step needs of a law."""

    @property
    def friction(self) -> Friction:
        """How it holds along the ground."""
        ...

    @property
    def remembers(self) -> bool:
        """Whether each link keeps an integral of its depth."""
        ...

    def fitted(self, scale: Scale) -> ContactLaw:
        """With the numbers that are missing."""
        ...

    def respond(self, touch: LinkTouch, dt: float, ahead: float) -> Response:
        """Forces on the points of a link."""
        ...

    def stored(self, touch: LinkTouch) -> Any:
        """Energy [J] in the springs."""
        ...


@dataclass(frozen=True)
class SpringDamper:
    """f = max(0, K d + D ḋ) while d > 0, with anchors along the ground.   Nenchev & Konno 2019, (8.1)-(8.4).

    Args:
        stiffness: K of each point [N/m].
        damping: D of each point [N s/m].
        friction: Along the ground.
    """

    stiffness: float | None = None
    damping: float | None = None
    friction: Friction = field(default_factory=Anchored)
    remembers = False

    def respond(self, touch: LinkTouch, dt: float, ahead: float) -> Response:
        """Forces on the points of a link.

        Args:
            touch: The points.
            dt: Step [s]; does not matter here.
            ahead: How far to look ahead, the step or 0 [s].
        """
        K, D = given(self.stiffness), given(self.damping)
        return _answer(self.friction, touch, K * touch.depth + D * touch.rate, K, D, ahead)

    def fitted(self, scale: Scale) -> SpringDamper:
        """With the numbers that are missing."""
        stiffness = scale.stiffness if self.stiffness is None else self.stiffness
        damping = scale.damping(stiffness) if self.damping is None else self.damping
        return SpringDamper(stiffness, damping, self.friction.fitted(scale))

    def stored(self, touch: LinkTouch) -> Any:
        """Energy [J] in the springs."""
        depth = ops.maximum(touch.depth, 0.0)
        return 0.5 * given(self.stiffness) * (depth @ depth) + self.friction.stored(touch)


@dataclass(frozen=True)
class ViscoElastic:
    """f = max(0, k dⁿ (1 + c ḋ)): damping that begins and ends at zero with the depth.   Hunt & Crossley 1975.

    Args:
        stiffness: k of each point [N/mⁿ].
        exponent: n; 1.5 for a ball on a plane (Hertz 1881).
        loss: c [s/m]; the coefficient of restitution at small speeds u is about 1 − ⅔ c u.
        friction: Along the ground.
    """

    stiffness: float | None = None
    exponent: float = 1.5
    loss: float = 3.0
    friction: Friction = field(default_factory=Anchored)
    remembers = False

    def respond(self, touch: LinkTouch, dt: float, ahead: float) -> Response:
        """Forces on the points of a link.

        Args:
            touch: The points.
            dt: Step [s]; does not matter here.
            ahead: How far to look ahead, the step or 0 [s].
        """
        depth, k, n = ops.maximum(touch.depth, 0.0), given(self.stiffness), self.exponent
        spring, loss = k * _power(depth, n), 1.0 + self.loss * touch.rate
        slope = k * n * _power(depth, n - 1.0) * ops.maximum(loss, 0.0)
        return _answer(self.friction, touch, spring * loss, slope, self.loss * spring, ahead)

    def fitted(self, scale: Scale) -> ViscoElastic:
        """With the numbers that are missing: it rests where a linear spring of the fitted stiffness would."""
        rest = scale.share / scale.stiffness
        stiffness = scale.share / rest**self.exponent if self.stiffness is None else self.stiffness
        return replace(self, stiffness=stiffness, friction=self.friction.fitted(scale))

    def stored(self, touch: LinkTouch) -> Any:
        """Energy [J] in the springs."""
        n = self.exponent + 1.0
        springs = np.sum(_power(ops.maximum(touch.depth, 0.0), n))
        return given(self.stiffness) / n * springs + self.friction.stored(touch)


@dataclass(frozen=True)
class PenaltyPid:
    """f = max(0, (k_p d + k_v ḋ + k_i I) / r), r the touching points of the link, I its leaky integral.

    The integral is defined over the steps of a controller, I⁺ = λ I + max d. Here it is I⁺ = ρ I + (1 − ρ)/(1 − λ)
    max d with ρ = λ^(dt/period): the same at dt = period, and at rest I = d/(1 − λ) whatever the step. With k_p, k_v,
    k_i = 100, 50, 20 times the mass, n feet rest at d = g/(300 n).        [sim.penalty-pid]   Wimmer 2016

    Args:
        proportional: k_p [N/m]; 100 times the mass.
        derivative: k_v [N s/m]; 50 times the mass.
        integral: k_i [N/m]; 20 times the mass.
        leak: λ.
        period: Of the controller's steps [s].
        friction: Along the ground.
    """

    proportional: float | None = None
    derivative: float | None = None
    integral: float | None = None
    leak: float = 0.9
    period: float = 0.01
    friction: Friction = field(default_factory=Regularised)
    remembers = True

    def respond(self, touch: LinkTouch, dt: float, ahead: float) -> Response:
        """Forces on the points of a link.

        Args:
            touch: The points.
            dt: Step [s].
            ahead: How far to look ahead, the step or 0 [s].
        """
        deepest, count = _deepest_and_count(touch.depth)
        share = 1.0 / ops.maximum(count, 1.0)
        K, D = given(self.proportional) * share, given(self.derivative) * share
        push = K * touch.depth + D * touch.rate + given(self.integral) * share * touch.integral
        kept = self.leak ** (dt / self.period)
        answer = _answer(self.friction, touch, push, K, D, ahead)
        return replace(answer, integral=kept * touch.integral + (1.0 - kept) / (1.0 - self.leak) * deepest)

    def fitted(self, scale: Scale) -> PenaltyPid:
        """With the numbers that are missing."""
        gains = {"proportional": 100.0, "derivative": 50.0, "integral": 20.0}
        missing: dict[str, Any] = {k: gain * scale.mass for k, gain in gains.items() if getattr(self, k) is None}
        return replace(self, **missing, friction=self.friction.fitted(scale))

    def stored(self, touch: LinkTouch) -> Any:
        """Energy [J] in the springs along the ground; what the integral holds is not certain to come back."""
        return self.friction.stored(touch)


@dataclass(frozen=True)
class Rigid:
    """Points that do not sink, with exact Coulomb cones, at the level of velocities.

    Solved for each step by `surefoot.sim.native.rigid`; it is not a force law.

    Args:
        restitution: Share of the normal speed that comes back.
        correction: Share of the depth that is taken away in a step.
        tolerance: Of the velocities [m/s].
        sweeps: Most sweeps over the points in a step.
    """

    restitution: float = 0.0
    correction: float = 0.1
    tolerance: float = 1e-9
    sweeps: int = 500


_LAWS = {"spring_damper": SpringDamper, "visco_elastic": ViscoElastic, "penalty_pid": PenaltyPid, "rigid": Rigid}


def law_of(name: str | ContactLaw | Rigid) -> ContactLaw | Rigid:
    """A law by its name, or the law itself.

    Args:
        name: spring_damper, visco_elastic, penalty_pid or rigid; or a law.

    Raises:
        UnknownNameError: There is no such law.
        ShapeError: A number of a law is negative or none.
    """
    if isinstance(name, str) and name not in _LAWS:
        raise one_of("contact law", name, _LAWS)
    law: Any = _LAWS[name]() if isinstance(name, str) else name
    _require_numbers(law)
    return law


def _require_numbers(law: Any) -> None:
    for item in fields(law):
        value = getattr(law, item.name)
        if isinstance(value, int | float) and not (np.isfinite(value) and value >= 0.0):
            raise ShapeError(f"`{item.name}` of {type(law).__name__} is {value}", next_step="give 0 or more")
        if isinstance(value, Regularised | Anchored):
            _require_numbers(value)


def _answer(friction: Friction, touch: LinkTouch, push: Array, K: Any, D: Any, ahead: float) -> Response:
    """The response to a push with its slopes: none off the ground, none that pulls."""
    ahead_push = push + (ahead * K) * touch.rate
    presses = ops.where(ops.less(0.0, touch.depth), ops.where(ops.less(0.0, ahead_push), 1.0, 0.0), 0.0)
    normal = presses * ahead_push
    gain = presses * (ahead * (D + ahead * K))
    along, along_gain, kept, mode = friction.hold(touch, normal, ahead)
    return Response(normal, along, gain, along_gain, kept, mode, touch.integral)


def _deepest_and_count(depth: Array) -> tuple[Any, Any]:
    """The largest depth, 0 at least, and how many points touch."""
    deepest, count = 0.0, 0.0
    for d in depth:
        deepest = ops.maximum(d, deepest)
        count = count + ops.where(ops.less(0.0, d), 1.0, 0.0)
    return deepest, count


def _power(base: Array, exponent: float) -> Array:
    """base^exponent for base ≥ 0; halves of integers by roots, which compile to one instruction."""
    whole = int(np.floor(exponent))
    if exponent - whole not in (0.0, 0.5) or not 0 <= whole < 8:
        return ops.exp(exponent * ops.log(ops.maximum(base, TINY)))
    out = ops.sqrt(base) if exponent > whole else np.ones(len(base))
    for _ in range(whole):
        out = out * base
    return out
