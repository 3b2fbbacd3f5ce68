"""A delta robot: three driven arms on a fixed base, forearms, and a platform that only translates.

Each forearm of the machine is a parallelogram: two equal rods side by side, which keep the platform from turning.
As they stay parallel, one rod of their common mass in the middle moves and weighs alike (only its spin about itself
differs), and the platform hangs on the world by three slides. That leaves three loops, one per forearm, each of three
rows, all independent: 12 degrees of freedom less 9. Clavel 1988; sizes and masses are our choice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ModelError
from surefoot.robot.assemble import Parts
from surefoot.robot.drives import Drive
from surefoot.robot.links import Joint, Link, NamedFrame, placement
from surefoot.robot.loops import Loop
from surefoot.robot.zoo.limbs import Plan
from surefoot.robot.zoo.solids import ball, bar, drum, link_of
from surefoot.spatial import so3

__all__ = ["ARMS", "delta", "delta_arm_angles", "delta_posture"]

ARMS = ("a", "b", "c")  # at 0°, 120° and 240° about z
_TURNS = tuple(so3.exp([0.0, 0.0, 2.0 * np.pi * k / 3.0]) for k in range(3))
_POINT = (True, True, True, False, False, False)
_ARM_HOME = float(np.deg2rad(20.0))  # below horizontal
_ARM_MASS, _CROSS_MASS, _ROD_MASS, _PLATFORM_MASS = 0.4, 0.03, 0.12, 0.25  # kg
_TORQUE, _SPEED = 15.0, 20.0  # N m, rad/s
_RANGE = float(np.deg2rad(-45.0)), float(np.deg2rad(90.0))  # of the arms
_RATIO, _ROTOR = 10.0, 2.0e-5  # motor turns per turn of an arm, kg m²


def delta(base: float = 0.12, arm: float = 0.2, forearm: float = 0.45, platform: float = 0.05) -> Plan:
    """The robot hangs below z = 0; the frame `tool` is the middle of its platform.

    Joints: `arm_a`, `arm_b`, `arm_c` (driven, from outwards horizontal at 0 downwards), `elbow_…` (along the arm's
    axis) and `swing_…` (across) of every forearm, and `platform`, the way of the platform from home (3,).

    Args:
        base: From the middle to the axes of the arms [m].
        arm: Length of an upper arm [m].
        forearm: Length of a forearm [m].
        platform: From the middle of the platform to the ends of the forearms [m].

    Raises:
        ModelError: The loops cannot close at home.
    """
    bend, height = _home_bend(base, arm, forearm, platform)
    links, loops = [_platform(platform, height)], []
    home: dict[str, float] = {}
    for name, R in zip(ARMS, _TURNS, strict=True):
        links += _leg(name, R, base, arm, forearm)
        ends = placement(platform * R[:, 0]), placement((0.0, 0.0, -forearm))
        loops.append(Loop(f"forearm_{name}", "platform", f"forearm_{name}", *ends, _POINT))
        home |= {f"arm_{name}": _ARM_HOME, f"elbow_{name}": bend - _ARM_HOME, f"swing_{name}": 0.0}
    drives = tuple(Drive(f"arm_{name}", _RATIO, _ROTOR, torque_limit=_TORQUE, speed_limit=_SPEED) for name in ARMS)
    frames = (NamedFrame("tool", "platform"),)
    parts = Parts(drives=drives, loops=tuple(loops), home=home, contacts=(), frames=frames)
    return Plan("delta", tuple(links), "fixed", parts)


def delta_arm_angles(
    position: ArrayLike, base: float = 0.12, arm: float = 0.2, forearm: float = 0.45, platform: float = 0.05
) -> Array:
    """Angles (3,) of the arms that bring the middle of the platform to a position, elbows outwards [rad].

    With X = x + platform - base in the plane of each arm, |tip - elbow| = forearm reads X cos θ - z sin θ = C, C =
    (X² + y² + z² + arm² - forearm²) / (2 arm).

    Args:
        position: (3,) in the world [m].
        base: From the middle to the axes of the arms [m].
        arm: Length of an upper arm [m].
        forearm: Length of a forearm [m].
        platform: From the middle of the platform to the ends of the forearms [m].

    Raises:
        ModelError: A forearm does not reach.
    """
    out = np.zeros(3)
    for k, R in enumerate(_TURNS):
        x, y, z = R.T @ np.asarray(position, dtype=float)
        X = x + platform - base
        share = (X**2 + y**2 + z**2 + arm**2 - forearm**2) / (2.0 * arm * np.hypot(X, z))
        if not abs(share) <= 1.0:
            near, far = (np.hypot(np.hypot(X, z) + side * arm, y) for side in (-1.0, 1.0))
            raise ModelError(
                f"loop `forearm_{ARMS[k]}` cannot close at this position of the platform",
                evidence={
                    "position": np.asarray(position).tolist(),
                    "residual": float(max(near - forearm, forearm - far)),
                },
                next_step="bring the platform nearer to the middle",
            )
        out[k] = np.arctan2(-z, X) - np.arccos(share)
    return out


def delta_posture(
    position: ArrayLike, base: float = 0.12, arm: float = 0.2, forearm: float = 0.45, platform: float = 0.05
) -> dict[str, float]:
    """Positions of all one-axis joints by name, with the platform at a position [rad].

    Args:
        position: (3,) of the platform's middle in the world [m].
        base: From the middle to the axes of the arms [m].
        arm: Length of an upper arm [m].
        forearm: Length of a forearm [m].
        platform: From the middle of the platform to the ends of the forearms [m].
    """
    out: dict[str, float] = {}
    angles = delta_arm_angles(position, base, arm, forearm, platform)
    for name, R, angle in zip(ARMS, _TURNS, angles, strict=True):
        elbow = np.array([base + arm * np.cos(angle), 0.0, -arm * np.sin(angle)])
        x, y, z = (R.T @ np.asarray(position, dtype=float) + [platform, 0.0, 0.0] - elbow) / forearm
        bend = float(np.arctan2(-x, -z))
        out |= {f"arm_{name}": float(angle), f"elbow_{name}": bend - float(angle), f"swing_{name}": float(np.arcsin(y))}
    return out


def _home_bend(base: float, arm: float, forearm: float, platform: float) -> tuple[float, float]:
    """At home: the angle of the forearms against the vertical [rad], and how far the platform hangs down [m]."""
    reach = base - platform + arm * np.cos(_ARM_HOME)
    if abs(reach) >= forearm:
        raise ModelError(
            f"loop `forearm_a` of the delta robot cannot close at home: {abs(reach) - forearm:.3g} m open",
            evidence={"base": base, "arm": arm, "forearm": forearm, "platform": platform},
            next_step="give longer forearms",
        )
    bend = float(np.arcsin(reach / forearm))
    return bend, float(arm * np.sin(_ARM_HOME) + forearm * np.cos(bend))


def _platform(radius: float, height: float) -> Link:
    slides = Joint("platform_slides", "translation", placement((0.0, 0.0, -height)))
    plate = drum(_PLATFORM_MASS, radius, (0.0, 0.0, -0.01), (0.0, 0.0, 0.01), touches=False)
    return link_of("platform", None, slides, [plate])


def _leg(name: str, R: Array, base: float, arm: float, forearm: float) -> list[Link]:
    """An arm, and its forearm on a universal joint: two hinges with a cross between them."""
    shoulder = Joint(f"arm_{name}", "revolute", placement(base * R[:, 0], R), (0.0, 1.0, 0.0), lower=_RANGE[0],
                     upper=_RANGE[1], velocity=_SPEED, effort=_TORQUE)  # fmt: skip
    elbow = Joint(f"elbow_{name}", "revolute", placement((arm, 0.0, 0.0)), (0.0, 1.0, 0.0))
    swing = Joint(f"swing_{name}", "revolute", placement(), (1.0, 0.0, 0.0))
    upper = drum(_ARM_MASS, 0.012, (0.0, 0.0, 0.0), (arm, 0.0, 0.0), touches=False)
    rod = bar(_ROD_MASS, 0.006, (0.0, 0.0, 0.0), (0.0, 0.0, -forearm), touches=False)
    return [
        link_of(f"upper_{name}", None, shoulder, [upper]),
        link_of(f"cross_{name}", f"upper_{name}", elbow, [ball(_CROSS_MASS, 0.012, touches=False)]),
        link_of(f"forearm_{name}", f"cross_{name}", swing, [rod]),
    ]
