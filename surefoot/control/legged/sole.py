"""`SwingSole`: how a foot in the air is turned, as a wish that gives way to the limits of the ankle."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.control.whole_body import FREE, ContactHandle, TaskHandle, WholeBody
from surefoot.robot import Foot, Robot
from surefoot.tasks import FrameOrientation

__all__ = ["SwingSole", "sole_tasks"]


def sole_tasks(robot: Robot, feet: tuple[Foot, ...], weight: float) -> list[FrameOrientation]:
    """A task for each foot with one sole.

    A foot with several surfaces, as one with toes, is turned by their places.

    Args:
        robot: The robot.
        feet: Its feet.
        weight: Of the tasks.
    """
    flat = [foot for foot in feet if len(foot.contacts) == 1 and all(robot.contacts[foot.contacts[0]].tied)]
    return [FrameOrientation(foot.link, np.eye(3), name=f"sole {foot.name}", weight=weight) for foot in flat]


class SwingSole:
    """Turns a sole in the air.

    The place of a foot in the air comes before the centre of mass and the trunk. If its turn did as well, an ankle at
    its limit, or a leg with five joints, would lift or tilt the whole robot to keep the sole level. Feet without a task
    of `sole_tasks` are turned by their contacts.

    Args:
        body: The whole-body problem.
        foot: The foot.
        gains: Stiffness and damping.
    """

    def __init__(self, body: WholeBody, foot: Foot, gains: tuple[float, float]) -> None:
        self._task: TaskHandle | None = None
        if f"sole {foot.name}" not in {task.name for task in body.rows.tasks}:
            return
        self._task = body[f"sole {foot.name}"]
        self._contact: ContactHandle = body.contact(foot.contacts[0])
        self._turns = np.array([k for k, axis in enumerate(body.rows.tied[foot.contacts[0]]) if axis > 2])
        self._to_link = foot.placement[:3, :3].T
        self._task.set_gains(*gains)
        self.stand()

    def stand(self) -> None:
        """The contact holds it."""
        self._switch(0.0, 0.0)

    def swing(self) -> None:
        """It is in the air."""
        self._switch(1.0, FREE)

    def _switch(self, activation: float, slack: float) -> None:
        if self._task is not None:
            self._contact.slack[self._turns] = slack
            self._task.set_activation(activation)

    def lead(self, R: Array, spins: Array) -> None:
        """Where it should be turned.

        Args:
            R: (3, 3) of the foot in world.
            spins: (2, 3) its angular velocity in world, and the rate of that.
        """
        if self._task is not None:
            self._task.target[:] = (R @ self._to_link).ravel()
            self._task.set_rates(*spins)
