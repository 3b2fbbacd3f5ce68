"""The anatomy of a robot: where it looks, which link is its torso, and which contacts make one foot.

All is found from the tree, the contacts at home and the names of the links, unless the side file gives it.

Feet: contacts near the ground at home. Where contacts of several limbs hang on one body, each limb of two joints or
more is a leg; the contacts of a leg make one foot (a foot with its toe, heel and ball).
Forward: left × up, left from the side names of the feet; else from rear to front feet by their names; else from the
ankles to the middle of the soles; else across the line between two feet, to where knees bend; else the base's x.
Directions within 15° of an axis of the base link are that axis.
Sides: by the names of the links; of two feet whose names do not tell, by their places.
Torso: the body that carries the heaviest pair of limbs that are not legs, of two sides by their names, else of the same
masses; else the heaviest body that is not part of a leg; the base link of a robot without feet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ModelError, one_of
from surefoot.geometry import convex_hull
from surefoot.robot.model import Robot, placement
from surefoot.words import side_pairs, sides_of

_NEAR_GROUND = 0.05  # contacts this far above the lowest one still belong to feet [m]
_SNAP = np.cos(np.deg2rad(15.0))  # directions this near to an axis of the base link are that axis
_BEYOND_WRIST = 0.02  # frames that are farther from the last joint of an arm are its hand [m]
_BEYOND_ANKLE = 0.01  # soles that extend further than this tell where forward is [m]
_KNEE, _BENT = (0.25, 0.75), 0.1  # shares of a leg between which knees are; how far they are thought to bend [rad]
_APART = 0.01  # limbs this far apart have sides [m]
_FRONT, _REAR = re.compile(r"front|fore", re.IGNORECASE), re.compile(r"rear|hind|back", re.IGNORECASE)
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Foot:
    """The contacts at the end of one leg.

    Args:
        name: Of its contact, or of its link if it has several contacts.
        link: The link (frame) that carries it; toes hang on it.
        contacts: Names of its contact surfaces.
        placement: T_link_foot (4, 4): the origin is the middle of the soles' common box, on the sole; z is the normal
            of the sole, up; x is the robot's forward.
        sole: (k, 2) corners of the soles' common hull in the foot frame, counter-clockwise [m]; one for a point foot.
        side: "left", "right" or "middle".
    """

    name: str
    link: str
    contacts: tuple[str, ...]
    placement: Array
    sole: Array
    side: str


@dataclass(frozen=True, eq=False)
class Anatomy:
    """Where a robot looks, its torso and its feet.

    Args:
        forward: (3,) horizontal unit vector in world axes at home.
        torso: The link that carries arms and head; the base link of a robot without.
        feet: In the order of the robot's contacts.
        hands: Links at the ends of the heaviest pair of limbs on the torso that are not legs, the left one first; none
            if there is no such pair.
    """

    forward: Array
    torso: str
    feet: tuple[Foot, ...]
    hands: tuple[str, ...] = ()

    def foot(self, name: str) -> Foot:
        """A foot by its name.

        Raises:
            UnknownNameError: There is no such foot.
        """
        for foot in self.feet:
            if foot.name == name:
                return foot
        raise one_of("foot", name, [foot.name for foot in self.feet])


@lru_cache(maxsize=64)
def anatomy(robot: Robot) -> Anatomy:
    """The anatomy of a robot; computed once.

    Args:
        robot: Any robot; one without contacts has no feet.

    Raises:
        ModelError: The side file gives a forward that is not horizontal, or a contact to two feet.
        UnknownNameError: The side file names a link or contact that does not exist.
    """
    frames = robot.placements(robot.home)
    groups = _given_feet(robot) if robot.hints.feet else _found_feet(robot, frames)
    forward = _given_forward(robot) if robot.hints.forward else _found_forward(robot, frames, groups)
    left = np.cross(_UP, forward)
    sides = sides_of(robot.frame_names)
    if len(groups) == 2 and {sides[group.link] for group in groups} != {"left", "right"}:
        soles = _soles(robot, groups)
        by_place = sorted((group.link for group in groups), key=lambda link: float(left @ soles[link]))
        if left @ (soles[by_place[1]] - soles[by_place[0]]) > _APART:
            sides |= dict(zip(by_place, ("right", "left"), strict=True))
    feet = tuple(_foot(robot, frames, forward, sides, group) for group in groups)
    return Anatomy(forward, _torso(robot, groups), feet, _hands(robot, groups, frames, left))


@dataclass(frozen=True)
class _Group:
    """Contacts of one foot and its link; the name is "" if it is to be found."""

    contacts: tuple[str, ...]
    link: str
    name: str = ""


def _given_feet(robot: Robot) -> list[_Group]:
    seen: set[str] = set()
    for i, contact in ((i, name) for i, names in robot.hints.feet.items() for name in names):
        if contact not in robot.contacts:
            raise one_of("contact", contact, robot.contacts)
        if contact in seen:
            raise ModelError(f"contact `{contact}` belongs to two feet", key=("anatomy", "feet", i))
        seen.add(contact)
    return [_Group(names, _link(robot, names), name) for name, names in robot.hints.feet.items() if names]


def _found_feet(robot: Robot, frames: dict[str, Array]) -> list[_Group]:
    """Contacts near the ground, grouped by the leg that they are on."""
    lows = {name: float(corners[:, 2].min()) for name, corners in robot.contact_corners(robot.home).items()}
    floor = min(lows.values(), default=0.0)
    root = -1 if robot.base_joint is None else robot.base_joint
    bodies = {
        name: robot.body_of(robot.contacts[name].frame) for name, low in lows.items() if low < floor + _NEAR_GROUND
    }
    legs = _legs(robot, root, {name: body for name, body in bodies.items() if body > root})
    return [_Group(names, _link(robot, names)) for names in legs]


def _legs(robot: Robot, body: int, contacts: dict[str, int]) -> list[tuple[str, ...]]:
    """Contacts below a body, those of each leg together."""
    limbs: dict[int, dict[str, int]] = {}
    for name, own in contacts.items():
        path = [own, *robot.tree.ancestors(own)]
        if own == body:
            return [tuple(contacts)]  # a foot and its toes
        limbs.setdefault(path[path.index(body) - 1] if body in path else path[-1], {})[name] = own
    are_legs = all(limb not in found.values() for limb, found in limbs.items())  # two joints or more to every contact
    if len(limbs) > 1 and not are_legs:
        return [tuple(contacts)]
    return [names for limb, found in limbs.items() for names in _legs(robot, limb, found)]


def _link(robot: Robot, contacts: Sequence[str]) -> str:
    """The link that carries contacts: the frame of the first one whose body carries the others, else their body."""
    frames = [robot.contacts[name].frame for name in contacts]
    paths = [[robot.body_of(frame), *robot.tree.ancestors(robot.body_of(frame))] for frame in frames]
    shared = next((body for body in paths[0] if all(body in path for path in paths)), -1)
    own = next((frame for frame in frames if robot.body_of(frame) == shared), None)
    return own or (robot.tree.body_names[shared] if shared >= 0 else frames[0])


def _given_forward(robot: Robot) -> Array:
    given = np.array(robot.hints.forward, dtype=float)
    if not np.isfinite(given).all() or abs(given[2]) > 1e-6 or np.linalg.norm(given) < 1e-6:
        raise ModelError(
            f"forward {given.tolist()} is not a horizontal direction",
            key=("anatomy", "forward"),
            next_step="give it in world axes at home, e.g. [1, 0, 0]",
        )
    return _unit(given)


def _found_forward(robot: Robot, frames: dict[str, Array], groups: Sequence[_Group]) -> Array:
    axes = frames[robot.tree.body_names[robot.base_joint or 0]][:3, :3] if robot.tree.n else np.eye(3)
    direction = _raw_forward(robot, frames, groups)
    if direction is None:
        return _horizontal(axes[:, 0])
    candidates = np.vstack([axes.T, -axes.T])
    near = candidates[int(np.argmax(candidates @ direction))]
    return _horizontal(near if near @ direction > _SNAP else direction)


def _raw_forward(robot: Robot, frames: dict[str, Array], groups: Sequence[_Group]) -> Array | None:
    """Forward as sides, names or soles tell it, in this order; None if they tell nothing."""
    sides, links = sides_of(robot.frame_names), [group.link for group in groups]
    soles = _soles(robot, groups)
    left = _difference(soles, *([x for x in links if sides[x] == side] for side in ("left", "right")))
    if left is not None:
        return _unit(np.cross(left, _UP))
    front = _difference(soles, filter(_FRONT.search, links), filter(_REAR.search, links))
    if front is not None or not groups:
        return front
    ankles = np.mean([frames[robot.tree.body_names[robot.body_of(link)]][:3, 3] for link in links], axis=0)
    reach = (np.mean(list(soles.values()), axis=0) - ankles) * [1.0, 1.0, 0.0]
    if np.linalg.norm(reach) > _BEYOND_ANKLE:
        return _unit(reach)
    line = _difference(soles, links[:1], links[1:]) if len(links) == 2 else None
    if line is None:
        return None
    across = np.cross(line, _UP)
    first = across[np.argmax(np.abs(across))]  # if knees do not tell: that of the positive axis
    return np.asarray(np.sign(_knees_ahead(robot, frames, soles, across) or first) * across)


def _knees_ahead(robot: Robot, frames: dict[str, Array], soles: dict[str, Array], across: Array) -> float:
    """How far knees are, or bend, along a direction, as seen from the line between hip and sole; 0 without knees.

    Args:
        robot: The robot.
        frames: (4, 4) placements at home.
        soles: (3,) middles of the soles by link.
        across: (3,) horizontal, square to the line between the feet.
    """
    tree, out = robot.tree, 0.0
    for link, sole in soles.items():
        bodies = [k for k in (robot.body_of(link), *tree.ancestors(robot.body_of(link))) if k != robot.base_joint]
        places = {k: frames[tree.joint_names[k]][:3, 3] for k in bodies}
        leg = places[bodies[-1]] - sole
        for k in bodies:
            share, entry = float((places[k] - sole) @ leg / (leg @ leg)), int(tree.q_index[k])
            if tree.nq_of(k) != 1 or not _KNEE[0] < share < _KNEE[1]:
                continue
            out += float((places[k] - sole - share * leg) @ across)
            middle = 0.5 * (robot.limits.lower[entry] + robot.limits.upper[entry])
            if np.isfinite(middle):
                turn = frames[tree.joint_names[k]][:3, :3] @ tree.axes[k] * np.sign(middle - robot.home[entry])
                out -= _BENT * float(np.cross(turn, sole - places[k]) @ across)
    return out


def _soles(robot: Robot, groups: Sequence[_Group]) -> dict[str, Array]:
    """Middle of the corners of each foot at home, by link, (3,) [m]."""
    corners = robot.contact_corners(robot.home)
    return {g.link: np.vstack([corners[name] for name in g.contacts]).mean(axis=0) for g in groups}


def _difference(points: dict[str, Array], ahead: Iterable[str], behind: Iterable[str]) -> Array | None:
    """Horizontal unit vector from the middle of some points to that of others; None if there is none."""
    to, of = [points[name] for name in ahead], [points[name] for name in behind]
    if not to or not of:
        return None
    way = (np.mean(to, axis=0) - np.mean(of, axis=0)) * [1.0, 1.0, 0.0]
    return _unit(way) if np.linalg.norm(way) > 1e-6 else None


def _foot(robot: Robot, frames: dict[str, Array], forward: Array, sides: dict[str, str], group: _Group) -> Foot:
    corners = np.vstack([robot.contact_corners(robot.home)[name] for name in group.contacts])
    surfaces = [robot.contacts[name] for name in group.contacts]
    flat = [frames[x.frame][:3, :3] @ x.placement[:3, 2] for x in surfaces if x.kind in ("rectangle", "polygon")]
    z = _unit(np.sum(flat, axis=0)) if flat else _UP
    x = _unit(forward - (forward @ z) * z)
    rotation = np.column_stack([x, np.cross(z, x), z])
    local = corners @ rotation
    middle = np.append(0.5 * (local.min(axis=0) + local.max(axis=0))[:2], local[:, 2].mean())
    T = np.linalg.inv(frames[group.link]) @ placement(rotation @ middle, rotation)
    sole = (local - middle)[:, :2]
    hull = convex_hull(sole) if len(sole) > 2 else sole
    for array in (T, hull):
        array.setflags(write=False)
    name = group.name or (group.contacts[0] if len(group.contacts) == 1 else group.link)
    return Foot(name, group.link, group.contacts, T, hull, sides[group.link])


def _torso(robot: Robot, groups: Sequence[_Group]) -> str:
    tree = robot.tree
    if robot.hints.torso is not None:
        if robot.hints.torso not in robot.link_names:
            raise one_of("link", robot.hints.torso, robot.link_names)
        return robot.hints.torso
    if not groups:
        return tree.body_names[robot.base_joint or 0] if tree.n else robot.link_names[0]
    return tree.body_names[_torso_body(robot, groups)]


def _torso_body(robot: Robot, groups: Sequence[_Group]) -> int:
    tree = robot.tree
    arms = _arms(robot, groups)
    if arms:
        return int(tree.parents[arms[0]])
    paths = _paths_to_feet(robot, groups)
    to_feet = set[int]().union(*paths)
    trunk = {body for body in to_feet if sum(body in path for path in paths) > 1} or {robot.base_joint or 0}
    in_legs = set[int]().union(*(_below(robot, i) for i in to_feet - trunk))
    upper = [i for i in range(tree.n) if i not in in_legs]
    return max(upper, key=lambda i: tree.masses[i])


def _paths_to_feet(robot: Robot, groups: Sequence[_Group]) -> list[set[int]]:
    feet = [robot.body_of(group.link) for group in groups]
    return [{foot, *robot.tree.ancestors(foot)} for foot in feet]


def _below(robot: Robot, body: int) -> set[int]:
    """A body and all that it carries."""
    return {body, *(k for k in range(robot.tree.n) if body in robot.tree.ancestors(k))}


def _arms(robot: Robot, groups: Sequence[_Group]) -> tuple[int, int] | None:
    """First bodies of the heaviest pair of limbs that are not legs: of two sides by their names, else of one kind."""
    tree, to_feet = robot.tree, set[int]().union(*_paths_to_feet(robot, groups))
    names, others = tree.body_names, side_pairs(tree.body_names)
    limbs = {i: _below(robot, i) for i in range(tree.n) if i not in to_feet}
    masses = {i: sorted(float(tree.masses[k]) for k in limb) for i, limb in limbs.items()}
    pairs = [(a, b) for a, b in combinations(limbs, 2) if tree.parents[a] == tree.parents[b] >= 0]
    named = [(a, b) for a, b in pairs if others[names[a]] == names[b]]
    alike = [(a, b) for a, b in pairs if len(masses[a]) == len(masses[b]) and np.allclose(masses[a], masses[b], 1e-3)]
    return max(named or alike, key=lambda pair: sum(masses[pair[0]] + masses[pair[1]]), default=None)


def _hands(robot: Robot, groups: Sequence[_Group], frames: dict[str, Array], left: Array) -> tuple[str, ...]:
    """The outermost frames of the last bodies of the arms before they branch into fingers, the left one first."""
    arms, names = _arms(robot, groups), robot.tree.body_names
    if not groups or arms is None:
        return ()
    ends, sides = {}, sides_of(names)
    for body in arms:
        children = [body]
        while len(children) == 1:
            end = children[0]
            children = [k for k in range(robot.tree.n) if robot.tree.parents[k] == end]
        ends[body] = end
    first, second = arms
    is_named = sides[names[ends[first]]] != sides[names[ends[second]]]
    by_place = {body: -float(left @ frames[names[body]][:3, 3]) for body in arms}
    order = sorted(arms, key=lambda body: sides[names[ends[body]]] != "left" if is_named else by_place[body])
    return tuple(_outermost_frame(robot, ends[body]) for body in order)


def _outermost_frame(robot: Robot, body: int) -> str:
    """The frame of a body that is farthest from its joint: an added one, else a link; the body's own within 2 cm."""
    away = {
        str(frame.name): float(np.linalg.norm(frame.placement.translation))
        for frame in robot.model.frames
        if int(frame.parentJoint) - 1 == body
    }
    for names in ([item.name for item in robot.frames], robot.link_names):
        beyond = {name: away[name] for name in names if away.get(name, 0.0) > _BEYOND_WRIST}
        if beyond:
            return max(beyond, key=lambda name: beyond[name])
    return robot.tree.body_names[body]


def _horizontal(direction: Array) -> Array:
    """Unit vector, read-only, without −0, of the horizontal part; x of the world where there is none."""
    flat = direction * [1.0, 1.0, 0.0]
    out = _unit(flat) + 0.0 if np.linalg.norm(flat) > 1e-6 else np.array([1.0, 0.0, 0.0])
    out.setflags(write=False)
    return out


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))
