"""Closed chains in the x–z plane, cut into trees and tied by a loop; angles turn from x towards z (about −y).

A loop holds x and z only: in the plane y cannot open. Masses are our choice where no source is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot import ops
from surefoot.errors import ModelError
from surefoot.robot.assemble import Parts
from surefoot.robot.drives import Drive
from surefoot.robot.links import Joint, Link, NamedFrame, placement
from surefoot.robot.loops import Loop
from surefoot.robot.zoo.limbs import Plan
from surefoot.robot.zoo.solids import ball, bar, drum, link_of

__all__ = ["crank", "crank_length", "crank_lever", "four_bar", "four_bar_angles"]

_TURN = (0.0, -1.0, 0.0)
_IN_PLANE = (True, False, True, False, False, False)
_AS_HINGE = (True, True, True, True, False, True)
_PER_METRE = 2.0  # kg/m of the bars
_THICK = 0.012  # m, radius of a bar, at most a tenth of its length
_CRANK_TORQUE, _CRANK_HOME = 20.0, float(np.deg2rad(60.0))


def four_bar(
    ground: float = 1.0, crank: float = 0.4, coupler: float = 1.1, rocker: float = 0.8, hinge: bool = False
) -> Plan:
    """Crank, coupler and rocker on a ground link along x; the crank is driven, the tips of coupler and rocker are tied.

    One degree of freedom. The home posture has the crank at 60° and the coupler's tip above.

    Args:
        ground: Distance of the two joints on the world [m].
        crank: Length of the driven bar [m].
        coupler: Length of the bar between them [m].
        rocker: Length of the bar on the other joint [m].
        hinge: Tie all but the turn, as a real hinge does: five rows of which three are redundant.

    Raises:
        ModelError: The bars cannot close at home.
    """
    coupling_angle, rocker_angle = four_bar_angles(_CRANK_HOME, ground, crank, coupler, rocker)
    links = (
        _bar("crank", None, (0.0, 0.0, 0.0), crank, effort=_CRANK_TORQUE),
        _bar("coupler", "crank", (crank, 0.0, 0.0), coupler),
        _bar("rocker", None, (ground, 0.0, 0.0), rocker),
    )
    tie = Loop(
        "closing", "rocker", "coupler", placement((rocker, 0.0, 0.0)), placement((coupler, 0.0, 0.0)),
        _AS_HINGE if hinge else _IN_PLANE,
    )  # fmt: skip
    home = {"crank_joint": _CRANK_HOME, "coupler_joint": coupling_angle - _CRANK_HOME, "rocker_joint": rocker_angle}
    parts = Parts(
        drives=(Drive("crank_joint", torque_limit=_CRANK_TORQUE),), loops=(tie,), home=home, contacts=(),
        frames=(NamedFrame("tip", "coupler", placement((coupler, 0.0, 0.0))),),
    )  # fmt: skip
    return Plan("four-bar-hinge" if hinge else "four-bar", links, "fixed", parts)


def four_bar_angles(angle: float, ground: float, crank: float, coupler: float, rocker: float) -> tuple[float, float]:
    """Angles of coupler and rocker against x, in the branch with the coupler's tip left of the diagonal [rad].

    Law of cosines in the triangle of the diagonal from the crank's tip to the rocker's joint.

    Args:
        angle: Of the crank against x [rad].
        ground: Length [m].
        crank: Length [m].
        coupler: Length [m].
        rocker: Length [m].

    Raises:
        ModelError: The bars do not reach each other, or one is too long for the other; or the crank's tip lies on the
            rocker's joint, where equal bars may point anywhere.
    """
    dx, dz = ground - crank * np.cos(angle), -crank * np.sin(angle)
    diagonal = float(np.hypot(dx, dz))
    if diagonal > coupler + rocker or diagonal < abs(coupler - rocker) or diagonal == 0.0:
        gap = max(diagonal - coupler - rocker, abs(coupler - rocker) - diagonal)
        raise ModelError(
            f"loop `closing` of the four-bar cannot close with the crank at {np.rad2deg(angle):.1f}°: {gap:.3g} m open",
            evidence={"ground": ground, "crank": crank, "coupler": coupler, "rocker": rocker, "residual": gap},
            next_step="the longest bar must be shorter than the others together",
        )
    at_crank = np.arccos(np.clip((diagonal**2 + coupler**2 - rocker**2) / (2.0 * diagonal * coupler), -1.0, 1.0))
    coupler_angle = float(np.arctan2(dz, dx) + at_crank)
    tip = (
        crank * np.cos(angle) + coupler * np.cos(coupler_angle),
        crank * np.sin(angle) + coupler * np.sin(coupler_angle),
    )
    return coupler_angle, float(np.arctan2(tip[1], tip[0] - ground))


_SHANK, _SHANK_MASS = 0.4, 3.0  # m, kg
_NUT_MASS, _SPINDLE_MASS = 0.3, 0.5  # kg
_SPRING, _SPRING_DAMPING = 1.0e5, 100.0  # N/m, N s/m: soft enough to measure forces by, as series elasticity is meant
_LEAD, _ROTOR = 0.005, 1.0e-5  # m per turn of the ball screw, kg m² of rotor and screw
_FORCE = 2000.0  # N
_KNEE_HOME = float(np.deg2rad(60.0))


def crank(l1: float = 0.3, r1: float = 0.05, l2: float = 0.06, r2: float = 0.02) -> Plan:
    """A hinge between two limbs, driven by a series-elastic spindle: the slider and crank of an exoskeleton's knee.

    The upper limb is fixed and lies along x; `shank` turns by q (joint `knee`) against it. A nut swivels on the point
    (l1, r1) of the upper limb, and a spindle slides in it by the length x(q) (joint `slide`) to the point (l2, r2) of
    the shank, where the loop ties it. The drive sits on the slide: a ball screw behind a spring (an elastic gear).
    Koch, section 12.2 with (12.2); the offsets, masses and the drive are our choice.

    Args:
        l1: Offset of the nut along the upper limb [m].
        r1: Offset across it, away from the side to which the shank turns [m].
        l2: Offset of the spindle's end along the shank [m].
        r2: Offset across it [m].

    Raises:
        ModelError: The spindle would have no length.
    """
    length = float(crank_length(_KNEE_HOME, l1, r1, l2, r2))
    if length < 1e-3:
        raise ModelError("the spindle of the crank has no length", evidence={"l1": l1, "r1": r1, "l2": l2, "r2": r2})
    knee = Joint("knee", "revolute", placement(), _TURN)
    shank = link_of("shank", None, knee, [drum(_SHANK_MASS, 0.04, (0.0, 0.0, 0.0), (_SHANK, 0.0, 0.0), touches=False)])
    swivel = Joint("swivel", "revolute", placement((l1, 0.0, -r1)), _TURN)
    nut = link_of("nut", None, swivel, [ball(_NUT_MASS, 0.02, touches=False)])
    slide = Joint("slide", "prismatic", axis=(1.0, 0.0, 0.0), lower=1e-3, effort=_FORCE)
    rod = bar(_SPINDLE_MASS, 0.006, (-length, 0.0, 0.0), (0.0, 0.0, 0.0), touches=False)
    tie = Loop("spindle_end", "shank", "spindle", placement((l2, 0.0, r2)), placement(), _IN_PLANE)
    drive = Drive(
        "slide", 2.0 * np.pi / _LEAD, _ROTOR, "elastic", _SPRING, _SPRING_DAMPING, torque_limit=_FORCE
    )  # fmt: skip
    end = (l2 * np.cos(_KNEE_HOME) - r2 * np.sin(_KNEE_HOME), l2 * np.sin(_KNEE_HOME) + r2 * np.cos(_KNEE_HOME))
    home = {"knee": _KNEE_HOME, "swivel": float(np.arctan2(end[1] + r1, end[0] - l1)), "slide": length}
    parts = Parts(drives=(drive,), loops=(tie,), home=home, contacts=())
    return Plan("crank", (shank, nut, link_of("spindle", "nut", slide, [rod])), "fixed", parts)


def crank_length(q: Any, l1: float, r1: float, l2: float, r2: float) -> Any:
    """x(q) [m] of the spindle: x² = a² + b² - 2 a b cos(q + α), a² = l1² + r1², b² = l2² + r2².

    α = atan(r1/l1) + atan(r2/l2)        [zoo.crank]   Koch, (12.2)

    Args:
        q: Angle of the hinge [rad].
        l1: Offset of the one end along its limb [m].
        r1: Offset across it [m].
        l2: Offset of the other end along its limb [m].
        r2: Offset across it [m].
    """
    a, b = np.hypot(l1, r1), np.hypot(l2, r2)
    return ops.sqrt(a**2 + b**2 - 2.0 * a * b * ops.cos(q + np.arctan2(r1, l1) + np.arctan2(r2, l2)))


def crank_lever(q: Any, l1: float, r1: float, l2: float, r2: float) -> Any:
    """∂x/∂q = a b sin(q + α) / x [m]: the torque about the hinge per force along the spindle.

    Koch, (12.2f) (erratum: -2 a b sin(q + α) / x² is printed, which is not the derivative).

    Args:
        q: Angle of the hinge [rad].
        l1: Offset of the one end along its limb [m].
        r1: Offset across it [m].
        l2: Offset of the other end along its limb [m].
        r2: Offset across it [m].
    """
    a, b, alpha = np.hypot(l1, r1), np.hypot(l2, r2), np.arctan2(r1, l1) + np.arctan2(r2, l2)
    return a * b * ops.sin(q + alpha) / crank_length(q, l1, r1, l2, r2)


def _bar(name: str, parent: str | None, at: tuple[float, float, float], length: float, effort: float = np.inf) -> Link:
    """A bar along x of its link, on a hinge at its beginning."""
    joint = Joint(f"{name}_joint", "revolute", placement(at), _TURN, effort=effort)
    radius = min(_THICK, 0.1 * length)
    rod = bar(_PER_METRE * length, radius, (0.0, 0.0, 0.0), (length, 0.0, 0.0), touches=False)
    return link_of(name, parent, joint, [rod])
