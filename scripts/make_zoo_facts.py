"""Write `surefoot/robot/zoo/facts.toml`: what `surefoot robots` says about each robot, without loading it.

python scripts/make_zoo_facts.py
"""

from __future__ import annotations

import json
from pathlib import Path

from surefoot.robot import Robot, anatomy, load, zoo

TARGET = Path(__file__).parents[1] / "surefoot" / "robot" / "zoo" / "facts.toml"
_FEET = {2: "biped", 4: "quadruped", 6: "hexapod"}
_WORDS = {
    "Apache License": "Apache-2.0", "BSD": "BSD-3-Clause", "Redistribution and use in source": "BSD-3-Clause",
    "MIT License": "MIT", "for any\n * purpose with or without fee": "ISC",
}  # fmt: skip


def kind_of(robot: Robot) -> str:
    """What a robot is, by its base and its feet."""
    if robot.base == "fixed":
        return "mechanism" if robot.loops else "arm" if robot.nv > 1 else "pendulum"
    if robot.base == "planar":
        return "planar robot"
    feet = len(anatomy(robot).feet)
    if feet == 2 and _joints_beside_legs(robot) >= 4:
        return "humanoid"
    return _FEET.get(feet, "floating robot")


def _joints_beside_legs(robot: Robot) -> int:
    """Joints of arms, trunk and head."""
    tree, base = robot.tree, robot.base_joint or 0
    feet = [robot.body_of(foot.link) for foot in anatomy(robot).feet]
    limbs = {[*reversed(tree.ancestors(foot)), foot][base + 1] for foot in feet}
    legs = {i for i in range(tree.n) if limbs & {i, *tree.ancestors(i)}}
    return sum(i not in legs for i in range(base + 1, tree.n))


def licence_of(robot: Robot) -> str:
    """Licence of the data: that in the robot's own folder, else that of the package which ships it."""
    if not robot.source:
        return "MIT"
    folder = next((x for x in Path(robot.source).parents if x.parent.name == "robots"), Path(robot.source).parent)
    for file in (*sorted(folder.glob("LICEN*")), Path(robot.source)):
        head = file.read_text(encoding="utf-8", errors="replace")[:2000]
        if found := next((name for words, name in _WORDS.items() if words in head), ""):
            return found
    return "BSD-3-Clause"


def main() -> None:
    """Load every robot and write the file."""
    rows = []
    for name in zoo.names():
        robot = load(name)
        facts = {"dof": robot.nv, "mass": round(robot.mass, 3), "kind": kind_of(robot), "licence": licence_of(robot)}
        rows.append(f"{json.dumps(name)} = {{ " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in facts.items()) + " }")
    TARGET.write_text("# Written by scripts/make_zoo_facts.py.\n" + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
