"""Times Drake; run by an interpreter that has it: `python drake_script.py FOLDER`. Imports nothing of surefoot.

FOLDER holds robot.urdf, states.npz (q, v, a (n, …) in Drake's layout, joints in the order of the robot) and plan.json;
results.json and answers.npz are written there. Drake keeps a state in its context: copying it there is part of a call.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["main"]


def main(folder: Path) -> None:
    """Time and answer all cases; the files are in the folder."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    plant = _plant(folder / "robot.urdf", plan)
    order_q, order_v = _orders(plant, plan)
    states = np.load(folder / "states.npz")
    rows = list(zip(states["q"][:, order_q], states["v"][:, order_v], states["a"][:, order_v], strict=True))
    results, answers = {}, {}
    for name, call in _calls(plant, plan["frames"]).items():
        found = np.array([np.array(call(*row)) for row in rows[: plan["answers"]]])
        answers[name] = _in_robot_order(name, found, order_v)
        results[name] = _durations(call, rows, plan)
    np.savez(folder / "answers.npz", **answers)
    (folder / "results.json").write_text(json.dumps({"version": version("drake"), "groups": results}), encoding="utf-8")


def _plant(urdf: Path, plan: dict[str, Any]) -> Any:
    logging.getLogger("drake").setLevel(logging.ERROR)
    plant = import_module("pydrake.multibody.plant").MultibodyPlant(0.0)
    import_module("pydrake.multibody.parsing").Parser(plant).AddModels(str(urdf))
    if plan["fixed"]:
        plant.WeldFrames(plant.world_frame(), plant.GetBodyByName(plan["root"]).body_frame())
    plant.Finalize()
    return plant


def _orders(plant: Any, plan: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Which entry of the robot's layout each entry of the plant's is."""
    order_q, order_v = [-1] * plant.num_positions(), [-1] * plant.num_velocities()
    for joint in plan["joints"]:
        if joint["name"] is None:
            body = plant.GetBodyByName(plan["root"])
            at_q, at_v = body.floating_positions_start(), body.floating_velocities_start_in_v()
        else:
            found = plant.GetJointByName(joint["name"])
            at_q, at_v = found.position_start(), found.velocity_start()
        for at, (start, stop), order in ((at_q, joint["q"], order_q), (at_v, joint["v"], order_v)):
            order[at : at + stop - start] = range(start, stop)
    if -1 in order_q + order_v:
        raise SystemExit("Drake's model has joints that the robot has not")
    return order_q, order_v


def _in_robot_order(name: str, found: Any, order: list[int]) -> Any:
    back = np.argsort(order)
    return found[:, back][:, :, back] if name == "crba" else found[..., back]


def _calls(plant: Any, frames: list[str]) -> dict[str, Any]:
    tree = import_module("pydrake.multibody.tree")
    context, forces, world = plant.CreateDefaultContext(), tree.MultibodyForces(plant), plant.world_frame()
    ends, origin = [plant.GetBodyByName(x).body_frame() for x in frames], np.zeros(3)
    wrt = tree.JacobianWrtVariable.kV

    def inverse(q: Any, v: Any, a: Any) -> Any:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, a, forces)

    def mass(q: Any, v: Any, a: Any) -> Any:
        plant.SetPositions(context, q)
        return plant.CalcMassMatrix(context)

    def jacobians(q: Any, v: Any, a: Any) -> Any:
        plant.SetPositions(context, q)
        return [plant.CalcJacobianSpatialVelocity(context, wrt, end, origin, world, world) for end in ends]

    return {"rnea": inverse, "crba": mass, "frames": jacobians}


def _durations(call: Any, rows: list[Any], plan: dict[str, Any]) -> list[list[float]]:
    """Durations of passes over all states [s], group by group."""
    groups = []
    for _ in range(plan["repeats"]):
        found: list[float] = []
        end = time.perf_counter() + plan["seconds"]
        while len(found) < plan["passes"] or time.perf_counter() < end:
            start = time.process_time()
            for row in rows:
                call(*row)
            found.append(time.process_time() - start)
        groups.append(found)
    return groups


if __name__ == "__main__":
    main(Path(sys.argv[1]))
