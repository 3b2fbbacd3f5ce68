"""Plans of footfalls in a scene: the goal as a gizmo, and footfalls while they are planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import viser

from surefoot.studio.scene.stage import Stage

_FOOTFALL, _WAY = (214, 73, 42), (91, 143, 217)
_LIFT = 0.004  # of what is drawn over the ground [m]


class PlanNodes:
    """Footholds of a plan, and lines from each to the next one of the same limb."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._nodes: list[viser.SceneNodeHandle] = []
        self.count = 0
        """Footholds that are shown."""

    def show(self, ways: Mapping[str, list[list[float]]]) -> None:
        """Show other footholds.

        Args:
            ways: For each limb its footholds in order, in world [m]; empty to show none.
        """
        for node in self._nodes:
            node.remove()
        self._nodes, lines = [], [np.add(way, (0.0, 0.0, _LIFT)) for way in ways.values() if len(way)]
        self.count = sum(len(line) for line in lines)
        if not lines:
            return
        points, size = np.concatenate(lines), 0.012 * self._stage.size
        dots = self._stage.scene.add_point_cloud(
            "/plan/footholds", points, _FOOTFALL, point_size=size, point_shape="circle"
        )
        self._nodes.append(dots)
        steps = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines])
        if len(steps):
            self._nodes.append(self._stage.scene.add_line_segments("/plan/ways", steps, _WAY, thickness=2.0))


class GoalHandle:
    """A gizmo on the ground, by which the goal of a plan is pulled.

    Args:
        stage: The stage.
        on_pull: Called in the thread of viser with x and y of the goal [m], as seen from the start.
    """

    def __init__(self, stage: Stage, on_pull: Callable[[float, float], None]) -> None:
        self._stage, self._on_pull = stage, on_pull
        self._gizmo: viser.TransformControlsHandle | None = None

    def show(self, goal: tuple[float, float] | None) -> None:
        """Put the gizmo somewhere.

        Args:
            goal: x and y [m]; None to take it away.
        """
        if self._gizmo is not None:
            self._gizmo.remove()
            self._gizmo = None
        if goal is None:
            return
        self._gizmo = self._stage.scene.add_transform_controls(
            "/goal", 0.2, depth_test=False, line_width=3.0, disable_rotations=True, active_axes=(True, True, False),
            position=(*goal, 0.0),
        )  # fmt: skip
        self._gizmo.on_update(self._update)

    async def _update(self, event: viser.TransformControlsEvent) -> None:
        x, y, _ = event.target.position
        self._on_pull(float(x), float(y))
