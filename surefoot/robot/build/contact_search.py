"""Contact surfaces from the collision shapes of end links.

In the home posture, every end body (one that carries no further joint) whose lowest point is near the lowest of all is
taken as a foot, and so is a body with further joints (a foot with a toe) if it touches the same floor. Its sole is the
plane that supports its shapes from below; what lies within 5 mm of that plane spans the surface: a point, a line, a
rectangle or a polygon. A long narrow strip that begins at the joint of its body is a shank, not a sole: the robot
stands on its far end.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.geometry import Capsule, Cylinder, Ellipsoid, Shape, Sphere, convex_hull, is_rectangle, surface_points
from surefoot.robot.model import ContactKind, ContactSurface, Geometry, Robot, placement

_FLAT = 0.005  # what lies this near to the supporting plane belongs to the sole [m]
_POINT = 0.03  # soles smaller than this are points [m]
_LINE = 0.012  # soles narrower than this are lines [m]
_ROUND, _OFF_BALL = 0.65, 0.0015  # a tip of a fifth of that height is this narrow on a ball; how far off a ball [m]
_SHANK = 5.0  # length by width from which on a strip is a shank, if the joint of its body is at one end
_SIMPLIFY = 0.002  # corners that stick out by less are dropped [m]
_UP = np.array([0.0, 0.0, 1.0])
_TILT = np.cos(np.deg2rad(35.0))  # how far a sole may be tilted in the home posture
_FRICTION = 0.7  # of shapes that say nothing, as `ContactSurface` has it


def _end_bodies(robot: Robot) -> list[int]:
    """Bodies that carry no further joint, as indices into the tree."""
    return sorted(set(range(robot.tree.n)) - {int(p) for p in robot.tree.parents})


def shapeless_end_links(robot: Robot) -> list[str]:
    """Names of end bodies without any collision shape."""
    carriers = {robot.body_of(item.link) for item in robot.collisions}
    return [robot.tree.body_names[i] for i in _end_bodies(robot) if i not in carriers]


def find_contacts(robot: Robot, q: Array) -> tuple[ContactSurface, ...]:
    """The surfaces on which the robot stands in a posture; none for a robot that is fixed to the world."""
    if robot.base != "floating":
        return ()
    frames = robot.placements(pin.normalize(robot.model, q))
    ends = set(_end_bodies(robot))
    clouds: dict[int, list[tuple[Geometry, Array]]] = {}
    for item in robot.collisions:
        body = robot.body_of(item.link)
        points = lowest_points(item.shape, frames[item.link] @ item.placement)
        if body >= 0 and len(points):  # what is fixed to the world is not the robot's to stand on
            clouds.setdefault(body, []).append((item, points))
    if not clouds:
        return ()
    lows = {body: min(points[:, 2].min() for _, points in cloud) for body, cloud in clouds.items()}
    floor = min(lows.values())
    clouds.pop(robot.base_joint or 0, None)  # a robot that lies on its root body stands on nothing else
    reach = max(0.03, 0.05 * (max(frame[2, 3] for frame in frames.values()) - floor))
    feet = [body for body in sorted(clouds) if lows[body] <= floor + (reach if body in ends else _FLAT)]
    return tuple(_surface(clouds[body], frames, frames[robot.tree.joint_names[body]][:3, 3]) for body in feet)


def height_on_ground(robot: Robot, q: Array) -> float:
    """How far to lift the base so that the lowest contact corner lies on z = 0 [m]; 0 without contacts.

    Args:
        robot: The robot.
        q: (nq,) the posture.
    """
    corners = robot.contact_corners(pin.normalize(robot.model, q))
    return -float(min((points[:, 2].min() for points in corners.values()), default=0.0))


def lowest_points(shape: Shape, T_world_shape: Array) -> Array:
    """Points of a shape among which its lowest ones are exact, (n, 3) in world [m].

    Args:
        shape: A bounded shape.
        T_world_shape: Its placement, (4, 4).
    """
    down = -T_world_shape[2, :3]  # world's −z in the frame of the shape
    match shape:
        case Sphere(radius):
            local = radius * down[None, :]
        case Ellipsoid(radii):
            scaled = np.array(radii) * down
            local = (np.array(radii) * scaled / np.linalg.norm(scaled))[None, :]
        case Capsule(radius, length):
            ends = np.array([[0.0, 0.0, 0.5 * length], [0.0, 0.0, -0.5 * length]])
            local = ends + radius * down
        case Cylinder(radius, length) if np.hypot(down[0], down[1]) > 1e-6:
            side = np.array([down[0], down[1], 0.0]) / np.hypot(down[0], down[1])
            ends = np.array([[0.0, 0.0, 0.5 * length], [0.0, 0.0, -0.5 * length]]) + radius * side
            is_lying = abs(down[2]) < 0.1  # it touches along a line; its rims are round and do not
            local = ends if is_lying else np.vstack([surface_points(shape), ends])
        case _:
            local = surface_points(shape)
    return local @ T_world_shape[:3, :3].T + T_world_shape[:3, 3]


def _surface(cloud: list[tuple[Geometry, Array]], frames: dict[str, Array], joint: Array) -> ContactSurface:
    """The surface of one foot from its points in world; its joint is at `joint`."""
    lowest = min(cloud, key=lambda pair: float(pair[1][:, 2].min()))[0]
    points = np.vstack([points for _, points in cloud])
    is_round = isinstance(lowest.shape, Sphere | Capsule)
    link_origin = frames[lowest.link][:3, 3]
    normal = _UP if is_round else _sole_normal(points)
    if (end := _end_of_shank(points, normal, joint)) is not None:
        points, normal = end, _UP
    radius = lowest.shape.radius if isinstance(lowest.shape, Sphere | Capsule) else 0.0
    kind, corners, T_world_contact = _sole(points, normal, link_origin)
    if kind in ("rectangle", "polygon") and (ball := _ball(points, normal)) is not None:
        kind, corners, (T_world_contact, radius) = "point", np.zeros((1, 3)), ball
    elif kind == "point" and not is_round:  # a small tip has no plane of its own: it touches where it is lowest
        kind, corners, T_world_contact = _sole(points, _UP, link_origin)
    return ContactSurface(
        name=lowest.link,
        frame=lowest.link,
        kind=kind,
        placement=np.linalg.inv(frames[lowest.link]) @ T_world_contact,
        corners=corners,
        friction=_friction(cloud),
        radius=radius if kind == "point" else 0.0,
    )


def _ball(points: Array, normal: Array) -> tuple[Array, float] | None:
    """T_world_contact of the lowest point and radius [m] of a foot whose underside is round; None for a flat one."""
    heights = points @ normal - float((points @ normal).min())
    cap, tip = points[heights <= _FLAT], points[heights <= 0.2 * _FLAT]
    widths = [float(np.linalg.norm(np.ptp(part - np.outer(part @ normal, normal), axis=0))) for part in (tip, cap)]
    if len(cap) < 8 or widths[0] > _ROUND * widths[1]:
        return None
    A = np.column_stack([2.0 * cap, np.ones(len(cap))])
    found, _, rank, _ = np.linalg.lstsq(A, (cap * cap).sum(axis=1), rcond=1e-9)
    radius = float(np.sqrt(max(found[3] + found[:3] @ found[:3], 0.0)))
    off = np.abs(np.linalg.norm(cap - found[:3], axis=1) - radius).max()
    if rank < 4 or off > _OFF_BALL or radius > widths[1]:
        return None
    return placement(found[:3] - radius * _UP), radius


def _end_of_shank(points: Array, normal: Array, joint: Array) -> Array | None:
    """The points at the far end of a strip that begins at the joint of its body; None for anything like a sole."""
    heights = points @ normal
    near = points[heights <= heights.min() + _FLAT]
    if len(near) < 2:
        return None
    _, _, axes = np.linalg.svd(near - near.mean(axis=0), full_matrices=False)
    along, across = (near - joint) @ axes[0], (near - joint) @ np.cross(normal, axes[0])
    length, width = float(np.ptp(along)), float(np.ptp(across))
    begins = min(abs(along.min()), abs(along.max())) < 0.25 * length or along.min() * along.max() > 0.0
    if length < max(_POINT, _SHANK * width) or not begins or width < _LINE:
        return None
    far = float(along.max()) if along.max() > -along.min() else float(along.min())
    reach = (points - joint) @ axes[0]
    return np.asarray(points[np.abs(reach - far) <= width])


def _friction(cloud: list[tuple[Geometry, Array]]) -> float:
    """The least friction given for the shapes that touch the ground."""
    floor = min(float(points[:, 2].min()) for _, points in cloud)
    touching = [item for item, points in cloud if points[:, 2].min() <= floor + _FLAT]
    return min((item.friction for item in touching if item.friction is not None), default=_FRICTION)


def _sole(points: Array, normal: Array, link_origin: Array) -> tuple[ContactKind, Array, Array]:
    """Kind, corners and T_world_contact of what lies near the plane with that normal that supports the points."""
    heights = points @ normal
    near = points[heights <= heights.min() + _FLAT]
    T_world_contact = _contact_frame(normal, near, link_origin)
    flat = (near - T_world_contact[:3, 3]) @ T_world_contact[:3, :3]
    kind, corners, turn = _classify(flat[:, :2])
    return kind, corners, T_world_contact @ turn


def _sole_normal(points: Array) -> Array:
    """Normal of the plane that supports the points from below, pointing up; world's z where there is none."""
    from scipy.spatial import ConvexHull, QhullError  # takes a third of the time to import the package

    if len(points) < 4:
        return _UP
    try:
        hull = ConvexHull(points)
    except QhullError:  # flat or straight sets of points have no volume
        return _UP
    outward = hull.equations[:, :3]
    below = outward[:, 2] < -_TILT
    if not below.any():
        return _UP
    corners = points[hull.simplices[below]]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    same = outward[below] @ outward[below].T > np.cos(np.deg2rad(2.0))  # facets of one face, up to 2°
    face = same[int(np.argmax(same @ areas))]
    normal = -(areas[face] @ outward[below][face])
    return normal / np.linalg.norm(normal)


