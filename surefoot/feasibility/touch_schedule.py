"""Contact schedules as masks over samples, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import one_of
from surefoot.feasibility.touch_runs import Mask, runs_of
from surefoot.motion import ContactSchedule, Phase, Spot, Stance

__all__ = ["mask_of_schedule", "schedule_of_mask", "spot_indices"]


def mask_of_schedule(schedule: ContactSchedule, names: Sequence[str], time: Array) -> Mask:
    """(n, c): which contacts hold at the samples.

    Args:
        schedule: The schedule; covers the times.
        names: c contacts.
        time: (n,) [s].

    Raises:
        UnknownNameError: The schedule names a contact that is not there.
    """
    for name in schedule.names:
        if name not in names:
            raise one_of("contact surface", name, names)
    phase = np.searchsorted(schedule.switches, time, side="right")
    holds = np.array([[name in p.stance for name in names] for p in schedule.phases], dtype=bool)
    return np.asarray(holds.reshape(-1, len(names))[phase])


def spot_indices(schedule: ContactSchedule, name: str, time: Array) -> tuple[list[Spot], np.ndarray]:
    """The spots of one contact, and (n,) which of them it holds at each sample; −1 for none.

    Args:
        schedule: The schedule.
        name: The contact.
        time: (n,) [s].
    """
    spots: list[Spot] = []
    at = np.full(len(schedule.phases), -1)
    for k, phase in enumerate(schedule.phases):
        if name in phase.stance:
            at[k] = len(spots)
            spots.append(phase.stance[name])
    return spots, at[np.searchsorted(schedule.switches, time, side="right")]


def schedule_of_mask(
    active: Mask, names: Sequence[str], time: Array, placements: Array, friction: Array
) -> ContactSchedule | None:
    """The stances of a mask; each contact stands where its surface is in the middle of its stretch.

    Args:
        active: (n, c).
        names: c contacts.
        time: (n,) [s].
        placements: (n, c, 4, 4) T_world_contact.
        friction: (n, c).

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
