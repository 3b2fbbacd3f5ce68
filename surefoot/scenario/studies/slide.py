"""Whether feet slide exactly when Coulomb's law predicts it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import friction_band
from surefoot.motion import GroundPlane
from surefoot.scenario.findings import Findings, StudiedRun

CREEP = 0.002
"""Way [m] up to which a contact has not slid."""
_SETTLED = 0.3  # the first touch-down is not judged [s]
_LATE = 0.3  # the end that is judged by itself [s]


def slide(run: StudiedRun) -> Findings:
    """Slip of the feet against what statics predicts.

    On one plane of slope α a body slides iff tan α > μ. On the V of two planes z = |y| tan α, feet that are pushed
    apart with a force h stay iff h is in the band of `friction_band` (Nenchev & Konno 2019, Fig. 3.8).

    Args:
        run: The run; a robot without drives, or one whose only drive pushes two feet apart.
    """
    robot, log, world = run.simulation.robot, run.log, run.simulation.world
    planes = [] if world is None else [piece for piece in world.ground if isinstance(piece, GroundPlane)]
    if world is None or not planes or len(planes) < len(world.ground):
        return Findings({}, "the ground is not made of planes, so there is no prediction")
    if not robot.contacts or robot.nu > 1:
        return Findings(
            {}, "the robot is neither a block nor two feet pushed apart by a drive, so there is no prediction"
        )
    if log.time[-1] - log.time[0] <= _SETTLED:
        return Findings({}, f"the run is too short: the first {_SETTLED} s are ignored")
    slip = np.max([log[f"contact.{name}.slip"] for name in robot.contacts], axis=0)
    plane = planes[0]
    friction = world.friction if plane.friction is None else plane.friction
    slope = float(np.arccos(plane.normal[2]))
    facts: dict[str, Any] = {"slope_deg": float(np.rad2deg(slope)), "friction": friction}
    if robot.nu == 0:
        return _judged(log.time, slip, np.full(len(log), np.tan(slope) > friction), facts)
    low, high = friction_band(robot.mass, slope, friction, float(np.linalg.norm(world.gravity)))
    force = np.array(log["tau"][:, 0])
    return _judged(log.time, slip, (force < low) | (force > high), facts | {"band_n": [low, high]})


def _judged(time: Array, slip: Array, outside: NDArray[np.bool_], facts: dict[str, Any]) -> Findings:
    """Slip before the first time outside the band, from then on, and at the end if that is inside again.

    Args:
        time: (n,) [s].
        slip: (n,) [m].
        outside: (n,) whether statics lets it slide.
        facts: For the metrics.
    """
    start = int(np.searchsorted(time, time[0] + _SETTLED))
    leaves = start + int(np.argmax(outside[start:])) if outside[start:].any() else len(time) - 1
    late = int(np.searchsorted(time, time[-1] - _LATE))
    inside_again = outside.any() and not outside[late:].any()
    held, slid, last = slip[leaves] - slip[start], slip[-1] - slip[leaves], slip[-1] - slip[late]
    expected = bool(outside[start:].any())
    metrics = {
        **facts,
        "expected_to_slide": expected,
        "slides": bool(slip[-1] - slip[start] > CREEP),
        "slip_while_held_m": float(held),
        "slip_from_release_m": float(slid) if expected else 0.0,
        "slip_at_end_m": float(last) if inside_again else None,
    }
    if not held <= CREEP:
        return Findings(metrics, f"slid by {held:.3g} m although friction can hold it")
    if expected and slid <= CREEP:
        return Findings(metrics, "did not slide although friction cannot hold it")
    if inside_again and not last <= CREEP:
        return Findings(metrics, "did not stop although friction can hold it")
    return Findings(metrics)
