"""The page of the balance regions of a robot that stands: phase portraits with margins, regulators and sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.contact import contact_placements
from surefoot.errors import NotSupportedError
from surefoot.kinematics import com
from surefoot.markup import Html, html, joined
from surefoot.reduced import critical_horizon, natural_frequency, pendulum_state
from surefoot.reduced.models import balance_set, operating_region, regulator_gains, wheel_region
from surefoot.report.figures.figure import Area, Line, figure_svg
from surefoot.report.page import html_page, html_table
from surefoot.robot import Robot, anatomy

MOMENT = 0.104
"""Usual largest moment of angular momentum, as a share of M g z: 2 N m of 7 kg at 0.279 m (Nenchev & Konno, 5.6.1)."""
LAGS = (0.02, 0.05, 0.1)
"""Of the ground force [s]."""
REGULATORS = {"poles −0.2 ω, −0.2 ω": (-0.2, -0.2), "poles −ω, −0.2 ω": (-1.0, -0.2)}
_GREY, _SAMPLE = "#888888", 0.01


@dataclass(frozen=True)
class BalanceRegions:
    """The numbers of a stance in the direction in which the robot looks.

    Args:
        robot: Its name.
        mass: [kg].
        height: Of the CoM above the soles [m].
        omega: √(g / z) [1/s].
        support: Ends of the support, from the CoM [m].
        moment: Largest moment of angular momentum [N m].
        critical_horizons: Of the capture-point regulator with lag, by lag [s].
    """

    robot: str
    mass: float
    height: float
    omega: float
    support: tuple[float, float]
    moment: float
    critical_horizons: dict[float, float]

    @property
    def impulse(self) -> float:
        """M ω s, the least impulse along this direction that tips the standing robot [N s]."""
        return self.mass * self.omega * min(-self.support[0], self.support[1])


def balance_regions(robot: Robot, moment: float | None = None) -> BalanceRegions:
    """The regions of a robot that stands at home.

    Args:
        robot: With feet.
        moment: Largest moment of angular momentum [N m]; a share of M g z if omitted.

    Raises:
        NotSupportedError: It has no feet, or its CoM is not above them.
    """
    body = anatomy(robot)
    if not body.feet:
        raise NotSupportedError(f"`{robot.name}` has no feet to stand on", next_step="see `surefoot robots` for others")
    q = np.array(robot.home)
    middle = np.array(com(robot.tree, q))
    standing = {name for foot in body.feet for name in foot.contacts}
    corners = np.vstack(
        [
            surface.corners @ T[:3, :3].T + T[:3, 3]
            for (name, surface), T in zip(robot.contacts.items(), contact_placements(robot, q[None])[0], strict=True)
            if name in standing
        ]
    )
    along = (corners - middle) @ body.forward
    support, height = (float(along.min()), float(along.max())), float(middle[2] - corners[:, 2].min())
    if not support[0] < 0.0 < support[1]:
        raise NotSupportedError(
            f"the CoM of `{robot.name}` at home is not above its feet", evidence={"support from the CoM [m]": support}
        )
    omega, gravity = natural_frequency(height), 9.81
    most = MOMENT * robot.mass * gravity * height if moment is None else moment
    horizons = {lag: critical_horizon(omega, lag) for lag in LAGS}
    return BalanceRegions(robot.name, robot.mass, height, omega, support, most, horizons)


def regions_page(regions: BalanceRegions) -> Html:
    """The page.

    Args:
        regions: From `balance_regions`.
    """
    r = regions
    rows = [
        ("mass [kg]", r.mass), ("height of the CoM z [m]", r.height), ("ω = √(g / z) [1/s]", r.omega),
        ("support behind, ahead of the CoM [m]", f"{r.support[0]:.3f}, {r.support[1]:.3f}"),
        ("largest speed that a CoP can stop, from the middle of the foot [m/s]", r.omega * np.ptp(r.support) / 2.0),
        ("least impulse that tips it, M ω s [N s]", r.impulse),
        ("moment of angular momentum [N m]", r.moment),
        *((f"critical horizon of the capture-point regulator, lag {lag:g} s [s]", t)
          for lag, t in r.critical_horizons.items()),
    ]  # fmt: skip
    figures = [
        ("Pendulum without control", "The CoP rests in the middle of the support. Shaded: some CoP stops the motion.",
         _free(r)),
        *((f"Regulator with {name}", "Shaded: brought to rest with the CoP within the feet.", _regulated(r, poles))
          for name, poles in REGULATORS.items()),
        ("Ankle, angular momentum, step", "What can still stop the motion.", _strategies(r)),
        ("Maximal admissible set", "The regulator with poles −ω, −0.5 ω keeps the CoP within the feet for ever.",
         _admissible(r)),
    ]  # fmt: skip
    parts = [
        html("<h1>Balance regions of {}</h1>", r.robot),
        html(
            "<p>The linear inverted pendulum of the robot at home, forward. Positions are measured from the middle of "
            "the support. Nenchev and Konno 2019, sections 5.3 to 5.7.</p>"
        ),
        html_table(("quantity", "value"), [(name, f"{v:.4g}" if not isinstance(v, str) else v) for name, v in rows]),
        html('<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(360px,1fr));gap:1.5rem">{}</div>',
             joined(html("<figure><h2>{}</h2>{}<figcaption>{}</figcaption></figure>", title, svg, text)
                    for title, text, svg in figures)),
    ]  # fmt: skip
    return html_page(f"Balance regions of {r.robot}", joined(parts))


def _half(r: BalanceRegions) -> float:
    return 0.5 * (r.support[1] - r.support[0])


def _limits(r: BalanceRegions) -> Array:
    """Limits of the phase plane."""
    wide = 2.0 * _half(r)
    return np.array([[-wide, wide], [-r.omega * wide, r.omega * wide]])


def _strip(r: BalanceRegions, half: float) -> Array:
    """|x + ẋ / ω| < half as a polygon."""
    tall = 20.0 * _half(r)
    return np.array(
        [[-half - tall, r.omega * tall], [half - tall, r.omega * tall], [half + tall, -r.omega * tall],
         [-half + tall, -r.omega * tall]]
    )  # fmt: skip


def _plane(r: BalanceRegions, lines: list[Line], areas: list[Area]) -> Html:
    return figure_svg(lines, ("CoM from the middle of the support [m]", "speed [m/s]"), areas, _limits(r))


def _starts(r: BalanceRegions) -> list[tuple[float, float]]:
    """States around the frame."""
    x, v = _limits(r)[:, 1]
    share = np.linspace(-0.95, 0.95, 9)
    return [(-x, v * s) for s in share] + [(x, v * s) for s in share]


def _free(r: BalanceRegions) -> Html:
    times = np.linspace(0.0, 5.0 / r.omega, 240)
    lines = []
    for x, v in _starts(r):
        com, speed = pendulum_state([x], [v], [0.0], r.omega, times)
        lines.append(Line(com[:, 0], speed[:, 0], colour=_GREY, width=1.0))
    return _plane(r, lines, [Area(_strip(r, _half(r)), "stable: |x + ẋ/ω| < l", "#228833")])


def _regulated(r: BalanceRegions, poles: tuple[float, float]) -> Html:
    half, gains = _half(r), regulator_gains(r.omega, poles)
    (x_low, x_high), (v_low, v_high) = _limits(r)
    com, speed = np.linspace(x_low, x_high, 81), np.linspace(v_low, v_high, 161)
    kept = operating_region(r.omega, gains, (-half, half), com, speed)
    lines = [_motion(r, start, gains) for start in _starts(r)]
    edges = [Line(com, (s * half - (-gains[0]) * com) / -gains[1], colour="#e08020", width=1.2, dashed=True,
                  name="CoP at the edge of the feet" if s > 0 else "") for s in (-1.0, 1.0)]  # fmt: skip
    # The outline of a region of a grid that is one interval in each row (k, 2)
    rows = [k for k in range(len(speed)) if kept[k].any()]
    left = [(com[kept[k].argmax()], speed[k]) for k in rows]
    right = [(com[len(com) - 1 - kept[k][::-1].argmax()], speed[k]) for k in rows]
    return _plane(r, lines + edges, [Area(np.array(left + right[::-1]).reshape(-1, 2), "brought to rest", "#228833")])


def _motion(r: BalanceRegions, start: tuple[float, float], gains: tuple[float, float]) -> Line:
    """The clipped regulator's motion, exact for CoPs held for 2 % of 1 / ω."""
    half, (c, s) = _half(r), (np.cosh(0.02), np.sinh(0.02))
    path = [np.array(start)]
    for _ in range(400):
        x, v = path[-1]
        p = float(np.clip(-gains[0] * x - gains[1] * v, -half, half))
        path.append(np.array([p + c * (x - p) + s * v / r.omega, r.omega * s * (x - p) + c * v]))
    x, v = np.array(path).T
    return Line(x, v, colour=_GREY, width=1.0)


def _strategies(r: BalanceRegions) -> Html:
    half = _half(r)
    wide = wheel_region((-half, half), r.moment, r.mass * 9.81)[1]
    areas = [
        Area(_strip(r, 50.0 * half), "only a step", "#ee6677"),
        Area(_strip(r, wide), "angular momentum", "#ccbb44"),
        Area(_strip(r, half), "ankle", "#228833"),
    ]
    return _plane(r, [], areas)


def _admissible(r: BalanceRegions) -> Html:
    half = _half(r)
    gains = regulator_gains(r.omega, (-1.0, -0.5))
    found = balance_set(r.omega, _SAMPLE, [gains], [[1.0], [-1.0]], [half, half], exact=True)
    turn = np.linspace(0.0, 2.0 * np.pi, 361)
    ways = np.stack([np.cos(turn), r.omega * np.sin(turn)], axis=1)
    reach = 1.0 / np.maximum((ways @ found.rows.T / found.bounds).max(axis=1), 1e-9)
    areas = [
        Area(_strip(r, half), "some CoP stops it", "#ccbb44"),
        Area(ways * reach[:, None], "admissible for ever", "#228833"),
    ]
    return _plane(r, [], areas)
