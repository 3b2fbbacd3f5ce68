"""The hand that a scenario means if it names none."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.errors import NotSupportedError
from surefoot.robot import Robot, anatomy

_LEAST = 0.01  # way of a hand per turn of its arm that counts, share of its height [1/rad]


def hand_of(robot: Robot, directions: int = 0) -> str:
    """The first hand of a robot: a link or frame.

    Args:
        robot: The robot.
        directions: In how many its arm must move it.
    """
    hands = [hand for hand in anatomy(robot).hands if directions == 0 or _directions(robot, hand) >= directions]
    if not hands:
        raise NotSupportedError(
            f"`{robot.name}` has no hands that could reach: it has no arm",
            subject=robot.name,
            kind="robot",
            next_step="take a robot with arms, such as `g1`, or give a `frame`",
        )
    return hands[0]


def _directions(robot: Robot, hand: str) -> int:
    """In how many directions an arm moves a hand, in a posture in which it is not stretched."""
    tree, model = robot.tree, robot.model
    trunk, body = robot.body_of(anatomy(robot).torso), robot.body_of(hand)
    arm = [k for k in (body, *tree.ancestors(body)) if k != trunk and k not in tree.ancestors(trunk)]
    columns = [int(tree.v_index[k]) + i for k in arm for i in range(tree.nv_of(k))]
    q = pin.integrate(model, np.array(robot.home), np.linspace(0.2, 0.5, robot.nv))
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    J = pin.computeFrameJacobian(model, model.createData(), q, robot.frame_id(hand), axes)[:3, columns]
    height = max(float(pin.centerOfMass(model, model.createData(), np.array(robot.home))[2]), _LEAST)
    return int((np.linalg.svd(J, compute_uv=False) > _LEAST * height).sum()) if columns else 0
