"""When contact surfaces touch the ground: given, by their forces, or detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import one_of
from surefoot.feasibility.case import Case, Tolerances
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.touch.runs import Mask, bridged, held, lasting, runs_of
from surefoot.geometry import Box
from surefoot.motion import ContactSchedule, GroundBox, Phase, Spot, Stance, World
from surefoot.motion.world import SurfaceMotion, surface_motion

_SPEED_WINDOW = 0.008  # [s]; shorter differences of recorded positions show their last digit, not speed
_LANDED = 0.1  # of the height up to which a surface slides: one that lands or lifts obliquely is soon higher
_FAR = 0.2  # [m]; a spot this far from the ground is no place on it
_STEEP = 0.5  # cosine: a flat surface that is steeper does not stand on the ground
_ASKEW = 0.7  # cosine; a spot whose normal differs by more from the ground's is no place on it


@dataclass(frozen=True, eq=False)
class Touch:
    """Contacts over time; c surfaces in the order of `case.contact_names`.

    Args:
        source: "given", "from forces" or "detected", with the thresholds used.
        active: (n, c) whether a surface carries.
        placements: (n, c, 4, 4) T_world_contact.
        twists: (n, c, 6) of the surface in the contact frame, linear first.
        height: (n, c) of the lowest corner above the ground [m], negative inside it; NaN where there is no ground.
        normals: (n, c, 3) of the ground under it, in world.
        friction: (n, c) Coulomb coefficient there.
        schedule: The same as stances over time.
    """

    source: str
    active: NDArray[np.bool_]
    placements: Array
    twists: Array
    height: Array
    normals: Array
    friction: Array
    schedule: ContactSchedule | None

    def switches(self, time: Array) -> Array:
        """Times at which a contact opens or closes [s]."""
        return np.asarray(time[1:][(self.active[1:] != self.active[:-1]).any(axis=1)])


def touch_of(case: Case, rates: Rates) -> Touch:
    """Contacts of a motion: by its schedule, else by its contact wrenches, else detected.

    A surface touches from when its lowest corner is near the ground and slow, both with hysteresis, for some time
    (`Tolerances.touch_…`). Between two touches it goes on touching while it stays at the height at which it stood: that
    is a slide, not a step. So is a way at that height which ends in a stand, or begins from one, however fast it is. A
    robot with a fixed base touches nothing unless that is given.
    """
    placements = _placements(case)
    motions = surface_motions(case, placements)
    height = _stacked([motion.height for motion in motions], (case.n, 0))
    normals = _stacked([motion.normals for motion in motions], (case.n, 0, 3))
    own = [case.robot.contacts[name].friction for name in case.contact_names]
    friction = np.minimum(_stacked([motion.friction for motion in motions], (case.n, 0)), np.array(own))
    given = case.trajectory.schedule
    if given is not None:
        _use_spots(case, given, placements, height, normals, friction)
    source, active = _active(case, motions, placements, normals)
    schedule = given
    if given is None:
        height[_on_edge(case, placements, normals)] = np.nan
        soles = np.array([name not in case.bodies for name in case.contact_names], dtype=bool)
        names = [name for name in case.contact_names if name not in case.bodies]
        schedule = _schedule_of_mask(active[:, soles], names, case.time, placements[:, soles], friction[:, soles])
    return Touch(source, active, placements, _twists(case, rates), height, normals, friction, schedule)


def _placements(case: Case) -> Array:
    """T_world_contact (n, c, 4, 4) of all contact surfaces."""
    surfaces = [case.robot.contacts[name] for name in case.contact_names]
    if not surfaces:
        return np.zeros((case.n, 0, 4, 4))
    links = list(dict.fromkeys(surface.frame for surface in surfaces))
    T = case.kernels.frames(case.q, links).reshape(case.n, len(links), 4, 4)
    return np.stack([T[:, links.index(surface.frame)] @ surface.placement for surface in surfaces], axis=1)


def _twists(case: Case, rates: Rates) -> Array:
    """Twists (n, c, 6) of all contact surfaces: of the contact frame, at its origin, in its axes, linear first."""
    out = np.zeros((case.n, len(case.contact_names), 6))
    for k, name in enumerate(case.contact_names):
        surface = case.robot.contacts[name]
        if case.robot.body_of(surface.frame) >= 0:
            V = case.kernels.frame_kernel("V", surface.frame, "local")(case.q, rates.v)
            R, p = surface.placement[:3, :3], surface.placement[:3, 3]
            out[:, k, :3] = (V[:, :3] + np.cross(V[:, 3:], p)) @ R
            out[:, k, 3:] = V[:, 3:] @ R
    return out


def _world_to_stand_on(world: World) -> World:
    """The world with obstacles that are boxes as ground, because they may be stood on or leaned on."""
    boxes = [
        GroundBox((obstacle.shape.size[0], obstacle.shape.size[1], obstacle.shape.size[2]), obstacle.pose)
        for obstacle in world.obstacles
        if isinstance(obstacle.shape, Box) and not obstacle.touchable  # those count as they are
    ]
    return replace(world, ground=(*world.ground, *boxes)) if boxes else world


def surface_motions(case: Case, placements: Array) -> list[SurfaceMotion]:
    """How each contact surface moves over ground and boxes."""
    world, near = _world_to_stand_on(case.world), case.tolerances.touch_height
    return [
        surface_motion(world, case.robot.contacts[name], placements[:, k], near)
        for k, name in enumerate(case.contact_names)
    ]


def _on_edge(case: Case, placements: Array, normals: Array) -> Mask:
    """(n, c): flat surfaces that are so steep that they do not stand on the ground; other points of the foot may."""
    flat = np.array([len(case.robot.contacts[name].corners) > 1 for name in case.contact_names], dtype=bool)
    upright = np.einsum("nci,nci->nc", placements[..., :3, 2], normals)
    return np.asarray((upright < _STEEP) & flat)


def _stacked(columns: Sequence[Array], empty: tuple[int, ...]) -> Array:
    return np.stack(columns, axis=1) if columns else np.zeros(empty)


def _active(case: Case, motions: Sequence[SurfaceMotion], placements: Array, normals: Array) -> tuple[str, Mask]:
    """Where the contacts come from, and (n, c) whether they hold."""
    schedule, tol = case.trajectory.schedule, case.tolerances
    if schedule is not None:
        return "given with the motion", _mask_of_schedule(schedule, case.contact_names, case.time)
    told = [name for name in case.contact_names if np.any(case.trajectory.wrenches.get(name, 0.0))]
    active = np.zeros((case.n, len(case.contact_names)), dtype=bool)
    if not told and case.robot.base_joint is None:
        return "none: the base is fixed and no contacts are given", active
    detected = []
    on_edge = _on_edge(case, placements, normals)
    for k, name in enumerate(case.contact_names):
        if name in told:
            active[:, k] = _from_force(case, name, placements[:, k, :3, :3], normals[:, k])
        elif case.robot.base_joint is not None:
            active[:, k] = _detected(motions[k], case.time, tol) & ~on_edge[:, k]
            detected.append(name)
    return _source(told, detected, tol), active


def _source(told: Sequence[str], detected: Sequence[str], tol: Tolerances) -> str:
    by_force = f"from forces: above {tol.touch_force:.3g} of the weight"
    by_eye = (
        f"detected: within {1e3 * tol.touch_height:.3g} mm of the ground and slower than {tol.touch_speed:.3g} m/s"
        f" for {1e3 * tol.touch_time:.3g} ms or longer, hysteresis {tol.touch_hysteresis:.3g}"
    )
    if told and detected:
        return f"{by_force}; without forces ({', '.join(detected)}) {by_eye}"
    return by_force if told else by_eye


def _from_force(case: Case, name: str, R: Array, normals: Array) -> Mask:
    """Whether the normal force of a surface is a contact; short gaps are filled."""
    tol = case.tolerances
    force = np.einsum("nij,nj->ni", R, case.trajectory.wrenches[name][:, :3])
    share = np.sum(force * normals, axis=1) / case.weight
    firm = held(share > tol.touch_force, share > tol.touch_force / max(tol.touch_hysteresis, 1.0))
    always = np.ones(case.n, dtype=bool)
    return bridged(firm, always, case.time, tol.touch_time * (1.0 - 1e-9), ends=True)


def _detected(motion: SurfaceMotion, time: Array, tol: Tolerances) -> Mask:
    height, speed, wider = motion.height, motion.speed(time, _SPEED_WINDOW), max(tol.touch_hysteresis, 1.0)
    near = height <= wider * tol.touch_height
    stands = held((height <= tol.touch_height) & (speed <= tol.touch_speed), near & (speed <= wider * tol.touch_speed))
    stands = bridged(stands, near, time, tol.touch_time * (1.0 - 1e-9))
    stands = lasting(stands, time, min(tol.touch_time, float(time[-1] - time[0])))
    stands = bridged(stands, _as_low_as_it_stood(stands, height, tol.touch_slide), time, ends=True)
    return stands | lasting(_slides_beside(stands, height, time, tol), time, tol.touch_time)


def _slides_beside(stands: Mask, height: Array, time: Array, tol: Tolerances) -> Mask:
    """(n,) whether a surface slides into a stand or out of one, at the height at which it stands there.

    That is where it stands first, or last: where its centre is held, the lowest point of a ball may rise or sink while
    it stands. A stand that is detected while the surface still comes down is taken at its own height.
    """
    runs, out = runs_of(stands), np.zeros(len(height), dtype=bool)
    before, after = [0, *(b for _, b in runs)], [*(a for a, _ in runs), len(height)]
    for k, (a, b) in enumerate(runs):
        own = float(np.median(height[a:b]))
        soon, late = np.searchsorted(time, [time[a] + tol.touch_time, time[b - 1] - tol.touch_time])
        first, last = (float(np.median(some)) for some in (height[a : min(soon + 1, b)], height[max(late, a) : b]))
        came, went = height[before[k] : a][::-1], height[b : after[k + 1]]
        out[before[k] : a] |= _slide(came - min(first, own), tol.touch_slide)[::-1]
        out[b : after[k + 1]] |= _slide(went - min(last, own), tol.touch_slide)
    return out


def _slide(above: Array, slack: float) -> Mask:
    """(m,) whether a surface slides that stands before the first sample.

    It slides until it is last at the height at which it stands, up to a small part of the slack: from there to the full
    slack it lifts obliquely, or, backwards in time, lands so.

    Args:
        above: (m,) how much higher it is than it stands [m].
        slack: [m].
    """
    low = np.logical_and.accumulate(above <= slack)
    down: Mask = low & (above <= _LANDED * slack)
    return np.asarray(np.logical_or.accumulate(down[::-1])[::-1])


def _as_low_as_it_stood(stands: Mask, height: Array, slack: float) -> Mask:
    """(n,) whether a surface is at most `slack` higher than it stood before and after."""
    runs = runs_of(stands)
    if not runs:
        return stands
    level = np.empty(len(height))
    own = [float(np.median(height[a:b])) for a, b in runs]
    for k, (a, b) in enumerate(runs):
        start = 0 if k == 0 else runs[k - 1][1]
        level[start:a] = own[k] if k == 0 else min(own[k - 1], own[k])
        level[a:b] = own[k]
    level[runs[-1][1] :] = own[-1]
    return np.asarray(height <= level + slack)


def _use_spots(
    case: Case, schedule: ContactSchedule, placements: Array, height: Array, normals: Array, friction: Array
) -> None:
    """Friction of given spots; and where they are not on the ground, height and normal from their planes."""
    for k, name in enumerate(case.contact_names):
        surface = case.robot.contacts[name]
        spots, at = _spot_indices(schedule, name, case.time)
        lift = np.array([0.0, 0.0, surface.radius])
        local = np.c_[surface.corners + lift, np.ones(len(surface.corners))]
        ground = surface_motion(
            _world_to_stand_on(case.world), surface, np.array([spot.pose for spot in spots]).reshape(-1, 4, 4), 0.0
        )
        for j, spot in enumerate(spots):
            rows = np.flatnonzero(at == j)
            friction[rows, k] = min(spot.friction, surface.friction)
            normal, point = spot.pose[:3, 2], spot.pose[:3, 3]
            on_ground = abs(ground.height[j]) < _FAR and normal @ ground.normals[j] > _ASKEW
            if not on_ground:
                corners = (placements[rows, k] @ local.T)[:, :3] - point[:, None]
                height[rows, k] = np.min(np.einsum("i,nik->nk", normal, corners), axis=1) - surface.radius
                normals[rows, k] = normal


def _mask_of_schedule(schedule: ContactSchedule, names: Sequence[str], time: Array) -> Mask:
    """(n, c): which contacts hold at the samples."""
    for name in schedule.names:
        if name not in names:
            raise one_of("contact surface", name, names)
    phase = np.searchsorted(schedule.switches, time, side="right")
    holds = np.array([[name in p.stance for name in names] for p in schedule.phases], dtype=bool)
    return np.asarray(holds.reshape(len(schedule.phases), len(names))[phase])


def _spot_indices(schedule: ContactSchedule, name: str, time: Array) -> tuple[list[Spot], np.ndarray]:
    """The spots of one contact, and (n,) which of them it holds at each sample; −1 for none."""
    spots: list[Spot] = []
    at = np.full(len(schedule.phases), -1)
    for k, phase in enumerate(schedule.phases):
        if name in phase.stance:
            at[k] = len(spots)
            spots.append(phase.stance[name])
    return spots, at[np.searchsorted(schedule.switches, time, side="right")]


def _schedule_of_mask(
    active: Mask, names: Sequence[str], time: Array, placements: Array, friction: Array
) -> ContactSchedule | None:
    """The stances of a mask; each contact stands where its surface is in the middle of its stretch.

    Returns:
        None where there is no contact surface or less than two samples.
    """
    n = len(time)
    if n < 2 or not names:
        return None
    spots: list[dict[int, Spot]] = []
    for c in range(len(names)):
        at: dict[int, Spot] = {}
        for a, b in runs_of(active[:, c]):
            middle = (a + b) // 2
            spot = Spot(placements[middle, c], float(friction[middle, c]))
            at |= dict.fromkeys(range(a, b), spot)
        spots.append(at)
    starts = [0, *(np.flatnonzero((active[1:] != active[:-1]).any(axis=1)) + 1).tolist()]
    starts = [k for k in starts if k < n - 1] or [0]  # what begins at the last sample has no duration
    ends = [*(time[k] for k in starts[1:]), time[-1]]
    phases = [
        Phase(float(time[k]), float(end), Stance({names[c]: spots[c][k] for c in np.flatnonzero(active[k]).tolist()}))
        for k, end in zip(starts, ends, strict=True)
    ]
    return ContactSchedule(tuple(phases))
