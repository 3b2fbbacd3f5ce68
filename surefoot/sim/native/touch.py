"""What a contact law sees and answers, and how points hold along the ground.

Forces of a law are those at the end of a step, as far as they are linear: with the push f(d, ḋ), its slopes K and D,
and the acceleration a of the point against the normal,

    f⁺ = f + h K ḋ − h (D + h K) a        [sim.implicit-contact]

The first two terms are the force of a `Response`, the factor of a its gain, which the step adds to the inertia of the
link; so stiff and well damped contacts do not limit the step. With `ahead` = 0 forces are those at the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from surefoot import ops
from surefoot.errors import ShapeError
from surefoot.ops import Array

FREE, STICKS, SLIDES = 0.0, 1.0, 2.0
"""What a point does, as in Busenhart 1994, T6.16."""
_EARTH = 9.81
TINY = 1e-300
_REST_DEPTH = 1e-3  # [m] with the weight on all points
_STIFF, _DAMPED = 0.3, 0.6  # bounds of h² k / m and h d / m of explicit steps, stable if h² k + 2 h d < 4 m
_STOPPING = 2.0  # friction is explicit if it could not turn a point back within so many steps


class Scale(NamedTuple):
    """What the numbers of a law are fitted to.

    Args:
        mass: Of the robot [kg].
        gravity: Of the world [m/s²].
        points: How many contact points there are.
        lightest: Least effective mass of all points together, 1 / λ_max(J M⁻¹ Jᵀ) [kg].
        dt: Step [s].
        explicit: Whether forces are those at the start of a step, which bounds stiffness and damping.
    """

    mass: float
    gravity: float
    points: int
    lightest: float
    dt: float
    explicit: bool = False

    @property
    def share(self) -> float:
        """Weight on each point [N]."""
        return self.mass * (self.gravity or _EARTH) / max(self.points, 1)

    @property
    def stiffness(self) -> float:
        """[N/m] of a point that sinks 1 mm under its share of the weight."""
        most = _STIFF * self.lightest / self.dt**2 if self.explicit else np.inf
        return min(self.share / _REST_DEPTH, most)

    def damping(self, stiffness: float) -> float:
        """[N s/m] critical for a point's share of the mass on a spring.

        Args:
            stiffness: Of the spring [N/m].
        """
        most = _DAMPED * self.lightest / self.dt if self.explicit else np.inf
        return min(2.0 * float(np.sqrt(stiffness * self.mass / max(self.points, 1))), most)


@dataclass(frozen=True, eq=False)
class LinkTouch:
    """The k points of one link as a law sees them; numbers or symbols.

    Args:
        depth: (k,) under the ground, > 0 where it touches [m].
        rate: (k,) of the depth [m/s].
        stretch: (k, 3) way along the ground from where the point stuck, in world [m].
        slide: (k, 3) velocity along the ground, in world [m/s].
        friction: (k,) Coulomb coefficients.
        integral: What the link remembers of its depths [m]; 0 if the law has no such memory.
    """

    depth: Array
    rate: Array
    stretch: Array
    slide: Array
    friction: Array
    integral: Any = 0.0


@dataclass(frozen=True, eq=False)
class Response:
    """What a law answers; numbers or symbols.   [sim.implicit-contact].

    Args:
        normal: (k,) forces along the normals, ≥ 0 [N].
        along: (k, 3) forces along the ground, in world [N].
        normal_gain: (k,) by which the normal force falls per acceleration along the normal [kg].
        along_gain: (k,) the same along the ground [kg].
        kept: (k,) share of the stretch that stays: 1 sticks, less slides, 0 is off the ground.
        mode: (k,) `FREE`, `STICKS` or `SLIDES`.
        integral: What the link remembers after the step [m].
    """

    normal: Array
    along: Array
    normal_gain: Array
    along_gain: Array
    kept: Array
    mode: Array
    integral: Any = 0.0


class Hold(NamedTuple):
    """How points hold along the ground: `along`, `along_gain`, `kept` and `mode` of a `Response`."""

    along: Array
    along_gain: Array
    kept: Array
    mode: Array


@dataclass(frozen=True)
class Regularised:
    """Coulomb friction that rises with the speed up to a small one: −μ f v / max(|v|, speed).

    Args:
        speed: Below it, friction is viscous [m/s].
        lightest: Least effective mass of a point [kg]; None for the robot's.
    """

    speed: float = 0.01
    lightest: float | None = None
    anchored = False

    def hold(self, touch: LinkTouch, normal: Array, ahead: float) -> Hold:
        """Forces along the ground.

        Args:
            touch: The points.
            normal: (k,) normal forces [N].
            ahead: How far to look ahead, the step or 0 [s].
        """
        limit, speed = touch.friction * normal, _lengths(touch.slide)
        drag = limit / ops.maximum(speed, self.speed)
        mode = ops.where(ops.less(self.speed, speed), SLIDES, STICKS)
        gain = _unless_fast(ahead * drag, limit, speed, given(self.lightest), ahead)
        touches = ops.less(0.0, normal)
        return Hold(-drag[:, None] * touch.slide, gain, np.zeros(len(normal)), ops.where(touches, mode, FREE))

    def fitted(self, scale: Scale) -> Regularised:
        """With the numbers that are missing; no more viscous than an explicit step can take."""
        least = scale.share * scale.dt / (_DAMPED * scale.lightest) if scale.explicit else 0.0
        return Regularised(max(self.speed, least), scale.lightest if self.lightest is None else self.lightest)

    def stored(self, touch: LinkTouch) -> Any:
        """Nothing [J]."""
        return 0.0


@dataclass(frozen=True)
class Anchored:
    """Sticks by a spring and a damper to the anchor where it touched; slides at the Coulomb limit.

        trial = −K s − D v,  f = trial · min(1, μ f_n / |trial|)        [sim.anchor]   Nenchev & Konno 2019, (8.2)-(8.4)

    s is the way from the anchor. While it slides the anchor follows so that s shrinks in the same proportion (Cundall &
    Strack 1979): the book lets it jump to the point, where friction would begin again from nothing, and directs the
    force against v, which has no direction when sliding begins; in steady sliding both agree.

    Args:
        stiffness: K [N/m].
        damping: D [N s/m].
        lightest: Least effective mass of a point [kg]; None for the robot's.
    """

    stiffness: float | None = None
    damping: float | None = None
    lightest: float | None = None
    anchored = True

    def hold(self, touch: LinkTouch, normal: Array, ahead: float) -> Hold:
        """Forces along the ground.

        Args:
            touch: The points.
            normal: (k,) normal forces [N].
            ahead: How far to look ahead, the step or 0 [s].
        """
        K, D = given(self.stiffness), given(self.damping)
        trial = -K * touch.stretch - (D + ahead * K) * touch.slide
        limit, wanted = touch.friction * normal, _lengths(trial)
        slides, touches = ops.less(limit, wanted), ops.less(0.0, normal)
        share = ops.where(slides, limit / ops.maximum(wanted, TINY), 1.0)
        kept = ops.where(touches, share, 0.0)
        gain = kept * (ahead * (D + ahead * K))
        fast = _unless_fast(gain, limit, _lengths(touch.slide), given(self.lightest), ahead)
        mode = ops.where(touches, ops.where(slides, SLIDES, STICKS), FREE)
        return Hold(kept[:, None] * trial, ops.where(slides, fast, gain), kept, mode)

    def fitted(self, scale: Scale) -> Anchored:
        """With the numbers that are missing."""
        stiffness = scale.stiffness if self.stiffness is None else self.stiffness
        damping = scale.damping(stiffness) if self.damping is None else self.damping
        return Anchored(stiffness, damping, scale.lightest if self.lightest is None else self.lightest)

    def stored(self, touch: LinkTouch) -> Any:
        """Energy [J] of the springs, where the points touch."""
        squared = np.sum(touch.stretch * touch.stretch, axis=1)
        return 0.5 * given(self.stiffness) * np.sum(ops.where(ops.less(0.0, touch.depth), squared, 0.0))


Friction = Regularised | Anchored


def given(value: float | None) -> float:
    """A number of a law that was fitted."""
    if value is None:
        raise ShapeError(
            "a number of the contact law is missing", next_step="fit the law to a robot: law.fitted(scale)"
        )
    return value


def _unless_fast(gain: Any, limit: Any, speed: Any, lightest: float, ahead: float) -> Any:
    """The gain of a sliding point; none if it is too fast to be turned back, so that it slides at the limit exactly."""
    return ops.where(ops.less(_STOPPING * ahead / lightest * limit, speed), 0.0, gain)


def _lengths(vectors: Array) -> Array:
    """(k,) of (k, 3)."""
    return ops.sqrt(np.sum(vectors * vectors, axis=1))
