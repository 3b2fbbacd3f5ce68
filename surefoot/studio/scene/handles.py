"""`DragHandle`: a gizmo on a hand or a foot; the robot follows it."""

from __future__ import annotations

from collections.abc import Callable

import viser

from surefoot.robot import Robot
from surefoot.studio.files import RobotStore
from surefoot.studio.scene.dragging import Dragging, body_of_frame, held_contacts, placement_of_frame
from surefoot.studio.scene.limbs import Limb, limbs_of
from surefoot.studio.scene.poses import placement_of, wxyz_of
from surefoot.studio.scene.stage import Stage


def drag_choices(robot: Robot) -> dict[str, Limb]:
    """Frames that can be dragged, each with its limb: hands, feet, then the base."""
    standing = {robot.body_of(contact.frame) for contact in robot.contacts.values()}

    def rank(limb: Limb) -> tuple[bool, bool, int]:
        body = body_of_frame(robot, limb.end)
        return body == robot.base_joint, body in standing, -len(limb.bodies)

    return {limb.end: limb for limb in sorted((limb for limb in limbs_of(robot) if limb.end), key=rank)}


class DragHandle:
    """A gizmo at a frame of the robot of a stage.

    Args:
        stage: The stage.
        store: Where collision models come from.
        on_drag: Called in the thread of viser when the gizmo moves; it should post `follow`.
        on_end: The same when it is let go; it should post `settle`.
        moved: Called after the robot has moved.
    """

    def __init__(
        self,
        stage: Stage,
        store: RobotStore,
        on_drag: Callable[[], None],
        on_end: Callable[[], None],
        moved: Callable[[], None],
    ) -> None:
        self._stage, self._store = stage, store
        self._on_drag, self._on_end, self._moved = on_drag, on_end, moved
        self._gizmo: viser.TransformControlsHandle | None = None
        self._frame = ""
        self._limb: Limb | None = None
        self._dragging: Dragging | None = None
        self._is_held = False
        self.holds, self.turns, self.avoids = True, True, False

    def attach(self, frame: str, limb: Limb | None) -> None:
        """Put the gizmo on a frame.

        Args:
            frame: Its name; "" to take the gizmo away.
            limb: The limb that it belongs to.
        """
        self.detach()
        robot = self._stage.robot
        if not frame or limb is None or robot is None:
            return
        self._frame, self._limb = frame, limb
        T = placement_of_frame(robot, self._stage.q, frame)
        scale = 0.13 * self._stage.size
        self._gizmo = self._stage.scene.add_transform_controls(
            "/drag", scale, depth_test=False, line_width=3.0, disable_rotations=not self.turns,
            wxyz=wxyz_of(T[:3, :3]), position=T[:3, 3],
        )  # fmt: skip
        self._gizmo.on_update(self._update)

    def detach(self) -> None:
        """Take the gizmo away."""
        if self._gizmo is not None:
            self._gizmo.remove()
        self._gizmo, self._dragging, self._limb, self._is_held = None, None, None, False

    async def _update(self, event: viser.TransformControlsEvent) -> None:
        """In viser's thread, in order: only ask for the work."""
        self._is_held = event.phase != "end"
        (self._on_end if event.phase == "end" else self._on_drag)()

    def prepare(self) -> None:
        """Make the solver before the first drag, which would wait for it."""
        robot, limb = self._stage.robot, self._limb
        if robot is None or limb is None or self._dragging is not None:
            return
        held = held_contacts(robot, self._stage.q, limb) if self.holds else ()
        model = self._store.collision(robot) if self.avoids else None
        self._dragging = Dragging(robot, self._frame, self._stage.q, held, self.turns, model)
        self._dragging.solve(self._stage.q, placement_of_frame(robot, self._stage.q, self._frame))

    def renew(self) -> None:
        """Forget the solver: the posture or what is held has changed otherwise."""
        self._dragging = None

    def follow(self) -> None:
        """Move the robot to where the gizmo is now."""
        if self._gizmo is None:
            return
        self.prepare()
        if self._dragging is None:
            return
        q, _ = self._dragging.solve(self._stage.q, placement_of(self._gizmo))
        self._stage.pose(q)
        self._moved()

    def settle(self) -> None:
        """Put the gizmo back on the frame: after a drag, or after the robot has moved otherwise."""
        robot = self._stage.robot
        if self._gizmo is None or robot is None or self._is_held:
            return
        T = placement_of_frame(robot, self._stage.q, self._frame)
        self._gizmo.position, self._gizmo.wxyz = T[:3, 3], wxyz_of(T[:3, :3])
