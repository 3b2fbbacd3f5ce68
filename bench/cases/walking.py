"""Generation of walking references over steps ahead: CPU time of each method, and of a predictive plan with footsteps.

The way: steps of 20 cm with double supports of 0.2 s and single supports of 0.6 s, centre of mass at 0.75 m. Every
reference must end at rest in the middle of the feet, with its zero-moment point within the soles; else it is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, number_text, print_table
from bench.peers.walk import placo_walk
from bench.timing import pinned, tell, uncollected
from surefoot import load
from surefoot.reduced import METHODS, DcmPlan, FootstepMpc, Supports, ZmpPiece, natural_frequency, walking_reference

__all__ = ["run", "show"]

GOALS_MS = {"dcm": 1.0, "preview": 5.0, "plan of mpc": 1.0}
_HEIGHT, _STEP, _APART, _FOOT = 0.75, 0.2, 0.2, ((-0.08, -0.05), (0.12, 0.05))  # [m]
_REST, _DOUBLE, _SINGLE = 0.8, 0.2, 0.6  # [s]
_OFF = 0.01  # of the centre of mass at the end [m]
_PLAN_EVERY = 0.05  # times of the way at which a plan is made [s]


def run(
    steps: Annotated[int, typer.Option(help="Number of steps.", min=2)] = 20,
    passes: Annotated[int, typer.Option(help="Passes, of which the fastest counts.", min=1)] = 10,
    quick: Annotated[bool, typer.Option("--quick", help="One pass.")] = False,
    peers: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Environment of placo (scripts/make_wbc_peers.sh): g1 walks.")
    ] = None,
) -> Json:
    """Measure; a reference that does not end where it should is refused."""
    path, passes = _path(steps), 1 if quick else passes
    middle = np.array(path[-1].end)
    result = header("walking", 0) | {"steps": steps, "passes": passes, "goals_ms": GOALS_MS}
    rows: dict[str, float] = {}
    with pinned(), uncollected():
        for k, method in enumerate(METHODS):
            tell(k / (len(METHODS) + 1), method)
            found = walking_reference(method, path, height=_HEIGHT, foot=_FOOT)
            off = float(np.linalg.norm(found.com[-1] - middle))
            if not off < _OFF:
                raise WrongAnswerError(
                    "a reference does not end in the middle", evidence={"method": method, "off": off}
                )
            rows[method] = _fastest(partial(walking_reference, method, path, height=_HEIGHT, foot=_FOOT), passes)
        tell(len(METHODS) / (len(METHODS) + 1), "plans with footsteps")
        rows["plan of mpc"] = _plan(path, passes)
    if peers is not None:
        tell(0.9, "walks of placo")
        result |= {"placo": placo_walk(load("g1"), peers, steps, passes)}
    return result | {"samples": len(found.t), "rows_ms": rows}


def show(result: Json) -> None:
    """Print the times beside the aims."""
    print(f"\n{result['steps']} steps, {result['samples']} samples; ms of CPU, fastest of {result['passes']} passes")
    rows = [
        [name, number_text(value), number_text(result["goals_ms"][name]) if name in result["goals_ms"] else ""]
        for name, value in result["rows_ms"].items()
    ]
    print_table(("", "ms", "aim"), rows, left=1)
    if placo := result.get("placo"):
        print(f"\nplaco: plan {placo['plan_ms']:.3g} ms, tick of its inverse kinematics {placo['tick_ms']:.3g} ms")
        print(f"g1 in MuJoCo, true states, {placo['way_m']:.2f} m ahead as planned:")
        print_table(
            ("", "fell [s]", "came [m]", "largest error of the CoM [m]"),
            [
                [name, *("" if x is None else number_text(x) for x in walk.values())]
                for name, walk in placo["walks"].items()
            ],
            left=1,
        )


def _path(steps: int) -> list[ZmpPiece]:
    """Rest, steps of alternating feet, rest."""
    feet = [(_STEP * k, _APART * (k % 2 - 0.5)) for k in range(steps)]
    feet.append((feet[-1][0], -feet[-1][1]))  # closes up
    end = (feet[-1][0], 0.0)
    path, at = [ZmpPiece(_REST, (0.0, 0.0), (0.0, 0.0))], (0.0, 0.0)
    for foot in feet:
        path += [ZmpPiece(_DOUBLE, at, foot), ZmpPiece(_SINGLE, foot, foot)]
        at = foot
    return [*path, ZmpPiece(_DOUBLE, at, end), ZmpPiece(1.5, end, end)]


def _fastest(call: Callable[[], Any], passes: int) -> float:
    times = []
    for _ in range(passes):
        begin = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - begin)
    return 1e-6 * min(times)


def _plan(path: list[ZmpPiece], passes: int) -> float:
    """Median over the way of a plan with its footsteps, from the state of the reference [ms]."""
    omega, reference = natural_frequency(_HEIGHT), walking_reference("dcm", path, height=_HEIGHT)
    mpc, supports, plan = FootstepMpc(omega, _FOOT, tick=0.005), Supports(path), DcmPlan(path, omega)
    every = max(1, round(_PLAN_EVERY / float(reference.t[1])))
    times = []
    for k in range(0, len(reference.t), every):
        t, state = float(reference.t[k]), (reference.com[k], reference.velocity[k], reference.zmp[k])
        times.append(_fastest(lambda: mpc.plan(*state, mpc.schedule(supports, plan, t)[1]), passes))  # noqa: B023
    return float(np.median(times))
