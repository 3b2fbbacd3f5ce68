"""Robots, volumes and oracles that the tests of this room share."""

from __future__ import annotations

import fcntl
import os
import tempfile
from functools import lru_cache
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from surefoot.collision import CollisionModel, RobotVolumes, robot_volumes
from surefoot.geometry import SweptVolume, surface_points
from surefoot.robot import BodyVolume, Joint, Link, Robot, placement
from tests.kinematics.examples import robot_named

__all__ = [
    "capsule_model",
    "capsules",
    "coal_distances",
    "fitted",
    "mixed_volumes",
    "moved",
    "postures",
    "robot_named",
    "slider",
]


def capsules(robot: Robot) -> tuple[BodyVolume, ...]:
    """A ball or a capsule round every collision shape: along its longest direction, as thick as it must be."""
    out = []
    for item in robot.collisions:
        T = robot.model.frames[robot.frame_id(item.link)].placement.homogeneous @ item.placement
        points = surface_points(item.shape) @ T[:3, :3].T + T[:3, 3]
        middle = points.mean(axis=0)
        axis = np.linalg.svd(points - middle, full_matrices=False)[2][0]
        along = (points - middle) @ axis
        radius = np.linalg.norm(points - middle - np.outer(along, axis), axis=1).max()
        low, high = along.min() + radius, along.max() - radius
        ball = SweptVolume(middle[None], np.linalg.norm(points - middle, axis=1).max())
        capsule = SweptVolume(np.array([middle + low * axis, middle + high * axis]), radius) if high > low else ball
        out.append(BodyVolume(robot.body_of(item.link), capsule, item.link))
    return tuple(out)


def mixed_volumes(robot: Robot, seed: int) -> tuple[BodyVolume, ...]:
    """Random balls, capsules and thick triangles on every body, and one on the world."""
    rng = np.random.default_rng(seed)
    out = []
    for body in (-1, *range(robot.tree.n)):
        vertices = rng.uniform(-0.1, 0.1, (int(rng.integers(1, 4)), 3))
        name = "world" if body < 0 else robot.tree.body_names[body]
        out.append(BodyVolume(body, SweptVolume(vertices, rng.uniform(0.01, 0.05)), name))
    return tuple(out)


@lru_cache(maxsize=8)
def fitted(name: str) -> RobotVolumes:
    """The fitted volumes of a robot of the zoo; of parallel workers one fits, the others wait and read the cache."""
    with (Path(tempfile.gettempdir()) / f"surefoot-tests-{os.getuid()}-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return robot_volumes(robot_named(name))


@lru_cache(maxsize=8)
def capsule_model(name: str) -> CollisionModel:
    """A robot of the zoo with capsules round its shapes, among no obstacles."""
    robot = robot_named(name)
    return CollisionModel(robot, volumes=capsules(robot))


def postures(robot: Robot, n: int, seed: int) -> np.ndarray:
    """Random postures up to 1.5 rad from home, the base included."""
    rng = np.random.default_rng(seed)
    steps = rng.uniform(-1.5, 1.5, (n, robot.nv))
    rows = [pin.integrate(robot.model, np.array(robot.home), step) for step in steps]
    return np.array(rows).reshape(n, robot.nq)


def moved(robot: Robot, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    return pin.integrate(robot.model, q, step)


def slider() -> Robot:
    """A ball on a rail along x, 2 m to each side, and a second link that hangs on nothing else."""
    joint = Joint("rail", "prismatic", axis=(1.0, 0.0, 0.0), lower=-2.0, upper=2.0)
    return Robot.from_tree("slider", [Link("carriage", None, joint, mass=1.0, inertia=np.eye(3))])


def _coal_shape(volume: SweptVolume) -> tuple[coal.CollisionGeometry, np.ndarray]:
    """The same volume for coal, and its placement in the body."""
    vertices, radius = np.asarray(volume.vertices), volume.radius
    if len(vertices) == 1:
        return coal.Sphere(radius), placement(vertices[0])
    if len(vertices) == 3:
        corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        corners.extend(list(vertices))
        faces.extend([coal.Triangle(0, 1, 2), coal.Triangle(0, 2, 1)])
        triangle = coal.Convex(corners, faces)
        triangle.setSweptSphereRadius(radius)
        return triangle, np.eye(4)
    axis = vertices[1] - vertices[0]
    length = float(np.linalg.norm(axis))
    z = axis / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return coal.Capsule(radius, length), placement(vertices.mean(axis=0), np.column_stack([x, np.cross(z, x), z]))


def coal_distances(robot: Robot, pairs: list[tuple[BodyVolume, BodyVolume]], q: np.ndarray) -> np.ndarray:
    """Distances of pairs of volumes by Pinocchio and coal; those that overlap deeply are not comparable."""
    shapes = pin.GeometryModel()
    for k, (a, b) in enumerate(pairs):
        for side, item in zip("ab", (a, b), strict=True):
            shape, T = _coal_shape(item.volume)
            shapes.addGeometryObject(pin.GeometryObject(f"{side}{k}", item.body + 1, pin.SE3(T), shape))
        shapes.addCollisionPair(pin.CollisionPair(2 * k, 2 * k + 1))
    data, shape_data = robot.model.createData(), shapes.createData()
    pin.computeDistances(robot.model, data, shapes, shape_data, q)
    return np.array([result.min_distance for result in shape_data.distanceResults])
