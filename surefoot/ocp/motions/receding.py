"""Problems for receding horizons: standing, and a trot in which two diagonal pairs of feet take turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.kinematics import com
from surefoot.ocp import blocks
from surefoot.ocp.formulation import Formulation
from surefoot.ocp.node import Node
from surefoot.ocp.problem import Problem
from surefoot.ops import Array as AnyArray
from surefoot.robot import Robot

_LIFT = 0.2  # height of swinging feet, share of that of the centre of mass
_SOFT = 0.15  # what 1 m/s of a landing foot costs, as an error of height [s]
_GRIP = 0.8  # share of the friction that a trot uses; the rest is for landings
_STAND = 0.3  # how long a trot stands first [s]
_BOTH = 0.02  # time on four feet between steps [s]


def stand(robot: Robot, step: float = 0.02, formulation: Formulation | None = None) -> Problem:
    """Keep the home posture on all contacts.

    Args:
        robot: A robot with a floating base that stands on its contacts at home.
        step: Length of an interval [s].
        formulation: Direct inverse dynamics with semi-implicit steps if None.
    """
    problem = _on_feet(robot, formulation)
    problem.phase("stand", list(robot.contacts), 1, step)
    _costs(problem, lambda t: np.zeros(2), (0.0, 0.0))
    return problem


def trot(
    robot: Robot,
    speed: tuple[float, float] = (0.0, 0.0),
    step: float = 0.02,
    swing: float | None = None,
    formulation: Formulation | None = None,
) -> Problem:
    """Stand, then trot for ever: repeats from the phase "first pair".

    Footholds are free; the solver finds them. Only the height of swinging feet is led; they slow down before they land.

    Args:
        robot: A robot with four feet.
        speed: Forward and to the left [m/s].
        step: Length of an interval [s].
        swing: Time of a foot in the air [s]; √(h/g) with the height h of the centre of mass if None.
        formulation: Direct inverse dynamics with semi-implicit steps if None.
    """
    problem = _on_feet(robot, formulation)
    first, second = _diagonals(robot)
    height, gravity = _height(robot), float(np.linalg.norm(robot.tree.gravity))
    count = max(4, round((np.sqrt(height / gravity) if swing is None else swing) / step))
    both, before = max(1, round(_BOTH / step)), max(2, round(_STAND / step))
    free = dict.fromkeys(robot.contacts, (0, 1))
    feet, grip = [*first, *second], _GRIP * min(surface.friction for surface in robot.contacts.values())
    problem.phase("stand", feet, before, before * step, free=free, friction=grip)
    for name, pair in (("first pair", first), ("second pair", second)):
        problem.phase(name, pair, count, count * step, free=free, transition="soft", friction=grip)
        problem.phase(f"all after {name}", feet, both, both * step, free=free, transition="soft", friction=grip)
    cycle, ground = 2 * (count + both), {name: problem.phases[0].spots[name][2, 3] for name in feet}
    for k, (phase, pair) in enumerate((("first pair", second), ("second pair", first))):

        def led(t: float, begin: int = before + k * (count + both), z: float = float(ground[pair[0]])) -> Array:
            share = (round(t / step) - begin) % cycle / count
            return np.array([z + _LIFT * height * np.sin(np.pi * min(share, 1.0)) ** 2, _SOFT * min(share, 1.0) ** 3])

        problem.cost(f"swing {k}", 2e4, _swings(pair), reference=led, phases=[phase], key=("swings", *pair))

    def way(t: float) -> Array:
        return max(0.0, t - before * step) * np.asarray(speed, dtype=float)

    _costs(problem, way, speed)
    return problem


def _on_feet(robot: Robot, formulation: Formulation | None) -> Problem:
    if robot.base != "floating" or not robot.contacts:
        raise NotSupportedError(
            f"`{robot.name}` does not stand on contacts", next_step="use a robot with a floating base and feet"
        )
    problem = Problem(robot, formulation=formulation)
    problem.limits(positions=False, velocities=False)
    return problem


def _costs(problem: Problem, way: Callable[[float], Array], speed: Sequence[float]) -> None:
    """Stay on the way, upright, near the home posture; accelerate little; the same at the end of the horizon."""
    robot = problem.robot
    home = problem.chart.coordinates(robot.home)
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))

    def there(t: float) -> Array:
        y = home[:6].copy()
        y[:2] += way(t)
        return y

    pace = np.array([*speed, 0.0, 0.0, 0.0, 0.0])
    problem.cost("base", 200.0, _base, reference=there, key=("base",))
    problem.cost("base speed", 5.0, _base_speed, reference=pace, key=("base speed",))
    problem.cost("joint_posture", 20.0, reference=home[robot.driven])
    problem.cost("joint_speed", 0.1)
    if problem.formulation.dynamics == "centroidal":
        problem.cost("momentum", 10.0 / (robot.mass * _height(robot)) ** 2)
    else:
        problem.cost("acceleration", 2e-4)
    problem.cost("contact_force", 10.0 / weight**2)
    problem.cost("last base", 40.0, _base, reference=there, at="end", key=("base",))
    problem.cost(
        "last posture", 4.0, blocks.joint_posture, reference=home[robot.driven], at="end", key=("joint_posture",)
    )
    if problem.formulation.dynamics != "centroidal":
        problem.cost("last speed", 1.0, _base_speed, reference=pace, at="end", key=("base speed",))


def _base(node: Node, reference: AnyArray) -> AnyArray:
    """Position, yaw, pitch and roll of the base against a reference."""
    return node.y[:6] - reference


def _base_speed(node: Node, reference: AnyArray) -> AnyArray:
    """Rates of the base against a reference."""
    return node.dy[:6] - reference


def _swings(feet: Sequence[str]) -> Callable[..., AnyArray]:
    """Heights of contacts over a reference [m], and their velocities times a second one [s]."""

    def rows(node: Node, reference: AnyArray) -> AnyArray:
        heights = [node.placement(name)[2, 3] - reference[0] for name in feet]
        speeds = [reference[1] * node.velocity(name, "local_world_aligned")[:3] for name in feet]
        return ops.concatenate([ops.stack(heights), *speeds])

    return rows


def _diagonals(robot: Robot) -> tuple[list[str], list[str]]:
    """Front left with hind right, and front right with hind left."""
    places = robot.placements(robot.home)
    at = {name: (places[c.frame] @ c.placement)[:2, 3] for name, c in robot.contacts.items()}
    if len(at) != 4:
        raise NotSupportedError(
            f"a trot needs four feet; `{robot.name}` has {len(at)}", next_step="use a quadruped such as go2"
        )
    middle = np.mean(list(at.values()), axis=0)
    side = {name: np.sign(p - middle) for name, p in at.items()}
    first = [name for name in at if side[name][0] * side[name][1] > 0.0]
    second = [name for name in at if name not in first]
    if len(first) != 2:
        raise NotSupportedError(f"the feet of `{robot.name}` do not form two diagonal pairs at home")
    return first, second


def _height(robot: Robot) -> float:
    return float(np.asarray(com(robot.tree, np.array(robot.home)), dtype=float)[2])
