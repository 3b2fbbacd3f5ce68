"""What can be shown on top of a robot: frames, inertias, centre of mass, contacts, collision volumes, loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import viser

from surefoot.arrays import Array
from surefoot.report.scene import volume_triangles
from surefoot.robot import ContactSurface, Robot
from surefoot.studio.files import RobotStore
from surefoot.studio.scene.poses import wxyz_of
from surefoot.studio.scene.stage import Stage, body_node

LAYERS = {
    "frames": "Frames",
    "inertias": "Inertias",
    "com": "Centre of mass",
    "contacts": "Contacts",
    "volumes": "Volumes",
    "loops": "Closed loops",
}
_INSIDE = {"inertias", "com", "volumes"}
_GREEN, _VIOLET, _AMBER, _RED = (22, 163, 74), (124, 92, 214), (234, 140, 20), (220, 50, 60)


class Overlays:
    """Layers over the robot of a stage, each on or off.

    Args:
        stage: The stage.
        store: Where collision volumes come from.
    """

    def __init__(self, stage: Stage, store: RobotStore) -> None:
        self._stage, self._store = stage, store
        self._on: set[str] = set()
        self._nodes: dict[str, list[viser.SceneNodeHandle]] = {}
        self._movers: dict[str, Callable[[], None]] = {}
        stage.on_robot.append(self._renew)
        stage.on_posture.append(self._move)

    def set(self, layer: str, shown: bool) -> None:
        """Show a layer, or take it away.

        Args:
            layer: One of `LAYERS`.
            shown: Whether to show it.
        """
        (self._on.add if shown else self._on.discard)(layer)
        self._stage.see_through(bool(self._on & _INSIDE))
        self._clear(layer)
        if shown and self._stage.robot is not None:
            self._build(layer, self._stage.robot)

    def _renew(self) -> None:
        """The same layers for another robot, whose nodes went with the old one."""
        for layer in LAYERS:
            self._clear(layer)
        for layer in sorted(self._on):
            self.set(layer, True)

    def _move(self) -> None:
        for mover in self._movers.values():
            mover()

    def _clear(self, layer: str) -> None:
        self._movers.pop(layer, None)
        if layer == "frames":
            self._stage.show_frames(False)
        for node in self._nodes.pop(layer, []):
            if self._stage.scene.get_handle_by_name(node.name) is node:
                node.remove()

    def _build(self, layer: str, robot: Robot) -> None:
        builders: dict[str, Callable[[Robot], list[viser.SceneNodeHandle]]] = {
            "inertias": self._inertias,
            "com": self._com,
            "contacts": self._contacts,
            "volumes": self._volumes,
            "loops": self._loops,
        }
        if layer == "frames":
            self._stage.show_frames(True)
        else:
            self._nodes[layer] = builders[layer](robot)
        if layer in self._movers:
            self._movers[layer]()

    def _inertias(self, robot: Robot) -> list[viser.SceneNodeHandle]:
        nodes: list[viser.SceneNodeHandle] = []
        for i in range(robot.tree.n):
            found = inertia_ellipsoid(float(robot.tree.masses[i]), robot.tree.inertias[i])
            if found is None:
                continue
            axes, R = found
            x, y, z = (float(value) for value in axes)
            nodes.append(
                self._stage.scene.add_icosphere(
                    f"{body_node(i)}/inertia", 1.0, _VIOLET, opacity=0.45, scale=(x, y, z), wxyz=wxyz_of(R),
                    position=robot.tree.coms[i], cast_shadow=False,
                )
            )  # fmt: skip
        return nodes

    def _com(self, robot: Robot) -> list[viser.SceneNodeHandle]:
        radius = 0.018 * self._stage.size
        scene, data = self._stage.scene, robot.model.createData()
        ball = scene.add_icosphere("/robot/com", radius, _AMBER, cast_shadow=False)
        spot = scene.add_cylinder("/robot/com_spot", 1.4 * radius, 0.1 * radius, _AMBER, cast_shadow=False)
        line = scene.add_line_segments("/robot/com_line", np.zeros((1, 2, 3)), _AMBER, thickness=0.15 * radius)

        def follow() -> None:
            com = np.array(pin.centerOfMass(robot.model, data, self._stage.q))
            foot = np.array([com[0], com[1], 0.002])
            ball.position, spot.position = com, foot
            line.points = np.array([[com, foot]], dtype=np.float32)

        self._movers["com"] = follow
        return [ball, spot, line]

    def _contacts(self, robot: Robot) -> list[viser.SceneNodeHandle]:
        return [self._contact(robot, contact) for contact in robot.contacts.values()]

    def _contact(self, robot: Robot, contact: ContactSurface) -> viser.SceneNodeHandle:
        """A patch a little outside of the surface; a ball for a point or a line."""
        T = robot.model.frames[robot.frame_id(contact.frame)].placement.homogeneous @ contact.placement
        name = f"{body_node(robot.body_of(contact.frame))}/contact_{contact.name.replace('/', '_')}"
        corners = contact.corners - np.array([0.0, 0.0, 1e-3])
        if len(corners) < 3:
            middle = T[:3, :3] @ corners.mean(axis=0) + T[:3, 3]
            return self._stage.scene.add_icosphere(name, 0.012 * self._stage.size, _GREEN, position=middle)
        around = np.argsort(np.arctan2(*(corners - corners.mean(axis=0))[:, 1::-1].T))
        points = corners[around] @ T[:3, :3].T + T[:3, 3]
        faces = np.array([[0, k, k + 1] for k in range(1, len(points) - 1)])
        return self._stage.scene.add_mesh_simple(
            name, points, faces, color=_GREEN, side="double", opacity=0.85, cast_shadow=False
        )

    def _volumes(self, robot: Robot) -> list[viser.SceneNodeHandle]:
        nodes: list[viser.SceneNodeHandle] = []
        for number, item in enumerate(self._store.volumes(robot)):
            vertices, faces = volume_triangles(item.volume)
            if len(faces):
                name = f"{body_node(item.body)}/volume{number}"
                nodes.append(
                    self._stage.scene.add_mesh_simple(
                        name, vertices, faces, color=(40, 130, 200), opacity=0.32, cast_shadow=False
                    )
                )
        return nodes

    def _loops(self, robot: Robot) -> list[viser.SceneNodeHandle]:
        if not robot.loops:
            return []
        line = self._stage.scene.add_line_segments(
            "/robot/loops", np.zeros((len(robot.loops), 2, 3)), _RED, thickness=4.0, thickness_units="screen"
        )

        def follow() -> None:
            frames = robot.placements(self._stage.q) | {"universe": np.eye(4)}
            ends = [
                [(frames[x.frame_a] @ x.placement_a)[:3, 3], (frames[x.frame_b] @ x.placement_b)[:3, 3]]
                for x in robot.loops
            ]
            line.points = np.array(ends, dtype=np.float32)

        self._movers["loops"] = follow
        return [line]


def inertia_ellipsoid(mass: float, inertia: Array) -> tuple[Array, Array] | None:
    """The homogeneous ellipsoid with a mass and an inertia: half axes (3,) [m] and their directions (3, 3).

    From I_x = m (b² + c²) / 5 and so on follows a² = 5 (I_y + I_z − I_x) / (2 m).

    Args:
        mass: [kg].
        inertia: (3, 3) about the centre of mass [kg m²].

    Returns:
        None for a body without mass or size.
    """
    if mass < 1e-9:
        return None
    moments, R = np.linalg.eigh(inertia)
    squares = 2.5 * (moments.sum() - 2.0 * moments) / mass
    if squares.max() < 1e-12:
        return None
    R = R * np.array([1.0, 1.0, np.sign(np.linalg.det(R))])
    return np.sqrt(np.maximum(squares, 1e-6 * squares.max())), R
