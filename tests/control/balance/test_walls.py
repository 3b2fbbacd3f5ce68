"""A wall beside an arm that is asked to reach through it."""

import numpy as np

from surefoot.collision import CollisionModel
from surefoot.scenario.build import build_simulation
from surefoot.scenario.schema import Scenario

FACE = 0.11  # of the wall [m]


def reached(**obstacle):
    """The simulation and log of a reach that ends at x = 0.13 m if nothing is in its way."""
    wall = {"kind": "box", "name": "wall", "size": [0.05, 1.0, 1.0], "position": [FACE + 0.025, 0.0, 0.4], **obstacle}
    reach = {
        "kind": "reach",
        "frame": "left_grip",
        "offset": [0.1, 0.0, 0.08],
        "start": 0.2,
        "duration": 3.0,
        "ramp": 0.7,
    }
    simulation = build_simulation(
        Scenario.model_validate(
            {
                "name": "wall",
                "robot": {"name": "small-humanoid"},
                "world": {"obstacles": [wall]},
                "controller": {"kind": "balance"},
                "balance": {"moves": [reach | {"ramp": 0.7}]},
                "simulation": {"duration": 1.4},
            }
        )
    )
    return simulation, simulation.run()


def test_an_arm_stops_short_of_a_wall():
    simulation, log = reached()
    world = simulation.world
    names = [(link, "wall") for link in ("left_upper_arm", "left_forearm", "right_forearm")]
    model = CollisionModel(simulation.robot, world, pairs=names)
    nearest = model.distances(log["q"][::20]).min()
    assert 0.005 < nearest < 0.03  # comes near, and never touches
    assert not [item for item in log.metadata["incidents"] if item["kind"] == "obstacle_touch"]
    assert log.metadata["fall_time_s"] is None
    assert log["control.fallbacks"][-1] == 0.0
    assert np.rad2deg(log["base.tilt"].max()) < 3.0


def test_without_a_wall_it_goes_farther_and_has_no_rows_for_one():
    simulation, log = reached(position=[FACE + 2.0, 0.0, 0.4], touchable=True)
    grip = simulation.robot.placements(log["q"][-1])["left_grip"][0, 3]
    assert grip > FACE + 0.01
    assert simulation.controller.body.problem.rows.walls == slice(
        *[simulation.controller.body.problem.rows.walls.stop] * 2
    )