def _contact_frame(normal: Array, near: Array, link_origin: Array) -> Array:
    """T_world_contact: z along the normal, x forward, origin below the link's origin if that is over the sole."""
    x = np.array([1.0, 0.0, 0.0]) - normal[0] * normal
    x /= np.linalg.norm(x)
    rotation = np.column_stack([x, np.cross(normal, x), normal])
    low = float((near @ normal).min())
    middle = 0.5 * (near.min(axis=0) + near.max(axis=0))
    spread = near.max(axis=0) - near.min(axis=0)
    over = bool((np.abs(link_origin - middle)[:2] <= 0.5 * spread[:2]).all())
    origin = link_origin if over else middle
    return placement(origin + (low - origin @ normal) * normal, rotation)


def _classify(flat: Array) -> tuple[ContactKind, Array, Array]:
    """Kind, corners in the contact frame, and how the frame is moved for it (4, 4)."""
    hull = convex_hull(flat, tolerance=_SIMPLIFY)
    low, high = flat.min(axis=0), flat.max(axis=0)
    if (high - low < _POINT).all():
        middle = 0.5 * (low + high)
        return "point", np.zeros((1, 3)), placement((*middle, 0.0))
    if (high - low < _LINE).any() or len(hull) < 3:
        return _line(flat)
    kind: ContactKind = "rectangle" if is_rectangle(hull, tolerance=_SIMPLIFY) else "polygon"
    return kind, np.column_stack([hull, np.zeros(len(hull))]), placement()


def _line(flat: Array) -> tuple[ContactKind, Array, Array]:
    """A line along y of a contact frame that is turned and moved to its middle."""
    middle = 0.5 * (flat.min(axis=0) + flat.max(axis=0))
    _, _, axes = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)
    y = axes[0] if axes[0][1] >= 0 else -axes[0]
    half = float(np.abs((flat - middle) @ y).max())
    rotation = np.array([[y[1], y[0], 0.0], [-y[0], y[1], 0.0], [0.0, 0.0, 1.0]])
    corners = np.array([[0.0, -half, 0.0], [0.0, half, 0.0]])
    return "line", corners, placement((*middle, 0.0), rotation)
