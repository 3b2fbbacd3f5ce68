"""`trajectory_msgs/JointTrajectory` as YAML, as `ros2 topic pub` and ROS programs read it."""

from __future__ import annotations

from pathlib import Path

from surefoot.arrays import Array
from surefoot.files import write_text
from surefoot.motion import Trajectory
from surefoot.report.export.joints import joint_table, nanoseconds
from surefoot.robot import Robot


def write_joint_trajectory(path: str | Path, trajectory: Trajectory, robot: Robot) -> tuple[str, ...]:
    """Write a motion as YAML, whole or not at all.

    Returns:
        Remarks: what the message cannot hold, or the motion does not have.
    """
    write_text(path, joint_trajectory_yaml(trajectory, robot))
    table = joint_table(trajectory, robot)
    missing = [name for name in ("velocity", "acceleration", "effort") if getattr(table, name) is None]
    notes = [f"a JointTrajectory cannot hold {', '.join(table.left_out)}"] if table.left_out else []
    return (*notes, *([f"the motion has no {', no '.join(missing)}"] if missing else []))


def joint_trajectory_yaml(trajectory: Trajectory, robot: Robot) -> str:
    """The message as YAML; fields that the motion does not have are empty, as in ROS.

    `time_from_start` counts from the first sample. Numbers read back bit by bit.
    """
    table = joint_table(trajectory, robot)
    seconds, rest = nanoseconds(trajectory.time - trajectory.start)
    series = {
        "positions": table.position,
        "velocities": table.velocity,
        "accelerations": table.acceleration,
        "effort": table.effort,
    }
    lines = ["header:", "  stamp: {sec: 0, nanosec: 0}", '  frame_id: ""']
    lines += ["joint_names:", *(f"  - {_text(name)}" for name in table.names)] if table.names else ["joint_names: []"]
    lines.append("points:")
    texts = {name: [_row(row) for row in values] for name, values in series.items() if values is not None}
    for k in range(len(trajectory)):
        rows = [f"{name}: {texts[name][k] if name in texts else '[]'}" for name in series]
        lines += [f"  - {rows[0]}", *(f"    {row}" for row in rows[1:])]
        lines.append(f"    time_from_start: {{sec: {seconds[k]}, nanosec: {rest[k]}}}")
    return "\n".join(lines) + "\n"


def _row(values: Array) -> str:
    """Numbers in the shortest form that reads back; always with a point, as YAML 1.1 wants before an exponent."""
    return "[" + ", ".join(_number(value) for value in values.tolist()) + "]"


def _number(value: float) -> str:
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    if not exponent:
        return text
    signed = power if power[0] in "+-" else f"+{power}"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{signed}"


def _text(value: str) -> str:
    """A double-quoted YAML text; all but plain ASCII is escaped."""
    plain = (c if " " <= c <= "~" and c not in '"\\' else f"\\U{ord(c):08x}" for c in value)
    return '"' + "".join(plain) + '"'
