"""`overstep`: two steps over a box that lies across the way, by optimal control."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.errors import ScenarioError
from surefoot.geometry import Box
from surefoot.motion import World
from surefoot.ocp import motions as problems
from surefoot.ocp import prices
from surefoot.robot import Robot
from surefoot.scenario.motions.optimal import options_for, plan_of_solution
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable

__all__ = ["overstep"]

_HIGHEST = 1.0  # [m] beyond which no obstacle is looked for


def overstep(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Step over the box of the world, or over the highest that the robot can do.

    Args:
        table: length: first guess of the step [m]; highest; pressure_box; solver.
        robot: A biped with flat feet.
        world: With one box across the way.

    Raises:
        ScenarioError: The world does not have one box.
    """
    boxes = [(item, item.shape) for item in world.obstacles if isinstance(item.shape, Box)]
    if len(boxes) != 1:
        raise ScenarioError(
            "there must be one box to step over", evidence={"boxes": len(boxes)}, next_step="add [[world.obstacles]]"
        )
    box, shape = boxes[0]
    width, breadth, height = shape.size
    task = problems.Overstep(
        height=_HIGHEST if table.highest else float(height),
        width=float(width),
        distance=None if table.highest else float(box.pose[0, 3]),
        length=table.length or problems.Overstep.length,
        pressure_box=table.pressure_box,
    )
    solution = problems.solve_overstep(robot, task, table.solver or "riccati", options_for(robot))
    plan, reached = plan_of_solution(table, robot, solution), solution.parameters[problems.HEIGHT]
    plan = replace(plan, metrics={**plan.metrics, **problems.step_sizes(solution)})
    if table.highest:
        pose = np.array(box.pose)
        pose[0, 3], pose[2, 3] = solution.parameters[problems.DISTANCE], 0.5 * reached
        higher = replace(box, shape=Box((width, breadth, reached)), pose=pose)
        others = tuple(item for item in world.obstacles if item is not box)
        return replace(plan, world=replace(world, obstacles=(*others, higher)))
    if plan.trouble is None and reached < height - 1e-3:
        limits = [name for name in prices(solution) if not name.startswith(("obstacle ", "duration", "parameter"))][:3]
        trouble = f"it can step over no more than {reached:.3f} m here; what holds it back: {', '.join(limits)}"
        return replace(plan, trouble=trouble)
    return plan
