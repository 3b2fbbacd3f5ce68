"""Feet and legs of a robot: their contacts, bodies and places."""

from __future__ import annotations

from numpy.typing import ArrayLike

from surefoot.errors import NotSupportedError, one_of
from surefoot.motion import Footstep
from surefoot.robot import Foot, Robot, anatomy
from surefoot.words import side_pairs


def feet_of(robot: Robot) -> tuple[Foot, Foot]:
    """The left and the right foot of a biped.

    Raises:
        NotSupportedError: It does not have one foot on each side.
    """
    feet = anatomy(robot).feet
    by_side = {foot.side: foot for foot in feet}
    if len(feet) != 2 or set(by_side) != {"left", "right"}:
        raise NotSupportedError(
            f"`{robot.name}` does not have one left and one right foot",
            evidence={"feet": [f"{foot.name} ({foot.side})" for foot in feet]},
            next_step="name the feet in `[anatomy]` of its side file, or choose a biped",
        )
    return by_side["left"], by_side["right"]


def stance_of(robot: Robot, q: ArrayLike) -> tuple[Footstep, Footstep]:
    """The left and the right foot where they are in a posture.

    Args:
        robot: A biped.
        q: (nq,) configuration.
    """
    left, right = feet_of(robot)
    frames = robot.placements(q)
    a, b = (Footstep(foot.name, frames[foot.link] @ foot.placement) for foot in (left, right))
    return a, b


def other_foot(robot: Robot, foot: str) -> str:
    """The link of the foot on the other side.

    Args:
        robot: The robot.
        foot: Link of a foot.

    Raises:
        UnknownNameError: There is no such link.
        NotSupportedError: Neither its name nor its place tells its side.
    """
    if foot not in robot.link_names:
        raise one_of("link", foot, robot.link_names)
    other = side_pairs(robot.link_names)[foot]
    if other != foot:
        return other
    links = [item.link for item in feet] if len(feet := anatomy(robot).feet) == 2 else []
    if foot not in links:
        raise NotSupportedError(
            f"the name of link `{foot}` does not name a side", next_step="name a left or right foot"
        )
    return links[1 - links.index(foot)]


def foot_contacts(robot: Robot, foot: str) -> tuple[str, ...]:
    """Names of the contact surfaces on a foot and on its toes.

    Args:
        robot: The robot.
        foot: Link of the foot.
    """
    body = robot.body_of(foot)
    return next((item.contacts for item in anatomy(robot).feet if robot.body_of(item.link) == body), ())


def leg_bodies(robot: Robot, foot: str) -> frozenset[int]:
    """Indices of the bodies of a leg: those on the way to its foot but not to the other one, and its toes.

    Args:
        robot: The robot.
        foot: Link of the foot.
    """
    tree, end, other = robot.tree, robot.body_of(foot), robot.body_of(other_foot(robot, foot))
    return frozenset({end, *tree.ancestors(end), *bodies_beyond(robot, foot)} - {other, *tree.ancestors(other)})


def bodies_beyond(robot: Robot, foot: str) -> list[int]:
    """Indices of the bodies that a foot carries: its toes.

    Args:
        robot: The robot.
        foot: Link of the foot.
    """
    end = robot.body_of(foot)
    return [i for i in range(robot.tree.n) if end in robot.tree.ancestors(i)]
