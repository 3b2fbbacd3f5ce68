"""A limb: the joints between two links."""

from __future__ import annotations

from surefoot.errors import NotSupportedError
from surefoot.robot import Robot


def joints_between(robot: Robot, frame: str, root: str | None = None) -> list[int]:
    """Indices in the tree of the joints that move a frame against a root, from the root on.

    Args:
        robot: The robot.
        frame: End of the limb.
        root: Link at its other end, between the frame and the world; None for the base.

    Raises:
        NotSupportedError: The root does not carry the frame, no joint lies between them, or one copies another.
    """
    tree, body = robot.tree, robot.body_of(frame)
    start = robot.body_of(root) if root is not None else (-1 if robot.base_joint is None else robot.base_joint)
    way = [body, *tree.ancestors(body)] if body >= 0 else []
    if start >= 0 and start not in way:
        raise NotSupportedError(f"`{root}` does not carry `{frame}`", next_step="name a link between it and the world")
    chain = [i for i in reversed(way) if start < 0 or start in tree.ancestors(i)]
    if any(tree.mimic_source[i] >= 0 for i in chain):
        raise NotSupportedError(f"a joint on the way to `{frame}` mimics another", next_step="load it with couplings")
    if not chain:
        raise NotSupportedError(
            f"no joint moves `{frame}` against its root", next_step="name a link nearer to the world"
        )
    return chain
