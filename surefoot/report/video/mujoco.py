"""A video rendered by MuJoCo without a display; surefoot's own kinematics places the bodies."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.report.evidence import Evidence
from surefoot.report.scene import SceneMesh, poses, robot_meshes
from surefoot.report.video.camera import Camera, FilmSettings
from surefoot.robot import placement
from surefoot.sim.mujoco import Meshes, add_shape, add_world
from surefoot.spatial import quaternion

_BACKENDS = ("egl", "osmesa")
_FIELD_OF_VIEW = 32.0  # [deg], vertical
_ROOM = 1.12  # the ball that is framed, in sizes of the robot
_SKY = ((0.86, 0.89, 0.93), (1.0, 1.0, 1.0))
_OBSTACLE = (0.80, 0.62, 0.40, 1.0)
_GROUND = ((0.95, 0.96, 0.97), (0.89, 0.91, 0.93))


def open_gl(size: tuple[int, int]) -> Any:
    """A GL context without a display, made current: EGL, else OSMesa.

    Args:
        size: Width and height [px].

    Raises:
        NotSupportedError: There is neither.
    """
    reasons = {}
    for name in _BACKENDS:
        try:
            context = importlib.import_module(f"mujoco.{name}").GLContext(*size)
            context.make_current()
            return context
        except (ImportError, AttributeError, RuntimeError, OSError, TypeError) as error:
            reasons[name] = " ".join(str(error).split())[:200]
    raise NotSupportedError(
        "MuJoCo cannot render: no GL library that works without a display was found",
        evidence=reasons,
        next_step="install a GL library (Debian: libegl1 or libosmesa6), or chromium by `make browser`",
    )


class MujocoFilm:
    """Frames of a motion, rendered by MuJoCo.

    Args:
        evidence: The motion.
        settings: Size and camera.
    """

    kind = "rgb24"

    def __init__(self, evidence: Evidence, settings: FilmSettings) -> None:
        self._evidence, self._size = evidence, settings.size
        self._model = _model(evidence, settings.size)
        self._data = mujoco.MjData(self._model)
        # T_world_body (n, bodies, 4, 4) of the robot's bodies, then of the objects
        objects = () if evidence.world is None else evidence.world.objects
        still = (len(evidence.time), 4, 4)
        moved = [evidence.objects.get(item.name, np.broadcast_to(item.pose, still))[:, None] for item in objects]
        self._places = np.concatenate([poses(evidence.robot, evidence.q), *moved], axis=1)
        self._camera = _Framing(self._places, evidence, settings)
        self._scene = mujoco.MjvScene(self._model, maxgeom=20_000)
        self._options, self._perturbation = mujoco.MjvOption(), mujoco.MjvPerturb()
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)

    def picture(self, t: float) -> bytes:
        """The motion at a time, rows from the top, three bytes a pixel.

        Args:
            t: [s].
        """
        T = _between(self._evidence.time, self._places, t)
        self._data.mocap_pos[:] = T[:, :3, 3]
        self._data.mocap_quat[:] = quaternion.to_wxyz(Rotation.from_matrix(T[:, :3, :3]).as_quat())
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        mujoco.mjv_updateScene(
            self._model, self._data, self._options, self._perturbation, self._camera.at(T),
            mujoco.mjtCatBit.mjCAT_ALL, self._scene,
        )  # fmt: skip
        width, height = self._size
        pixels = np.empty((height, width, 3), dtype=np.uint8)
        view = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(view, self._scene, self._context)
        mujoco.mjr_readPixels(pixels, None, view, self._context)
        return pixels[::-1].tobytes()

    def close(self) -> None:
        """Release the renderer."""
        self._context.free()


@contextmanager
def mujoco_film(evidence: Evidence, settings: FilmSettings, gl: Any) -> Iterator[MujocoFilm]:
    """A motion, ready to record.

    Args:
        evidence: What to show.
        settings: Size and camera.
        gl: What `open_gl` gave.

    Yields:
        What takes the pictures.
    """
    try:
        film = MujocoFilm(evidence, settings)
        yield film
        film.close()
    finally:
        gl.free()


def _model(evidence: Evidence, size: tuple[int, int]) -> mujoco.MjModel:
    """Bodies of the robot and objects, to be put anywhere, in the world."""
    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    spec.visual.global_.fovy = _FIELD_OF_VIEW
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.45] * 3, [0.35] * 3
    spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=_SKY[0], rgb2=_SKY[1], width=256, height=1536,
    )  # fmt: skip
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=[-0.4, 0.3, -1.0], diffuse=[0.5] * 3, castshadow=False
    )
    bodies = [spec.worldbody.add_body(mocap=True) for _ in range(evidence.robot.tree.n)]
    for mesh in robot_meshes(evidence.robot):
        _add_mesh(spec, spec.worldbody if mesh.body < 0 else bodies[mesh.body], mesh)
    if evidence.world is not None:
        _add_world(spec, evidence)
    return spec.compile()


def _add_mesh(spec: mujoco.MjSpec, body: mujoco.MjsBody, mesh: SceneMesh) -> None:
    if len(mesh.faces) == 0 or len(mesh.vertices) < 4:
        return
    name = f"part {len(spec.meshes)}"
    spec.add_mesh(
        name=name, uservert=mesh.vertices.ravel(), userface=mesh.faces.ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )  # fmt: skip
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, rgba=mesh.colour, contype=0, conaffinity=0, density=0.0
    )


def _add_world(spec: mujoco.MjSpec, evidence: Evidence) -> None:
    """Ground with a pattern, obstacles, and objects that can be put anywhere."""
    world = evidence.world
    if world is None:
        return
    meshes = Meshes(spec)
    add_world(spec, replace(world, objects=()), meshes)
    spec.add_texture(
        name="squares", type=mujoco.mjtTexture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=_GROUND[0], rgb2=_GROUND[1], width=512, height=512,
    )  # fmt: skip
    material = spec.add_material(name="ground", texrepeat=[2.0, 2.0], texuniform=True)
    material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = "squares"
    for geom in spec.worldbody.geoms:
        if geom.name.startswith("ground "):
            geom.material = "ground"
        elif geom.name.startswith("obstacle "):
            geom.rgba = _OBSTACLE
    for item in world.objects:
        add_shape(spec.worldbody.add_body(mocap=True), meshes, item.shape, placement(), item.name, item.mass)


def _between(time: Array, placements: Array, t: float) -> Array:
    """Placements (bodies, 4, 4) at a time: positions linear, turns along the shortest way."""
    k = int(np.clip(np.searchsorted(time, t, side="right") - 1, 0, max(len(time) - 2, 0)))
    first, second = placements[k], placements[min(k + 1, len(time) - 1)]
    step = float(time[min(k + 1, len(time) - 1)] - time[k])
    share = float(np.clip((t - time[k]) / step, 0.0, 1.0)) if step > 0.0 else 0.0
    out = np.array((1.0 - share) * first + share * second)
    for i in range(len(out)):
        turns = Slerp([0.0, 1.0], Rotation.from_matrix([first[i, :3, :3], second[i, :3, :3]]))
        out[i, :3, :3] = turns(share).as_matrix()
    return out


class _Framing:
    """Where the camera stands and looks."""

    def __init__(self, placements: Array, evidence: Evidence, settings: FilmSettings) -> None:
        low, high = _box(robot_meshes(evidence.robot), placements[0])
        centre, radius = 0.5 * (low + high), max(0.05, 0.5 * float(np.linalg.norm(high - low)))
        self._follow = settings.camera.follow and evidence.robot.base == "floating"
        way = placements[:, 0, :3, 3] if evidence.robot.base == "floating" else np.zeros((1, 3))
        self._start = way[0]
        if not self._follow:
            centre = centre + 0.5 * (way.min(axis=0) + way.max(axis=0)) - way[0]
            radius += 0.5 * float(np.linalg.norm(np.ptp(way, axis=0)))
        self._centre = centre
        self._camera = _mujoco_camera(settings.camera, _ROOM * radius, settings.size)

    def at(self, placements: Array) -> mujoco.MjvCamera:
        """The camera for one picture."""
        moved = placements[0, :3, 3] - self._start if self._follow else np.zeros(3)
        self._camera.lookat[:] = self._centre + moved * [1.0, 1.0, 0.0]
        return self._camera


def _mujoco_camera(camera: Camera, radius: float, size: tuple[int, int]) -> mujoco.MjvCamera:
    """MuJoCo has the direction of looking, not the place to stand."""
    narrow = np.radians(0.5 * _FIELD_OF_VIEW)
    narrow = min(narrow, np.arctan(np.tan(narrow) * size[0] / size[1]))
    out = mujoco.MjvCamera()
    out.type = mujoco.mjtCamera.mjCAMERA_FREE
    out.azimuth, out.elevation = camera.azimuth + 180.0, -camera.elevation
    out.distance = radius / np.sin(narrow) / camera.zoom
    return out


def _box(meshes: Sequence[SceneMesh], placements: Array) -> tuple[Array, Array]:
    """Corners of the box around the robot in one posture."""
    places = [np.eye(4) if mesh.body < 0 else placements[mesh.body] for mesh in meshes]
    corners = [mesh.vertices @ T[:3, :3].T + T[:3, 3] for mesh, T in zip(meshes, places, strict=True)]
    points = np.concatenate([np.zeros((0, 3)), *corners])
    return (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.ones(3))
