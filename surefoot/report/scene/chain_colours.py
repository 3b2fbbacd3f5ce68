"""Colours that distinguish the limbs of a robot."""

from __future__ import annotations

from surefoot.robot import Robot

Colour = tuple[float, float, float, float]
_TRUNK: Colour = (0.86, 0.88, 0.90, 1.0)
_WORLD: Colour = (0.42, 0.45, 0.50, 1.0)
_DARK: Colour = (0.23, 0.26, 0.31, 1.0)
_LEFT: Colour = (0.16, 0.47, 0.84, 1.0)
_RIGHT: Colour = (0.09, 0.60, 0.53, 1.0)
_MIDDLE: Colour = (0.33, 0.42, 0.62, 1.0)


def chain_colours(robot: Robot) -> dict[int, Colour]:
    """A colour for every body: trunk light, limbs dark and light in turn, their ends blue (left), teal or slate.

    Returns:
        By index of the body; −1 is what is fixed to the world.
    """
    tree = robot.tree
    trunk = set() if robot.base_joint is None else trunk_bodies(robot)  # an arm on a table has none
    colours: dict[int, Colour] = {-1: _WORLD}
    places = robot.placements(robot.home) if tree.n else {}
    for i in range(tree.n):
        children = tree.children(i)
        if i in trunk:
            colours[i] = _TRUNK
        elif not children:
            colours[i] = _side(float(places[tree.body_names[i]][1, 3]))
        else:
            depth = sum(1 for k in tree.ancestors(i) if k not in trunk)
            colours[i] = _DARK if depth % 2 == 0 else _TRUNK
    return colours


def _side(y: float) -> Colour:
    """By the place across [m]."""
    return _MIDDLE if abs(y) < 0.01 else _LEFT if y > 0.0 else _RIGHT


def trunk_bodies(robot: Robot) -> set[int]:
    """Bodies that limbs hang on: with two or more children, and all that carry them; the base of a robot that moves."""
    tree = robot.tree
    forks = {i for i in range(tree.n) if len(tree.children(i)) > 1 and _size(robot, i) > 0.2 * tree.n}
    trunk = forks | {k for i in forks for k in tree.ancestors(i)}
    return trunk | ({robot.base_joint} if robot.base_joint is not None else set())


def _size(robot: Robot, i: int) -> int:
    """Bodies of the subtree of body i, itself included."""
    return 1 + sum(_size(robot, k) for k in robot.tree.children(i))
