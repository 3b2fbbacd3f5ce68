"""The limbs of a robot: what is moved together, what it is called, and which frame at its end can be dragged."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from surefoot.report.scene import trunk_bodies
from surefoot.robot import Robot

_EMPTY_WORDS = {"joint", "link", "jnt"}


@dataclass(frozen=True)
class Limb:
    """Bodies that hang on the trunk, or the trunk itself.

    Args:
        title: For people.
        shared: Words that the names of all its joints have.
        bodies: Indices in the tree, from the trunk to the ends.
        end: Frame at its end that can be dragged; "" if there is none.
    """

    title: str
    shared: frozenset[str]
    bodies: tuple[int, ...]
    end: str = ""

    def short(self, joint: str) -> str:
        """The name of a joint without the words that all joints of the limb have."""
        own = [word for word in words(joint) if word not in self.shared]
        return " ".join(own or words(joint))


def limbs_of(robot: Robot) -> tuple[Limb, ...]:
    """Trunk and limbs in the order of the tree; a limb begins where it leaves the trunk, or the world."""
    tree = robot.tree
    trunk = trunk_bodies(robot) & set(range(tree.n))
    roots = [i for i in range(tree.n) if i not in trunk and (tree.parents[i] < 0 or int(tree.parents[i]) in trunk)]
    limbs = [_limb(robot, _subtree(robot, root)) for root in roots]
    own = tuple(sorted(trunk))
    return (*([_trunk(robot, own)] if own else []), *limbs)


def words(name: str) -> tuple[str, ...]:
    """The words of a name: `LeftHip_pitch_joint` is left, hip, pitch."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    found = [word for word in re.split(r"[\s_./:-]+", split.lower()) if word]
    return tuple(word for word in found if word not in _EMPTY_WORDS) or tuple(found) or (name,)


def _trunk(robot: Robot, bodies: tuple[int, ...]) -> Limb:
    """The base that moves and what carries the limbs; without such a base, a limb like any other."""
    if robot.base_joint is None:
        last = next(link for link in reversed(robot.link_names) if robot.body_of(link) == bodies[-1])
        return replace(_limb(robot, bodies), end=last)
    return Limb("Trunk", frozenset(), bodies, robot.tree.body_names[robot.base_joint])


def _limb(robot: Robot, bodies: tuple[int, ...]) -> Limb:
    names = [words(robot.tree.joint_names[i]) for i in bodies]
    shared = [word for word in names[0] if all(word in name for name in names)]
    own = [[word for word in name if word not in shared] for name in names]
    span = dict.fromkeys(name[0] for name in (own[0], own[-1]) if name)
    return Limb(
        " ".join([*shared, " … ".join(span)]).strip().capitalize(), frozenset(shared), bodies, _end(robot, bodies)
    )


def _subtree(robot: Robot, root: int) -> tuple[int, ...]:
    found = {root}
    for i in range(root + 1, robot.tree.n):
        if int(robot.tree.parents[i]) in found:
            found.add(i)
    return tuple(sorted(found))


def _end(robot: Robot, bodies: tuple[int, ...]) -> str:
    """The contact at the end of a limb if it is the only one, else the last link before the fingers."""
    contacts = [name for name, contact in robot.contacts.items() if robot.body_of(contact.frame) in bodies]
    if len(contacts) == 1:
        return contacts[0]
    last = bodies[0]
    while len(children := robot.tree.children(last)) == 1:
        last = children[0]
    return next((link for link in reversed(robot.link_names) if robot.body_of(link) == last), "")
