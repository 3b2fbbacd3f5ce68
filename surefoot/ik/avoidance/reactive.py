"""Reactive avoidance in task space: selected coordinates of a plan give way to obstacles and come back.

Each cycle the plan w_d0 of a limb gets a deviation x, w_d1 = w_d0 + x, that goes down H = H_coll + H_limit + H_att:

    w'_col = -[(S J)#]ᵀ ∇(H_coll + H_limit) - s_att x        [ik.reactive]   Buschmann 2014, section 5.4, (5.70)–(5.75)

(the attractor ½ s_att x² is written in task coordinates, where its gradient is s_att x). The rate passes a critically
damped filter of second order, so that x is C² although distances of flat shapes have gradients that jump. Before
touchdown the potentials are switched off, and x returns to zero by `Return`.

The way back to the plan: a deviation that ends in C² manner, without overshoot, in a given time or earlier.

With s = t/T, x₀ the deviation, V = v₀ T and A = a₀ T², the quintic that ends at rest in zero is

    x = (1-s)³ (c₀ + c₁ s + c₂ s²),  c₀ = x₀,  c₁ = V + 3 x₀,  c₂ = A/2 + 3 V + 6 x₀        [ik.return]

Its sign is that of the quadratic, whose Bernstein coefficients are x₀, (5 x₀ + V)/2 and 10 x₀ + 4 V + A/2. Its slope is
-(1-s)² m(s)/T with m of coefficients -V, -2 V - A/2 and 30 x₀ + 12 V + 3/2 A. Let x₀ > 0 (else turn the signs). If the
deviation is already on its way back (V ≤ 0), it falls all the way where none of the coefficients of m is negative. If
it still grows (V > 0), 10 x₀ + 4 V + A/2 ≥ 0 lets it turn once and never cross zero. For T → 0 both conditions hold, so
that a short enough return without overshoot always exists; the longest one up to the given time is taken. That a return
must be C² and free of overshoot: Buschmann 2014, section 5.4 (no construction is given there; this one is ours).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError, one_of
from surefoot.motion import Quintic
from surefoot.spatial import so3


def return_duration(x: float, v: float, a: float, longest: float) -> float:
    """The longest T ≤ `longest` [s] in which a deviation returns without overshoot.

    Args:
        x: Deviation.
        v: Its rate.
        a: The rate of that.
        longest: Time that there is [s], > 0.
    """
    first = next((y for y in (x, v, a) if y != 0.0), 0.0)
    x, v, a = (float(np.sign(first)) * y for y in (x, v, a))
    T = longest
    if v < 0.0 < a:
        T = min(T, -4.0 * v / a)  # from -2 V - A/2 ≥ 0
    return min(T, _first_root(0.5 * a, 4.0 * v, 10.0 * x))


def _first_root(a: float, b: float, c: float) -> float:
    """The smallest positive root of a T² + b T + c, which is positive at small T; inf if there is none."""
    if c == 0.0:  # one root is at zero
        return -b / a if a < 0.0 < b else np.inf
    square = b * b - 4.0 * a * c
    if square < 0.0:
        return np.inf
    lead = -b + np.sqrt(square) if b < 0.0 else -b - np.sqrt(square)
    roots = [2.0 * c / lead if lead else np.inf, 0.5 * lead / a if a else np.inf]
    return min((root for root in roots if root > 0.0), default=np.inf)


class Return:
    """A deviation (n,) on its way to zero, each coordinate by a quintic of its own duration.

    Args:
        x: (n,) deviation.
        v: (n,) its rate.
        a: (n,) the rate of that.
        longest: Time that there is [s], > 0.
    """

    def __init__(self, x: ArrayLike, v: ArrayLike, a: ArrayLike, longest: float) -> None:
        longest = number(longest, "time of a return", positive=True)
        x = finite_array(x, (None,), "deviation")
        v, a = (finite_array(y, x.shape, f"{what} of a deviation") for y, what in ((v, "rate"), (a, "acceleration")))
        self.durations = np.array([return_duration(*state, longest) for state in zip(x, v, a, strict=True)])
        self._paths = [
            Quintic(x0, v0, a0, 0.0, 0.0, 0.0, T) for x0, v0, a0, T in zip(x, v, a, self.durations, strict=True)
        ]

    def sample(self, t: float) -> tuple[Array, Array, Array]:
        """Deviation (n,), its rate and the rate of that, t after the start [s]; zero from its duration on.

        Args:
            t: [s].
        """
        found = np.array([path.sample(t) for path in self._paths]).reshape(-1, 3) * (t < self.durations)[:, None]
        return found[:, 0], found[:, 1], found[:, 2]


Variant = Literal["selected", "full", "transpose"]
VARIANTS: tuple[str, ...] = get_args(Variant)


def avoiding_rate(J: ArrayLike, gradient: ArrayLike, rows: ArrayLike, variant: Variant = "selected") -> Array:
    """Rates (k,) of selected task coordinates that go down a potential of the joints.

    "selected": -[(S J)#]ᵀ ∇H; "full": -S (J#)ᵀ ∇H, which is -∂H/∂w of the motion that the inverse kinematics makes, and
    makes ½|w'|² + dH/dt smallest; "transpose": -S J ∇H, which makes ½|q'|² + dH/dt smallest, cheaper and weaker.
    [ik.reactive]   Buschmann 2014, (5.70)–(5.75) (erratum: (5.74) prints +J ∇H).

    Args:
        J: (m, nv) Jacobian of all task coordinates.
        gradient: (nv,) ∇H.
        rows: (k,) which task coordinates give way: S.
        variant: One of `VARIANTS`.
    """
    J, gradient, rows = np.asarray(J, dtype=float), np.asarray(gradient, dtype=float), np.asarray(rows, dtype=int)
    if variant not in VARIANTS:
        raise one_of("variant", variant, VARIANTS)
    if variant == "selected":
        return -np.linalg.pinv(J[rows]).T @ gradient
    full = np.linalg.pinv(J).T if variant == "full" else J
    return -(full @ gradient)[rows]


@dataclass(frozen=True, eq=False)
class Deviation:
    """How far a plan is left, in its selected coordinates.

    Args:
        x: (k,) deviation [m] or [rad].
        rate: (k,).
        acceleration: (k,).
    """

    x: Array
    rate: Array
    acceleration: Array


class ReactiveAvoidance:
    """The deviation from a plan over time: it gives way, is drawn back, and returns in time.

    Args:
        size: k, number of coordinates that give way.
        attraction: s_att [1/s]: rate of the way back to the plan while the potentials act.
        bandwidth: ω [rad/s] of the filter; the deviation is stable for s_att < 2 ω.
        fastest: Largest rate that the potentials may ask for, per coordinate [m/s] or [rad/s].
    """

    def __init__(self, size: int, attraction: float = 4.0, bandwidth: float = 80.0, fastest: float = 2.0) -> None:
        if not 0.0 <= attraction < 2.0 * bandwidth or not fastest > 0.0:
            raise ShapeError(
                "reactive avoidance needs 0 ≤ attraction < 2 bandwidth and a positive largest rate",
                evidence={"attraction": attraction, "bandwidth": bandwidth, "fastest": fastest},
            )
        self.attraction, self.bandwidth, self.fastest = attraction, bandwidth, fastest
        self.now = Deviation(np.zeros(size), np.zeros(size), np.zeros(size))
        self._return: Return | None = None
        self._since = 0.0

    @property
    def is_returning(self) -> bool:
        """Whether the potentials are switched off."""
        return self._return is not None

    def begin_return(self, longest: float) -> None:
        """Switch the potentials off: from now on the deviation goes to zero, C² and without overshoot.

        Args:
            longest: Time until it must be zero [s].
        """
        self._return, self._since = Return(self.now.x, self.now.rate, self.now.acceleration, longest), 0.0

    def step(self, push: ArrayLike, dt: float) -> Deviation:
        """The deviation one cycle later.

        Args:
            push: (k,) rate that the potentials ask for (`avoiding_rate`); not read on the way back.
            dt: Length of the cycle [s].
        """
        if self._return is not None:
            self._since += dt
            self.now = Deviation(*self._return.sample(self._since))
            return self.now
        wanted = np.clip(np.asarray(push, dtype=float), -self.fastest, self.fastest)
        self.now = _filtered(self.now, wanted - self.attraction * self.now.x, self.bandwidth, dt)
        return self.now


def _filtered(now: Deviation, wanted: Array, w: float, dt: float) -> Deviation:
    """x‴ = ω² (u - x') - 2 ω x″ over one cycle with u held, solved exactly."""
    fade = np.exp(-w * dt)
    gap = now.rate - wanted
    lead = now.acceleration + w * gap
    x = now.x + wanted * dt + gap * (1.0 - fade) / w + lead * (1.0 - fade * (1.0 + w * dt)) / w**2
    return Deviation(x, wanted + (gap + lead * dt) * fade, (now.acceleration - w * lead * dt) * fade)


def deviated_pose(T: ArrayLike, x: ArrayLike) -> Array:
    """T_world_limb (4, 4) of the plan with a deviation (6,): shift [m], and turn about world axes (rotation vector).

    Args:
        T: (4, 4) of the plan.
        x: (6,) deviation.
    """
    out, x = np.array(T, dtype=float), np.asarray(x, dtype=float)
    out[:3, 3] += x[:3]
    out[:3, :3] = so3.exp(x[3:]) @ out[:3, :3]
    return out


def deviated_twist(twist: ArrayLike, x: ArrayLike, rate: ArrayLike) -> Array:
    """Twist (6,) of `deviated_pose`, at its origin and in world axes.

    Args:
        twist: (6,) of the plan, at its origin and in world axes.
        x: (6,) deviation.
        rate: (6,) its rate.
    """
    twist, x, rate = (np.asarray(y, dtype=float) for y in (twist, x, rate))
    turning = so3.left_jacobian(x[3:]) @ rate[3:] + so3.exp(x[3:]) @ twist[3:]
    return np.concatenate([twist[:3] + rate[:3], turning])
