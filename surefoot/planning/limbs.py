"""Limbs of three joints: from the place of the foot to the joint angles, in closed form.

A leg whose first axis is at right angles to the second, and whose second and third axes are parallel, lies in a plane
that turns about the first axis. The first angle puts the foot into this plane, the other two are those of a planar arm
with two links. Of the four solutions (plane before or behind, knee out or in), the one is taken that contains the home
posture. Craig 2005, section 4.4, for the planar arm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.planning.iterated import IteratedLimb
from surefoot.robot import Robot

_SQUARE = 1e-6  # axes count as parallel or at right angles to this


@dataclass(frozen=True, eq=False)
class Limb:
    """A leg that hangs on the base, as it is at joint angles zero, in the frame of the base.

    Args:
        contact: Name of its contact surface.
        rows: (3,) places of its joints in q.
        origins: (3, 3) a point on each axis [m].
        axes: (3, 3) the axes.
        foot: (3,) the held point: the centre of a ball that touches, else the contact itself [m].
        home: (3,) joint angles at home [rad].
        lower: (3,) joint limits [rad].
        upper: (3,) joint limits [rad].
        bodies: Its three bodies in the tree.
    """

    contact: str
    rows: tuple[int, ...]
    origins: Array
    axes: Array
    foot: Array
    home: Array
    lower: Array
    upper: Array
    bodies: tuple[int, ...]

    sole = None
    """A point: it keeps no attitude."""

    @property
    def stretch(self) -> float:
        """Distance of the foot from the first joint of its span at home, as a share of the span."""
        return float(np.linalg.norm(self.forward(self.home) - self.origins[1])) / self.span

    def forward(self, angles: Array) -> Array:
        """(3,) place of the foot in the base [m].

        Args:
            angles: (3,) [rad].
        """
        point = np.array(self.foot)
        for k in (2, 1, 0):
            turn = pin.AngleAxis(float(angles[k]), self.axes[k]).toRotationMatrix()
            point = self.origins[k] + turn @ (point - self.origins[k])
        return point

    @property
    def span(self) -> float:
        """Length of the limb from its second joint on, stretched out [m]."""
        links = self.origins[2] - self.origins[1], self.foot - self.origins[2]
        return float(sum(np.linalg.norm(link) for link in links))

    def angles(self, turn: Array, foot: Array) -> tuple[Array, Any]:
        """Joint angles (3,) that put the foot somewhere, and a number that is positive inside the reach.

        Args:
            turn: (3, 3) R_world_base, which makes no difference to a point.
            foot: (3,) place of the foot in the frame of the base [m]; numbers or symbols.
        """
        return limb_angles(self, foot)

    @property
    def numbers(self) -> tuple[Array, ...]:
        """All that the closed form depends on."""
        return self.origins, self.axes, self.foot, self.home, self.lower, self.upper, np.array(self.rows)


AnyLimb = Limb | IteratedLimb


def limbs_of(robot: Robot) -> tuple[AnyLimb, ...]:
    """The limbs that end in the contacts of a robot: in closed form where they have one, else by iteration.

    A limb owns the joints between the base and its contact that no other contact needs; others stay at home.

    Args:
        robot: A robot with a floating base.

    Raises:
        NotSupportedError: It has another base, or a limb has too few joints.
    """
    if robot.base_joint is None or robot.tree.kinds[robot.base_joint] != "free" or not robot.contacts:
        raise NotSupportedError(
            f"planning of stances needs a floating base with contacts; `{robot.name}` has none",
            next_step='load it with base="floating" (`robot.base` in a scenario), or name its contacts in a side file',
        )
    tree, ends = robot.tree, {name: robot.body_of(surface.frame) for name, surface in robot.contacts.items()}
    lines = {name: {end, *tree.ancestors(end)} for name, end in ends.items()}
    limbs: list[AnyLimb] = []
    for name, line in lines.items():
        others = {i for other, bodies in lines.items() if other != name for i in bodies}
        own = sorted(line - others - {int(robot.base_joint)})
        limbs.append(_closed_limb(robot, name, own) or IteratedLimb.of(robot, name, own))
    return tuple(limbs)


def _closed_limb(robot: Robot, name: str, chain: list[int]) -> Limb | None:
    """The limb if it has a closed form."""
    tree, surface, base = robot.tree, robot.contacts[name], int(robot.base_joint or 0)
    turning = len(chain) == 3 and all(tree.kinds[i] == "revolute" for i in chain)
    turning = turning and int(tree.parents[chain[0]]) == base
    if surface.kind != "point" or not turning or any(int(tree.mimic_source[i]) >= 0 for i in chain):
        return None
    zero = np.zeros(robot.nq)
    zero[int(tree.q_index[base]) + 6] = 1.0
    frames = robot.placements(zero)
    home = np.array([robot.home[int(tree.q_index[i])] for i in chain])
    placed = np.linalg.inv(frames[tree.body_names[base]]) @ np.array([frames[tree.body_names[i]] for i in chain])
    centre = np.linalg.inv(frames[tree.body_names[base]]) @ frames[surface.frame] @ surface.placement
    axes = np.array([T[:3, :3] @ tree.axes[i] for T, i in zip(placed, chain, strict=True)])
    if abs(axes[0] @ axes[1]) > _SQUARE or np.linalg.norm(np.cross(axes[1], axes[2])) > _SQUARE:
        return None
    rows = tuple(int(tree.q_index[i]) for i in chain)
    return Limb(
        name,
        rows,
        placed[:, :3, 3],
        axes,
        centre[:3, 3] + centre[:3, 2] * surface.radius,
        home,
        np.array([robot.limits.lower[row] for row in rows]),
        np.array([robot.limits.upper[row] for row in rows]),
        tuple(chain),
    )


def limb_angles(limb: Limb, foot: Array) -> tuple[Array, Any]:
    """Joint angles (3,) that put the foot somewhere, and how far inside its reach that is.

    Args:
        limb: The limb.
        foot: (3,) place of the foot in the frame of the base [m]; numbers or symbols.

    Returns:
        (3,) angles [rad] nearest to home by whole turns, and a number that is positive inside the reach: the smaller
        one of the free share of the radius about the first axis and of the distance of the knee from its two ends.
    """
    form = _PlanarForm.of(limb)
    d = foot - limb.origins[0]
    along, u, w = d @ limb.axes[0], d @ form.normal, d @ form.across
    square = u * u + w * w
    room = square - form.offset * form.offset
    height = form.side * ops.sqrt(ops.maximum(room, 0.0))
    # the foot in the plane of the leg: `offset` along its normal, `height` across
    first = _turn(form.offset * w - height * u, form.offset * u + height * w, float(limb.home[0]))
    x, y = height - form.shoulder[0], along - form.shoulder[1]
    cosine = (x * x + y * y - form.upper**2 - form.lower**2) / (2.0 * form.upper * form.lower)
    bent = ops.minimum(ops.maximum(cosine, -1.0), 1.0)
    sine = form.knee * ops.sqrt(ops.maximum(1.0 - bent * bent, 0.0))
    third = form.turns * _turn(
        sine * form.bend[0] - bent * form.bend[1],
        bent * form.bend[0] + sine * form.bend[1],
        form.turns * float(limb.home[2]),
    )
    # the way from hip to foot at second angle zero, and where it must point
    a, b = form.upper + form.lower * bent, form.lower * sine
    px, py = a * form.link[0] - b * form.link[1], a * form.link[1] + b * form.link[0]
    second = _turn(px * y - py * x, px * x + py * y, float(limb.home[1]))
    reach = ops.minimum(1.0 - cosine, 1.0 + cosine)
    if form.offset != 0.0:
        reach = ops.minimum(reach, room / (form.offset * form.offset))
    return ops.stack([first, second, third]), reach


def _turn(sine: Any, cosine: Any, near: float) -> Any:
    """The angle of a direction, within half a turn of `near`."""
    s, c = np.sin(near), np.cos(near)
    return near + ops.arctan2(sine * c - cosine * s, cosine * c + sine * s)


@dataclass(frozen=True, eq=False)
class _PlanarForm:
    """A limb as a planar arm in a plane that turns: lengths, offsets and the branch of its home posture.

    In the plane, coordinates are (across, along the first axis); angles about the normal are positive from the first
    to the second.
    """

    normal: Array
    across: Array
    offset: float
    side: float
    shoulder: Array
    upper: float
    lower: float
    link: Array
    bend: Array
    knee: float
    turns: float

    @classmethod
    def of(cls, limb: Limb) -> _PlanarForm:
        first, second, third = limb.axes
        across = np.cross(first, second)  # so that (across, first, second) is right-handed
        plane = np.array([across, first])
        turns = float(np.sign(second @ third))
        shoulder = plane @ (limb.origins[1] - limb.origins[0])
        link = plane @ (limb.origins[2] - limb.origins[1])
        shank = plane @ (limb.foot - limb.origins[2])
        upper, lower = float(np.linalg.norm(link)), float(np.linalg.norm(shank))
        link, shank = link / upper, shank / lower
        bend = np.array([link @ shank, link[0] * shank[1] - link[1] * shank[0]])
        knee = np.arctan2(bend[1], bend[0]) + turns * limb.home[2]
        reached = plane @ (_turned(limb, limb.forward(limb.home)) - limb.origins[0])
        return cls(
            second,
            across,
            float(second @ (limb.foot - limb.origins[0])),
            1.0 if reached[0] >= 0.0 else -1.0,
            shoulder,
            upper,
            lower,
            link,
            bend,
            1.0 if np.sin(knee) >= 0.0 else -1.0,
            turns,
        )


def _turned(limb: Limb, foot: Array) -> Array:
    """A foot in the base, turned back about the first axis by its home angle."""
    back = pin.AngleAxis(-float(limb.home[0]), limb.axes[0]).toRotationMatrix()
    out: Array = limb.origins[0] + back @ (foot - limb.origins[0])
    return out
