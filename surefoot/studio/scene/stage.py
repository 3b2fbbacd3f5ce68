"""`Stage`: the scene of one tab: ground, light, camera, and the robot in a posture."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import viser

from surefoot.arrays import Array
from surefoot.report import SceneMesh
from surefoot.robot import Robot
from surefoot.studio.scene.poses import wxyz_of

_SIDE = np.array([0.86, -1.0, 0.42])
"""Where the camera stands, seen from the robot: in front of it, on its right, a little above."""
_NARROW = 0.65  # width over height of windows that only phones have
_TALL = 0.5
"""Width over height of the scene of a phone."""


class Stage:
    """The scene of a tab. All its nodes belong to this tab alone.

    Args:
        client: The tab.
        plain: Without shadows, for machines without a graphics card.
    """

    def __init__(self, client: viser.ClientHandle, plain: bool = False) -> None:
        self._client, self.scene = client, client.scene
        self.robot: Robot | None = None
        self.q: Array = np.zeros(0)
        self.on_robot: list[Callable[[], None]] = []
        """Called when there is another robot."""
        self.on_posture: list[Callable[[], None]] = []
        """Called after the robot has moved."""
        self._data: pin.Data | None = None
        self._bodies: list[viser.FrameHandle] = []
        self._shown: Array = np.zeros((0, 7))
        self._meshes: list[tuple[viser.MeshHandle, float | None]] = []
        self._root: viser.FrameHandle | None = None
        self._set_up()
        self.set_plain(plain)

    def _set_up(self) -> None:
        scene = self.scene
        scene.set_up_direction("+z")
        scene.configure_environment_map(None)  # its reflections cost much and tell nothing
        scene.add_light_hemisphere("/light", sky_color=(255, 255, 255), ground_color=(150, 160, 175), intensity=2.4)
        scene.add_light_directional("/light/front", intensity=1.6, position=(3.0, -2.0, 3.0), cast_shadow=False)
        scene.configure_fog(18.0, 40.0, color=(238, 241, 246))
        # A background that grows lighter towards the ground
        share = np.linspace(0.0, 1.0, 64)[:, None, None]
        top, bottom = np.array([205.0, 216.0, 230.0]), np.array([246.0, 248.0, 251.0])
        scene.set_background_image(
            np.broadcast_to(top + share * (bottom - top), (64, 4, 3)).astype(np.uint8), format="png"
        )
        self.grid = scene.add_grid(
            "/grid", infinite_grid=True, cell_size=0.25, section_size=1.0, cell_color=(214, 220, 228),
            section_color=(176, 186, 200), cell_thickness=0.7, section_thickness=1.1, fade_distance=26.0,
            plane_color=(247, 249, 252), plane_opacity=0.9, shadow_opacity=0.18,
        )  # fmt: skip

    def set_plain(self, plain: bool) -> None:
        """Without shadows, or with them."""
        self.scene.configure_default_lights(enabled=True, cast_shadow=not plain)

    def show_robot(self, robot: Robot, meshes: tuple[SceneMesh, ...], q: Array | None = None) -> None:
        """Show another robot, at home or in a posture, and point the camera at it.

        Args:
            robot: The robot.
            meshes: What it looks like.
            q: (nq,) its posture; home if omitted.
        """
        if self._root is not None:
            self._root.remove()
        self.robot, self._data = robot, robot.model.createData()
        with self._client.atomic():
            self._root = self.scene.add_frame("/robot", show_axes=False)
            self._bodies = [self.scene.add_frame(body_node(i), show_axes=False) for i in range(robot.tree.n)]
            self._shown = np.full((robot.tree.n, 7), np.nan)
            self._meshes = [self._add_mesh(number, mesh) for number, mesh in enumerate(_merged(meshes))]
            self.pose(robot.home if q is None else q)
        for listener in self.on_robot:
            listener()
        self.look_at_robot()

    def _add_mesh(self, number: int, mesh: SceneMesh) -> tuple[viser.MeshHandle, float | None]:
        opacity = None if mesh.colour[3] > 0.99 else mesh.colour[3]
        node = self.scene.add_mesh_simple(
            f"{body_node(mesh.body)}/mesh{number}", mesh.vertices, mesh.faces, color=mesh.colour[:3], opacity=opacity,
            side="double",
        )  # fmt: skip
        return node, opacity

    def see_through(self, on: bool) -> None:
        """The robot like glass, so that what is inside of it can be seen."""
        for mesh, opacity in self._meshes:
            mesh.opacity = 0.35 if on else opacity

    def pose(self, q: Array) -> None:
        """The robot in a posture; only bodies that have moved are sent.

        Args:
            q: (nq,).
        """
        robot, data = self.robot, self._data
        if robot is None or data is None:
            return
        self.q = np.array(q, dtype=float)
        pin.framesForwardKinematics(robot.model, data, self.q)
        poses = np.array([_numbers(data.oMi[i + 1]) for i in range(robot.tree.n)]).reshape(-1, 7)
        with np.errstate(invalid="ignore"):
            moved = ~(np.abs(poses - self._shown).max(axis=1, initial=0.0) < 1e-6)
        with self._client.atomic():
            for i in np.flatnonzero(moved):
                self._bodies[i].position, self._bodies[i].wxyz = poses[i, :3], poses[i, 3:]
            self._shown = poses
            for listener in self.on_posture:
                listener()

    def placement(self, body: int) -> Array:
        """T_world_body (4, 4) of the posture that is shown; the identity for the world (−1).

        Args:
            body: Index in the tree.
        """
        if self._data is None or body < 0:
            return np.eye(4)
        return np.array(self._data.oMi[body + 1].homogeneous)

    def show_frames(self, shown: bool) -> None:
        """The axes of the bodies: x red, y green, z blue."""
        length = 0.06 * self.size
        for body in self._bodies:
            body.axes_length, body.axes_radius, body.origin_radius = length, 0.035 * length, 0.07 * length
            body.show_axes = shown

    @property
    def size(self) -> float:
        """Rough size of the robot [m]."""
        low, high = self._bounds()
        return max(float(np.linalg.norm(high - low)), 0.15)

    def look_at_robot(self) -> None:
        """The camera so that the whole robot is in view."""
        if self.robot is None:
            return
        low, high = self._bounds()
        middle, camera = 0.5 * (low + high), self._client.camera
        side = _SIDE / np.linalg.norm(_SIDE)
        right = np.cross([0.0, 0.0, 1.0], side)
        right /= np.linalg.norm(right)
        seen = self._height_on_phone(high - low, side, right) if self.is_narrow else 1.55 * self.size
        away = 0.5 * seen / float(np.tan(0.5 * camera.fov))
        free = np.zeros(3) if self.is_narrow else 0.11 * seen * right  # the panel of a desk covers the right part
        with self._client.atomic():
            camera.up_direction = (0.0, 0.0, 1.0)
            camera.position = middle + free + away * side
            camera.look_at = middle + free

    def _height_on_phone(self, extent: Array, side: Array, right: Array) -> float:
        """Height of what must be in view at the robot [m], so that it fits both ways into a tall window."""
        wide = float(np.abs(extent) @ np.abs(right))
        tall = float(np.abs(extent) @ np.abs(np.cross(side, right)))
        return max(1.45 * tall, 1.2 * wide / _TALL)

    @property
    def is_narrow(self) -> bool:
        """Whether the tab is that of a phone, whose screen may have several pixels for each of the page's."""
        camera = self._client.camera
        return 0 < camera.image_width < max(600, _NARROW * camera.image_height)

    def _bounds(self) -> tuple[Array, Array]:
        """Corners of a box around the joints and the robot's shapes, roughly."""
        points = self._shown[:, :3] if len(self._shown) else np.zeros((1, 3))
        reach = self._reach()
        return points.min(axis=0) - reach, points.max(axis=0) + reach

    def _reach(self) -> float:
        """How far shapes stand out over the joints, roughly [m]."""
        span = self._shown[:, :3] if len(self._shown) else np.zeros((1, 3))
        return 0.08 * float(np.linalg.norm(span.max(axis=0) - span.min(axis=0))) + 0.02


def body_node(body: int) -> str:
    """Name of the node that carries what is fixed to a body.

    Args:
        body: Index in the tree; −1 for the world.
    """
    return "/robot" if body < 0 else f"/robot/body{body}"


def _numbers(M: pin.SE3) -> Array:
    return np.array([*M.translation, *wxyz_of(M.rotation)])


def _merged(meshes: tuple[SceneMesh, ...]) -> list[SceneMesh]:
    """Meshes of one colour on one body as one."""
    groups: dict[tuple[int, tuple[float, ...]], list[SceneMesh]] = {}
    for mesh in meshes:
        groups.setdefault((mesh.body, mesh.colour), []).append(mesh)
    out = []
    for (body, _), parts in groups.items():
        starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
        faces = np.vstack([part.faces + start for part, start in zip(parts, starts, strict=True)])
        vertices = np.vstack([part.vertices for part in parts])
        out.append(SceneMesh(parts[0].link, body, vertices, faces, parts[0].colour))
    return out
