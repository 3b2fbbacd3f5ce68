"""`TrunkSwing`: when the capture point leaves the support, swing the trunk after it, and stop in time."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from surefoot.arrays import Array

__all__ = ["Swing", "TrunkSwing"]


_RIGHTING = 0.5  # share of what the ground can do within the soles that rights the trunk after a step


@dataclass(frozen=True, eq=False)
class Swing:
    """What the trunk does.

    Args:
        acceleration: (2,) of its lean [rad/s²].
        edge: (2,) outward normal of the edge of the support over which the robot would fall; None if it would not.
    """

    acceleration: Array
    edge: Array | None


@dataclass(frozen=True)
class TrunkSwing:
    """Hip strategy.

    A trunk that accelerates towards a fall lets the ground push back as if its force came from beyond the soles:

        ξ̇ = ω (ξ − p) − b α,   b = I/(M z ω)        [control.trunk-swing]   after Koolen et al. 2012

    ξ is the DCM, p the centre of pressure, α the acceleration of the lean. If the trunk were stopped now with the
    deceleration a while p stays at the edge, ξ would come to lie at

        s' = s e^{ωT} + (b a/ω)(e^{ωT} − 1),   T = rate/a

    relative to the edge. As long as that is outside, the trunk goes on; it is always stopped before its largest lean.

    Args:
        forward: Largest lean forward [rad].
        otherwise: Largest lean in other directions [rad].
        fastest: Largest acceleration towards a fall [rad/s²]; 0: the trunk does not swing, and is righted with half of
            what would hold ξ where it is, ω s/b.
        braking: Deceleration with which the trunk stops [rad/s²].
        margin: How far inside the edge the DCM should come to lie [m].
        gain: Acceleration per distance [rad/s²/m].
    """

    forward: float = 0.8
    otherwise: float = 0.8
    fastest: float = 45.0
    braking: float = 28.0
    margin: float = 0.02
    gain: float = 6000.0

    def reach(self, omega: float, b: float) -> float:
        """How far beyond the edge a DCM may be that the trunk still brings back, from rest and upright [m].

        The trunk speeds up for T₁, slows down for T₂ and ends at its largest lean; ∫ e^{−ωt} b α dt over both.

        Args:
            omega: ω [1/s].
            b: Change of the velocity of the DCM per acceleration of the lean [m s/rad].
        """
        if self.fastest <= 0.0:
            return 0.0
        lean = min(self.forward, self.otherwise)
        first = sqrt(2.0 * lean / (self.fastest * (1.0 + self.fastest / self.braking)))
        then = first * self.fastest / self.braking
        gained = self.fastest * (1.0 - exp(-omega * first))
        lost = self.braking * exp(-omega * first) * (1.0 - exp(-omega * then))
        return b * (gained - lost) / omega

    def decide(
        self, dcm: Array, polygon: Array, lean: Array, rate: Array, upright: Array, omega: float, b: Array
    ) -> Swing:
        """How to accelerate the lean; all vectors are (2,), forward and to the left.

        Args:
            dcm: ξ [m].
            polygon: (k, 2) support polygon, counter-clockwise [m].
            lean: Of the trunk [rad].
            rate: Of the lean [rad/s].
            upright: Acceleration that would bring the trunk upright [rad/s²].
            omega: ω [1/s].
            b: Change of the velocity of the DCM per acceleration of the lean [m s/rad].
        """
        out, edge = upright, None
        if len(polygon) > 2:
            along = np.concatenate([polygon[1:], polygon[:1]]) - polygon
            normals = along[:, ::-1] * (1.0, -1.0) / np.sqrt((along * along).sum(axis=1))[:, None]
            outside = ((dcm - polygon) * normals).sum(axis=1)
            per = np.abs(normals) @ b / omega
            growth = np.exp(omega * np.maximum(normals @ rate, 0.0) / self.braking)
            rest = outside * growth + per * self.braking * (growth - 1.0)
            asked = self.gain * (rest + self.margin) if self.fastest > 0.0 else _RIGHTING * outside / per
            wanted = np.minimum(np.maximum(asked, -self.braking), self.fastest) - normals @ upright
            worst = int(np.argmax(wanted))
            if wanted[worst] > 0.0:
                edge = normals[worst]
                out = upright + wanted[worst] * edge
        return Swing(self._stopped_in_time(out, lean, rate), edge)

    def _stopped_in_time(self, acceleration: Array, lean: Array, rate: Array) -> Array:
        """Brake if the trunk would go beyond its largest lean."""
        speed = float(np.hypot(rate[0], rate[1]))
        if speed > 0.0:
            n = rate / speed
            most = 1.0 / np.hypot(n[0] / (self.forward if n[0] > 0.0 else self.otherwise), n[1] / self.otherwise)
            if float(n @ lean) + speed**2 / (2.0 * self.braking) > most:
                acceleration = acceleration - (float(n @ acceleration) + self.braking) * n
        size = float(np.hypot(acceleration[0], acceleration[1]))
        return acceleration * min(1.0, max(self.fastest, self.braking) / max(size, 1e-9))
