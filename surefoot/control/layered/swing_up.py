"""Swing-up and balance of a cart-pole: the rules, the ten cases of Busenhart 1994, section 6.1, and their simulation.

The plant is simulated from its explicit equations, independent of the formalism that the controller uses. The weights
of the execution (6.14) are lost; those here were searched for, so that as many of the published outcomes as possible
hold (`docs/balance-methods.md`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi, sqrt

import numpy as np

from surefoot.arrays import Array
from surefoot.control.layered.controller import LayeredController, LayeredSettings
from surefoot.control.layered.rules import Rule, Weight
from surefoot.redundant import Model, load_model
from surefoot.solvers import ode

__all__ = [
    "CASES",
    "ExecutionWeights",
    "SwingUp",
    "SwingUpCase",
    "believed_model",
    "cart_pole_rules",
    "controller_of",
    "run_case",
]

_G, _STOP, _FINE = 9.81, 5.0, 0.005
_UPRIGHT, _CALM, _AWAY = 0.15, 0.25, 1.0  # [rad]
_NOISE = np.array([0.1 * pi, 0.1, 0.1 * pi, 0.1])  # tilt [rad], travel [m] and their rates


@dataclass(frozen=True)
class SwingUpCase:
    """One case of section 6.1.

    Args:
        name: Its number; `x` for those that the thesis reports as failing.
        about: What is special.
        outcome: What the thesis reports.
        stable: Whether the pole ends upright there.
        travel: Where the cart starts [m]; the pole hangs.
        gains: p21 and p41 (critically damped), p13.
        error: Share by which the controller's masses and length are wrong.
        dt: Sample period [s].
        noise: Share of the sensor noise of cases 7 and 8.
        trust: Share of a measurement in the estimate.
        limit: Of the force [N]; None for none.
    """

    name: str
    about: str
    outcome: str
    stable: bool = True
    travel: float = 0.0
    gains: tuple[float, float, float] = (20.0, 20.0, -0.5)
    error: float = 0.0
    dt: float = 0.01
    noise: float = 0.0
    trust: float = 1.0
    limit: float | None = 20.0


CASES = (
    SwingUpCase("1", "soft gains", "upright on the 3rd swing, about 20 N", travel=1.0, gains=(10.0, 10.0, -0.5)),
    SwingUpCase("2", "hard gains, no force limit", "upright on the 1st swing, about 100 N", travel=1.0,
                gains=(120.0, 120.0, -1.0), limit=None),
    SwingUpCase("3", "hard gains, 20 N", "falls once more, then stable; 200 N demanded", travel=1.0,
                gains=(120.0, 120.0, -1.0)),
    SwingUpCase("4", "nominal", "stable"),
    SwingUpCase("5", "parameters wrong by 20 %", "stable", error=0.2),
    SwingUpCase("6", "parameters wrong by 45 %", "stable, poorly damped", error=0.45),
    SwingUpCase("6x", "parameters wrong by 50 %", "unstable", stable=False, error=0.5),
    SwingUpCase("7", "noisy sensors", "stable, disturbed", noise=1.0),
    SwingUpCase("8", "noisy sensors, trusted by 0.4", "stable", noise=1.0, trust=0.4),
    SwingUpCase("9", "samples of 0.03 s", "stable", dt=0.03),
    SwingUpCase("10", "samples of 0.06 s", "stable", dt=0.06),
    SwingUpCase("10x", "samples of 0.07 s", "fails", stable=False, dt=0.07),
)  # fmt: skip
"""The published cases, with the limits that they report."""

_COSINE = ((-1.0, 1.0), (-0.5, 0.25), (0.0, 0.0), (0.5, 0.25), (1.0, 1.0))
_SINE = ((-1.0, 0.0), (-0.8, 0.6), (-0.6, 0.8), (0.0, 1.0), (0.6, 0.8), (0.8, 0.6), (1.0, 0.0))


@dataclass(frozen=True)
class ExecutionWeights:
    """Weights of the execution, found by search; laws have 1.

    Args:
        cart: Of the cart's acceleration; a tenth of it where the pole is level (Fig. 6.5).
        turn: Of the pole's angular acceleration, where the pole is vertical.
        level: Least share of `turn`, where the pole is level and the cart cannot turn it.
        across: Of the tip's acceleration along the track.
        up: Of the tip's vertical acceleration, where the pole is level.
        effort: Of small forces.
    """

    cart: float = 4.14e-6
    turn: float = 3.52e-6
    level: float = 0.0595
    across: float = 5.28e-6
    up: float = 8.54e-5
    effort: float = 4.65e-8


def cart_pole_rules(
    gains: tuple[float, float, float] = (20.0, 20.0, -0.5),
    length: float = 1.0,
    weights: ExecutionWeights | None = None,
) -> tuple[Rule, ...]:
    """The coordination of section 6.1.2; in (6.10) the book prints (1 + p13 X22), which is unstable upright.

    Args:
        gains: p21, p41 and p13.
        length: Of the pole, as the controller believes it [m].
        weights: Of the execution.
    """
    turn, up, feed = gains
    w = weights or ExecutionWeights()
    level = tuple((x, max(share, w.level)) for x, share in _COSINE)
    return (
        Rule("pole.x", 0.0, 10.0, 10.0 * sqrt(10.0), Weight(w.across)),
        Rule("pole.y", length, up, 2.0 * sqrt(up), Weight(w.up, "pole.y", _SINE)),
        Rule("pole.turn", 0.0, turn, 2.0 * sqrt(turn), Weight(w.turn, "pole.y", level)),
        Rule("cart.x", "pole.x", 30.0, 2.0 * sqrt(30.0),
             Weight(w.cart, "pole.y", ((-1.0, 1.0), (0.0, 0.1), (1.0, 1.0))), (feed, "pole.y", "pole.x")),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SwingUp:
    """What happened.

    Args:
        case: Which case.
        time: (n,) [s].
        tilt: (n,) from upright, −π to π [rad].
        travel: (n,) of the cart [m].
        force: (n,) applied [N].
        stable: Whether the pole stayed upright over the last 3 s.
        upright_at: When it came upright for good [s]; None if it did not.
        swings: How often it turned back on the way.
        demanded: Largest force that the controller asked for [N].
    """

    case: SwingUpCase
    time: Array
    tilt: Array
    travel: Array
    force: Array
    stable: bool
    upright_at: float | None
    swings: int
    demanded: float


@dataclass
class _Plant:
    """The cart-pole in explicit equations: travel, tilt and their rates."""

    state: Array = field(default_factory=lambda: np.zeros(4))

    def advance(self, force: float, duration: float) -> None:
        """Integrate with the force held; the cart stops plastically at the ends of its track."""
        count = int(np.ceil(duration / _FINE))
        for _ in range(count):
            self.state = ode.runge_kutta_step(lambda t, x: _field(x, force), 0.0, self.state, duration / count, ode.RK4)
            travel, tilt, speed, turning = self.state
            if abs(travel) > _STOP:
                hits = travel * speed > 0.0
                turning = turning - np.cos(tilt) * speed if hits else turning  # the tip keeps its momentum across
                speed = 0.0 if hits else speed
                self.state = np.array([np.sign(travel) * _STOP, tilt, speed, turning])


def _field(x: Array, force: float) -> Array:
    m1, m2, length = 1.0, 0.1, 1.0
    _, tilt, speed, turning = x
    s, c = np.sin(tilt), np.cos(tilt)
    push = (force + m2 * _G * s * c - m2 * length * turning**2 * s) / (m1 + m2 * s * s)
    return np.array([speed, turning, push, (c * push + _G * s) / length])


def believed_model(case: SwingUpCase) -> Model:
    """The model in the controller: wrong by the error of the case, with its force limit."""
    data, e = load_model("cart-pole").model_dump(exclude_none=True), case.error
    cart, pole = data["bodies"]
    cart["mass"], pole["mass"] = 1.0 - e, 0.1 * (1.0 + e)
    data["hinges"][1]["links"][0]["offset"] = (0.0, 1.0 + e)
    push = data["actuators"][0]
    push |= {"lower": None, "upper": None} if case.limit is None else {"lower": -case.limit, "upper": case.limit}
    return Model.model_validate(data)


def controller_of(
    case: SwingUpCase, tilt: float = pi, weights: ExecutionWeights | None = None
) -> tuple[LayeredController, list[int]]:
    """The controller of a case, and the order of (tilt, travel) that it wants its measurements in.

    Args:
        case: Which one.
        tilt: Where it believes the pole to be at first [rad].
        weights: Of the execution.
    """
    w, model = weights or ExecutionWeights(), believed_model(case)
    settings = LayeredSettings(case.dt, case.trust, w.effort)
    places = model.layout.dynamics_places  # the cart neither turns nor rises
    fixed = (places["turn"].start, places["move"].start + 1)
    rules = cart_pole_rules(case.gains, 1.0 + case.error, w)
    control = LayeredController(model, rules, {"travel": case.travel, "tilt": tilt}, settings, fixed)
    return control, [("tilt", "travel").index(name) for name in model.layout.freedoms.names]


def run_case(
    case: SwingUpCase, duration: float = 15.0, seed: int = 0, weights: ExecutionWeights | None = None
) -> SwingUp:
    """Simulate a case.

    Args:
        case: Which one.
        duration: [s].
        seed: Of the sensor noise.
        weights: Of the execution.
    """
    control, order = controller_of(case, pi, weights)
    rng = np.random.default_rng(seed)
    plant, force, demanded, rows = _Plant(np.array([case.travel, pi, 0.0, 0.0])), 0.0, 0.0, []
    for k in range(round(duration / case.dt)):
        travel, tilt, speed, turning = plant.state
        seen = np.array([tilt, travel, turning, speed]) + case.noise * _NOISE * rng.normal(size=4)
        command = control.command(seen[:2][order], seen[2:][order])
        demanded = max(demanded, float(np.abs(control.asked).max()))
        rows.append((k * case.dt, np.remainder(tilt + pi, 2.0 * pi) - pi, travel, force, turning))
        plant.advance(force, case.dt)
        force = float(command[0])
    return _judged(case, np.array(rows), demanded)


def _judged(case: SwingUpCase, rows: Array, demanded: float) -> SwingUp:
    time, tilt, travel, force, turning = rows.T
    calm = _CALM if case.noise == 0.0 else 1.2
    stable = bool((np.abs(tilt[time > time[-1] - 3.0]) < calm).all())
    away = np.flatnonzero(np.abs(tilt) > _AWAY)
    after = np.flatnonzero((np.abs(tilt) < _UPRIGHT) & (np.arange(len(tilt)) > (away[-1] if len(away) else -1)))
    upright = float(time[after[0]]) if stable and len(after) else None
    before = time < (upright if upright is not None else np.inf)
    turns = (turning[1:] * turning[:-1] < 0.0) & before[1:] & (np.abs(tilt[1:]) > 2.0 * _UPRIGHT)
    return SwingUp(case, time, tilt, travel, force, stable, upright, int(turns.sum()), demanded)
