"""What Koch says about his fifteen walks (section 7.5), looked at one by one for ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from surefoot.ocp.studies.walking import SETS, WalkRun

_AT_EDGE = 0.95  # of the radius of the region: the zero-moment point runs along it


class Statement(NamedTuple):
    """A statement, whether it holds for our runs, and the numbers."""

    text: str
    holds: bool
    numbers: str


class _Runs:
    """Figures of the runs by objective and set."""

    def __init__(self, runs: Sequence[WalkRun]) -> None:
        self.of = {(run.objective, run.constraints): run.figures for run in runs}
        self.objectives = list(dict.fromkeys(run.objective for run in runs))

    def by_objective(self, constraints: str, figure: str) -> dict[str, float]:
        return {name: float(getattr(self.of[name, constraints], figure)) for name in self.objectives}

    def mean(self, figure: str) -> dict[str, float]:
        sets = {name: self.by_objective(name, figure) for name in SETS}
        return {o: sum(values[o] for values in sets.values()) / len(sets) for o in self.objectives}


def statements(runs: Sequence[WalkRun]) -> list[Statement]:
    """Check the statements; they need all five objectives.

    Args:
        runs: All runs of `walking_study`.
    """
    r = _Runs(runs)
    return [check(r) for check in (*_GAITS, *_BODIES, *_EFFORTS)]


def _text(values: dict[str, float], unit: str = "", scale: float = 1.0, digits: int = 3) -> str:
    return ", ".join(f"{name} {scale * value:.{digits}f}" for name, value in values.items()) + (unit and f" {unit}")


def _largest(values: dict[str, float], *names: str) -> bool:
    return set(sorted(values, key=lambda name: -values[name])[: len(names)]) == set(names)


def _smallest(values: dict[str, float], *names: str) -> bool:
    return _largest({name: -value for name, value in values.items()}, *names)


def _relaxed(r: _Runs, figure: str, constraints: str) -> dict[str, float]:
    """What relaxing the strict set changes."""
    strict, relaxed = r.by_objective("fif", figure), r.by_objective(constraints, figure)
    return {name: relaxed[name] - strict[name] for name in strict}


# -- gaits ----------------------------------------------------------------------------------------------------------


def _speeds(r: _Runs) -> Statement:
    speed = {name: r.of["speed", name].speed for name in ("fif", "zmp free", "frf")}
    holds = speed["frf"] > speed["zmp free"] > speed["fif"]
    text = "Largest speed: free foot > free zero-moment point > both held (0.363, 0.352, 0.228 m/s)"
    return Statement(text, holds, _text(speed, "m/s"))


def _faster(r: _Runs) -> Statement:
    changes = {f"{o}, {s}": d for s in ("zmp free", "frf") for o, d in _relaxed(r, "speed", s).items()}
    small = 1e-3
    holds = all((d > -small) != name.startswith("joint_speed") for name, d in changes.items())
    text = "Every relaxation raises the speed, except with least joint speed"
    return Statement(text, holds, _text(changes, "m/s"))


def _duties(r: _Runs) -> Statement:
    changes = _relaxed(r, "duty", "frf")
    text = "Fixed feet always have the higher duty factor"
    return Statement(text, all(d < 0.0 for d in changes.values()), "free − fixed: " + _text(changes, "%", 100.0, 1))


def _narrow(r: _Runs) -> Statement:
    width = _relaxed(r, "step_width", "frf")
    text = "Free feet land closer together than in the initial guess, with all objectives (table 7.2)"
    return Statement(text, all(d < 0.0 for d in width.values()), "free − fixed: " + _text(width, "cm", 100.0, 1))


def _lengths(r: _Runs) -> Statement:
    length = r.by_objective("frf", "step_length")
    text = "Free steps: efficiency and speed longest, least joint speed shortest (table 7.2)"
    return Statement(text, _largest(length, "efficiency", "speed") and _smallest(length, "joint_speed"), _text(length))


# -- bodies ---------------------------------------------------------------------------------------------------------


def _heights(r: _Runs) -> Statement:
    change = _relaxed(r, "pelvis_height", "zmp free")
    text = "A free zero-moment point raises the mean height of the pelvis with all objectives (2–4 cm)"
    return Statement(text, all(d > 1e-3 for d in change.values()), _text(change, "cm", 100.0, 2))


def _rises(r: _Runs) -> Statement:
    rise = r.mean("pelvis_rise")
    holds = all((x < 0.01) != (name == "joint_speed") for name, x in rise.items())
    return Statement(
        "The pelvis rises and falls by less than 1 cm, except with least joint speed (3 cm)", holds,
        _text(rise, "cm", 100.0, 1),
    )  # fmt: skip


def _sways_least(r: _Runs) -> Statement:
    sway = r.mean("pelvis_sway")
    text = "The pelvis sways least with largest speed (4 cm)"
    return Statement(text, _smallest(sway, "speed"), _text(sway, "cm", 100.0, 1))


def _sways_most(r: _Runs) -> Statement:
    sway = r.mean("pelvis_sway")
    text = "The pelvis sways most with steadiest pressure (10 cm)"
    return Statement(text, _largest(sway, "postural"), _text(sway, "cm", 100.0, 1))


def _lifts(r: _Runs) -> Statement:
    lift = r.mean("foot_lift")
    text = "The swing foot rises highest with steadiest pressure (8 cm)"
    return Statement(text, _largest(lift, "postural"), _text(lift, "cm", 100.0, 1))


def _sideways(r: _Runs) -> Statement:
    way = r.mean("foot_sideways")
    text = "The swing foot moves sideways most with least joint speed (5 cm)"
    return Statement(text, _largest(way, "joint_speed"), _text(way, "cm", 100.0, 1))


def _knees_most(r: _Runs) -> Statement:
    knee = r.mean("knee_range")
    return Statement("Knees turn most with steadiest pressure", _largest(knee, "postural"), _text(knee, "rad"))


def _knees_least(r: _Runs) -> Statement:
    knee = {name: x for name, x in r.mean("knee_range").items() if name != "joint_speed"}
    text = "Least joint speed apart, knees turn least with largest efficiency"
    return Statement(text, _smallest(knee, "efficiency"), _text(knee, "rad"))


def _straight(r: _Runs) -> Statement:
    bend = r.mean("knee_mean")
    text = "Legs are nearly straight with least joint speed"
    return Statement(text, _smallest(bend, "joint_speed"), "mean bend of knees: " + _text(bend, "rad"))


def _rolls(r: _Runs) -> Statement:
    roll = r.mean("pelvis_roll")
    return Statement("The pelvis rolls most with least joint speed", _largest(roll, "joint_speed"), _text(roll, "rad"))


def _forward(r: _Runs) -> Statement:
    pitch = {name: x for name, x in r.mean("pelvis_pitch").items() if name != "joint_speed"}
    text = "The pelvis leans slightly forward, least joint speed apart"
    return Statement(text, all(x > 0.0 for x in pitch.values()), _text(pitch, "rad"))


def _backward(r: _Runs) -> Statement:
    pitch = r.mean("pelvis_pitch")["joint_speed"]
    return Statement("The pelvis leans backward with least joint speed", pitch < 0.0, f"{pitch:.3f} rad")


def _yaws(r: _Runs) -> Statement:
    yaw = r.mean("pelvis_yaw")
    return Statement("The pelvis yaws much with largest speed", _largest(yaw, "speed"), _text(yaw, "rad"))


# -- efforts --------------------------------------------------------------------------------------------------------


def _impact_most(r: _Runs) -> Statement:
    impact = r.mean("impact")
    return Statement("The impact is largest with largest speed", _largest(impact, "speed"), _text(impact, "N s"))


def _impact_least(r: _Runs) -> Statement:
    impact = {(o, s): f.impact for (o, s), f in r.of.items()}
    order = sorted(impact, key=lambda key: impact[key])
    text = "The impact is smallest with least joint speed and free ZMP, then with least joint speed and free foot"
    numbers = ", ".join(f"{o} {s} {1000.0 * impact[o, s]:.1f}" for o, s in order[:3]) + " mN s (least three)"
    return Statement(text, order[:2] == [("joint_speed", "zmp free"), ("joint_speed", "frf")], numbers)


def _expensive(r: _Runs) -> Statement:
    torque, transport = r.mean("torque_square"), r.mean("cost_of_transport")
    text = "Largest speed and steadiest pressure are expensive"
    holds = all(_largest(x, "speed", "postural") for x in (torque, transport))
    return Statement(text, holds, f"Στ²: {_text(torque, '(N m)²', digits=0)}; transport: {_text(transport)}")


def _cheap(r: _Runs) -> Statement:
    torque, transport = r.mean("torque_square"), r.mean("cost_of_transport")
    text = "Least torque and largest efficiency are cheap"
    holds = all(_smallest(x, "torque", "efficiency") for x in (torque, transport))
    return Statement(text, holds, f"Στ²: {_text(torque, '(N m)²', digits=0)}; transport: {_text(transport)}")


def _edges(r: _Runs) -> Statement:
    share = {o: f.zmp_offset / f.zmp_radius for o, f in ((o, r.of[o, "fif"]) for o in r.objectives)}
    text = "The zero-moment point runs along the edge of its region, except with steadiest pressure"
    holds = all((x > _AT_EDGE) != (name == "postural") for name, x in share.items())
    return Statement(text, holds, "largest offset over radius: " + _text(share))


def _smooth(r: _Runs) -> Statement:
    rough = r.by_objective("fif", "zmp_roughness")
    text = "The path of the zero-moment point is smooth with least torque and steadiest pressure only"
    return Statement(text, _smallest(rough, "torque", "postural"), _text(rough, "mm", 1000.0))


_Check = Callable[[_Runs], Statement]
_GAITS: tuple[_Check, ...] = (_speeds, _faster, _duties, _narrow, _lengths)
_BODIES: tuple[_Check, ...] = (
    _heights, _rises, _sways_least, _sways_most, _lifts, _sideways, _knees_most, _knees_least, _straight, _rolls,
    _forward, _backward, _yaws,
)  # fmt: skip
_EFFORTS: tuple[_Check, ...] = (_impact_most, _impact_least, _expensive, _cheap, _edges, _smooth)
