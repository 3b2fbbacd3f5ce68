"""`SwingStep`: the plan of one step of a biped, and how it gives way to obstacles."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.errors import ShapeError

__all__ = ["SwingStep"]


@dataclass(frozen=True)
class SwingStep:
    """The plan of a step and how it gives way. The stance foot stands at x = 0.

    Args:
        swing: Link of the foot that swings; the other one is found by its name.
        behind: Where it starts, behind the stance foot [m].
        ahead: Where it lands, ahead of the stance foot [m].
        lift: Height of the plan [m].
        tilt: How far the toes hang down at this height [rad].
        travel: When the foot moves forward, shares of the duration.
        apart: Distance of the feet across [m].
        sink: How much the base is lower than at home [m].
        duration: T_s [s].
        shift: How long the weight takes to the stance foot before the swing, and to the middle after it [s]. The centre
            of mass is led then, and rests over the stance sole during the swing. 0: no shift, the base is led from
            the middle of the feet to the middle of the feet; walking as in the source, which this plan cannot balance.
        cycle: [s].
        gives_way: Which of x, y and z of the swing foot give way.
        off: When the potentials are switched off, share of the duration.
        reach: Distance at which avoidance begins [m].
        slope: H' at contact, negative: rate of giving way [m/s].
        attraction: s_att [1/s].
        pull: Gain of the tasks [1/s].
    """

    swing: str = "left_foot"
    behind: float = 0.35
    ahead: float = 0.30
    lift: float = 0.08
    tilt: float = 0.0
    travel: tuple[float, float] = (0.1, 0.9)
    apart: float = 0.30
    sink: float = 0.05
    duration: float = 1.0
    shift: float = 0.0
    cycle: float = 0.002
    gives_way: tuple[int, ...] = (1, 2)
    off: float = 0.8
    reach: float = 0.05
    slope: float = -2.0
    attraction: float = 4.0
    pull: float = 50.0

    def __post_init__(self) -> None:
        if not 0.0 < self.off < 1.0 or not self.duration > self.cycle > 0.0 or self.shift < 0.0:
            raise ShapeError("a step needs 0 < off < 1, shift ≥ 0, and a cycle shorter than its duration")

    @property
    def end(self) -> float:
        """When all is over [s]."""
        return 2.0 * self.shift + self.duration
