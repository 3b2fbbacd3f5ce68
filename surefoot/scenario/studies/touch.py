"""Which contacts are free, stick and slide, and when."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from surefoot.motion import Log
from surefoot.scenario.findings import Findings, StudiedRun

_LOADED = 0.01  # share of the largest normal force of that contact
_SLIDES = 0.005  # [m/s]
_SHORTEST = 0.01  # phases shorter than this belong to the one before [s]


def touch(run: StudiedRun) -> Findings:
    """Phases of every contact; the run is right if one touches, sticks, slides and leaves."""
    phases = {name: contact_phases(run.log, name) for name in run.simulation.robot.contacts}
    complete = [name for name, found in phases.items() if _is_complete([phase["mode"] for phase in found])]
    metrics = {"contact_phases": phases, "complete_contacts": complete}
    return Findings(metrics, None if complete else "no contact touches down, sticks, slides and lifts off")


def contact_phases(log: Log, name: str) -> list[dict[str, Any]]:
    """Modes "free", "sticks", "slides" of a contact in order, with their start and end [s].

    Args:
        log: The log.
        name: The contact.
    """
    load = np.array(log[f"contact.{name}.wrench"][:, 2])
    speed = np.gradient(np.array(log[f"contact.{name}.slip"]), log.time) if len(log) > 1 else np.zeros(len(log))
    loaded = load > _LOADED * max(float(load.max(initial=0.0)), 1e-9)
    modes = np.where(~loaded, "free", np.where(speed > _SLIDES, "slides", "sticks"))
    out: list[dict[str, Any]] = []
    for mode, rows in itertools.groupby(range(len(modes)), key=modes.__getitem__):
        indices = list(rows)
        start, end = float(log.time[indices[0]]), float(log.time[indices[-1]])
        if out and (end - start < _SHORTEST or out[-1]["mode"] == mode):
            out[-1]["end"] = end
        else:
            out.append({"mode": str(mode), "start": start, "end": end})
    return out


def _is_complete(modes: list[str]) -> bool:
    """Whether "free", "sticks", "slides", "free" happen one after the other, others between them or not."""
    wanted = iter(("free", "sticks", "slides", "free"))
    next_one: str | None = next(wanted)
    for mode in modes:
        if mode == next_one:
            next_one = next(wanted, None)
    return next_one is None
