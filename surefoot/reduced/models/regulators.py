"""Regulators of the linear inverted pendulum through its ZMP (Nenchev & Konno 2019, section 5.4).

All return the ZMP to command; the ground gives it within the support. `capture_zmp`, `regulator_poles` and
`critical_horizon` of the room are those of section 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError


def ankle_moment(angle: float, turning: float, stiffness: float, damping: float, limits: tuple[float, float]) -> float:
    """Moment of an ankle with spring and damper that keeps the CoP in the foot [N m] (section 5.4).

    Args:
        angle: θ from the vertical [rad].
        turning: θ̇ [rad/s].
        stiffness: [N m/rad]; more than M g l.
        damping: [N m s/rad].
        limits: Least and largest moment: −M g times the ends of the foot, in reverse order.
    """
    return float(np.clip(-stiffness * angle - damping * turning, *limits))


def manipulated_zmp(
    com: ArrayLike, velocity: ArrayLike, speed: ArrayLike | None = None, target: ArrayLike = 0.0
) -> Array:
    """ZMP manipulation (Mitobe, section 5.4.1): tracks a speed, u = x + ẋ − v, or a place, u = 2 x + ẋ − x_d.

    With the unit gains of the book, ẍ = ω² (v − ẋ), or ẍ = ω² (x_d − x − ẋ).

    Args:
        com: (d,) x [m].
        velocity: (d,) ẋ [m/s].
        speed: (d,) v to track [m/s]; None to regulate the place.
        target: (d,) x_d [m].
    """
    x, v = np.asarray(com, dtype=float), np.asarray(velocity, dtype=float)
    return np.asarray(x + v - np.asarray(speed)) if speed is not None else np.asarray(2.0 * x + v - np.asarray(target))


def regulator_gains(omega: float, poles: tuple[float, float]) -> tuple[float, float]:
    """k₁ and k₂ [s] of u = −k₁ x − k₂ ẋ with closed-loop poles ω q₁ and ω q₂ (Sugihara, section 5.4.3).

        k₁ = −(q₁ q₂ + 1),   k₂ = (q₁ + q₂) / ω        [models.regulator]

    q₁ = −1 gives u = (1 − q₂) x_ex, the largest region: all of |x_ex| < l.

    Args:
        omega: √(g / z) [1/s].
        poles: q₁ and q₂, negative.
    """
    q1, q2 = poles
    return -(q1 * q2 + 1.0), (q1 + q2) / omega


def clipped_regulator(state: ArrayLike, gains: tuple[float, float], support: tuple[float, float]) -> float:
    """U = −k₁ x − k₂ ẋ within the support [m].

    Args:
        state: (x, ẋ).
        gains: k₁ and k₂.
        support: Its ends [m].
    """
    x, v = np.asarray(state, dtype=float)
    return float(np.clip(-gains[0] * x - gains[1] * v, *support))


def operating_region(
    omega: float, gains: tuple[float, float], support: tuple[float, float], com: Array, velocity: Array
) -> np.ndarray:
    """(velocities, positions) from which the clipped regulator brings the pendulum to rest, by its own motion.

    The pendulum is stepped exactly with the CoP held for 2 % of 1/ω; a start is lost once x_ex is beyond an edge, which
    no CoP can undo, and is brought to rest otherwise, as the regulator without clipping is stable.

    Args:
        omega: √(g / z) [1/s].
        gains: k₁ and k₂.
        support: Its ends [m].
        com: (n,) positions of the grid [m].
        velocity: (m,) speeds of the grid [m/s].
    """
    x, v = (np.array(a) for a in np.meshgrid(com, velocity))
    c, s = np.cosh(0.02), np.sinh(0.02)
    lost = np.zeros(x.shape, dtype=bool)
    for _ in range(1500):  # 30 / ω
        p = np.clip(-gains[0] * x - gains[1] * v, *support)
        x, v = np.where(lost, x, p + c * (x - p) + s * v / omega), np.where(lost, v, omega * s * (x - p) + c * v)
        ahead = x + v / omega
        lost |= (ahead < support[0]) | (ahead > support[1])
    return np.asarray(~lost & (np.hypot(x, v / omega) < 0.05 * (support[1] - support[0])))


def lag_gains(omega: float, lag: float, poles: ArrayLike) -> Array:
    """K (3,) for (x, ẋ, p) where the ZMP lags: T_p ṗ = u − p, u = −K (x, ẋ, p) (Kajita, section 5.4.4).

    With A = [[0, 1, 0], [ω², 0, −ω²], [0, 0, −1/T_p]], B = [0, 0, 1/T_p], by Ackermann's formula. With a target:
    u = p_d − K e for e = state − target; the book's u = x_p − K e has a sign against its ė.

    Args:
        omega: √(g / z) [1/s].
        lag: T_p [s].
        poles: (3,) of the closed loop [1/s]; one at −ω is usual.
    """
    A = np.array([[0.0, 1.0, 0.0], [omega**2, 0.0, -(omega**2)], [0.0, 0.0, -1.0 / lag]])
    B = np.array([0.0, 0.0, 1.0 / lag])
    wanted = np.real(np.poly(np.asarray(poles)))
    reach = np.stack([B, A @ B, A @ A @ B], axis=1)
    shape = wanted[0] * A @ A @ A + wanted[1] * A @ A + wanted[2] * A + wanted[3] * np.eye(3)
    return np.asarray(np.linalg.solve(reach.T, [0.0, 0.0, 1.0]) @ shape)


def is_input_to_state_stable(omega: float, com_gain: float, zmp_gain: float, alpha: float, gamma: float) -> bool:
    """Whether u = ẋ_d + k_g (x_d − x) − k_p (p_d − p) is stable against errors of the ZMP (Choi, section 5.4.2).

        k_g > ω > 1,   0 < k_p < ω − α² / ω − γ²,   α < ω,   γ < √(ω − α² / ω)        [models.choi]

    Args:
        omega: √(g / z) [1/s].
        com_gain: k_g.
        zmp_gain: k_p.
        alpha: α, bound of the CoM error.
        gamma: γ, bound of the ZMP error.
    """
    left = omega - alpha**2 / omega
    return bool(
        com_gain > omega > 1.0
        and 0.0 < zmp_gain < left - gamma**2
        and alpha < omega
        and left > 0.0
        and gamma < sqrt(left)
    )


def compliance_poles(
    stiffness: float, derivative_time: float, height: float, gravity: float = 9.81
) -> NDArray[np.complex128]:
    """Poles (2,) of the tilt under torso position compliance: θ̈ + (K T_D / z) θ̇ + ((K − g) / z) θ = 0 [1/s].

    Args:
        stiffness: K [m/s²]; more than g.
        derivative_time: T_D [s]; positive.
        height: z [m].
        gravity: g [m/s²].
    """
    return np.asarray(np.roots([1.0, stiffness * derivative_time / height, (stiffness - gravity) / height]), complex)


@dataclass
class Compliance:
    """Torso position compliance control, sample by sample (section 5.4.5): from the tilt to shifts of ZMP and CoM.

        Δp⁺ = Δt² K θ + Δt K T_D (θ − θ⁻) + 2 Δp − Δp⁻        [models.compliance]
        Δc⁺ = −Δt² ω² Δp + 2 Δc − Δc⁻

    θ ≈ (c − p) / z. `simple` drops the history of Δp and one of Δc, as the book finds sufficient.

    Args:
        stiffness: K [m/s²]; more than g.
        derivative_time: T_D [s].
        omega: √(g / z) [1/s].
        dt: Δt [s].
        simple: Without histories.
    """

    stiffness: float
    derivative_time: float
    omega: float
    dt: float
    simple: bool = False

    def __post_init__(self) -> None:
        if self.stiffness <= 9.81 or self.derivative_time <= 0.0 or self.dt <= 0.0:
            raise ShapeError(
                "compliance needs K > g, T_D > 0 and Δt > 0",
                evidence={"stiffness": self.stiffness, "derivative_time": self.derivative_time, "dt": self.dt},
            )
        self._tilt = self._zmp = self._zmp_before = self._com = self._com_before = 0.0

    def step(self, tilt: float) -> tuple[float, float]:
        """Shifts of ZMP and CoM [m] for a tilt θ [rad]."""
        push = self.dt**2 * self.stiffness * tilt
        push += self.dt * self.stiffness * self.derivative_time * (tilt - self._tilt)
        pull = -((self.dt * self.omega) ** 2) * self._zmp
        zmp = push if self.simple else push + 2.0 * self._zmp - self._zmp_before
        com = pull + self._com if self.simple else pull + 2.0 * self._com - self._com_before
        self._tilt, self._zmp_before, self._com_before = tilt, self._zmp, self._com
        self._zmp, self._com = zmp, com
        return zmp, com
