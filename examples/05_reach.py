"""Put both hands of a humanoid somewhere: feet fixed, balanced, inside the joint limits; once, and for a whole grid.

Run: python examples/05_reach.py
"""

from __future__ import annotations

import numpy as np

import surefoot as sf
from surefoot.tasks import Contact, FramePosition, Posture, Support

LEFT, RIGHT = "left_rubber_hand", "right_rubber_hand"


def main() -> None:
    robot = sf.load("g1")
    feet = [Contact(name, robot, name) for name in robot.contacts]
    soles = np.vstack(list(robot.contact_corners(robot.home).values()))
    balance = Support("balance", soles, margin=0.01)

    hands = [
        FramePosition("left", LEFT, [0.30, 0.20, 0.60]),
        FramePosition("right", RIGHT, [0.30, -0.20, 0.60]),
    ]
    found = sf.ik.solve(robot, [*feet, balance, *hands, Posture("posture", robot)])
    print(found.message)
    for task, parts in found.errors.items():
        print(f"  {task:24s} " + "  ".join(f"{value:.1e} {unit}" for unit, value in parts.items()))

    # how far can the left hand go, standing? a grid in front of the robot, all at once
    x, z = np.meshgrid(np.linspace(0.1, 0.7, 25), np.linspace(0.1, 1.5, 29))
    grid = np.column_stack([x.ravel(), np.full(x.size, 0.15), z.ravel()])
    reached = sf.ik.solve_batch(robot, [*feet, balance, hands[0]], {"left": grid}, restarts=8).success.reshape(x.shape)
    print("\nwhere the left hand gets to (x from 0.1 to 0.7 m to the right, z from 1.5 m down to 0.1 m):")
    for row, height in zip(reached[::-1], z[::-1, 0], strict=True):
        print(f"  {height:4.2f} m  " + "".join("#" if hit else "." for hit in row))


if __name__ == "__main__":
    main()
