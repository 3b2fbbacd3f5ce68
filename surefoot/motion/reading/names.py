"""What other programs call things, and whose joint a name means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from surefoot.errors import UnknownNameError
from surefoot.robot import Robot
from surefoot.words import are_missing, counted

ALIASES: dict[str, tuple[str, ...]] = {
    "time": ("time", "t", "times", "timestamp", "timestamps", "time_s", "sim_time", "stamp"),
    "rate": (
        "fps", "rate", "hz", "frequency", "framerate", "frame_rate", "motion_fps", "mocap_framerate",
        "mocap_frame_rate",
    ),
    "step": ("dt", "timestep", "time_step", "sample_time", "step_dt"),
    "names": ("joint_names", "dof_names", "names", "joint_order", "joints"),
    "states": ("q", "qpos", "configuration", "arr_0"),
    "positions": (
        "joint_pos", "joint_positions", "joint_position", "joint_q", "joint_angles", "dof_pos", "dof_positions",
        "dof_position", "dof", "positions", "position", "jpos",
    ),
    "rates": ("v", "qvel", "dq", "qd"),
    "velocities": (
        "joint_vel", "joint_velocities", "joint_velocity", "joint_qd", "dof_vel", "dof_velocities", "dof_velocity",
        "velocities", "velocity", "jvel",
    ),
    "accelerations": (
        "a", "qacc", "ddq", "qdd", "acc", "joint_acc", "joint_accelerations", "joint_acceleration", "dof_acc",
    ),
    "torques": (
        "tau", "torque", "torques", "effort", "efforts", "joint_torque", "joint_torques", "joint_effort",
        "joint_efforts", "dof_torque", "dof_torques", "applied_torque", "applied_torques", "actuator_force",
    ),
    "commands": ("ctrl",),
    "base_position": (
        "base_position", "base_pos", "root_position", "root_pos", "root_trans", "root_translation", "base_xyz",
        "pelvis_pos", "root_xyz", "base_translation", "root_trans_offset", "trans", "transl", "global_translation",
    ),
    "base_orientation": (
        "base_orientation", "base_quat", "root_orientation", "root_quat", "base_rot", "root_rot", "base_ori",
        "pelvis_quat", "base_quaternion", "root_quaternion", "root_ori", "root_orient", "global_orient",
        "root_rotation",
    ),
    "base_linear": (
        "base_linear", "base_lin_vel", "root_lin_vel", "base_linear_velocity", "root_linear_velocity", "base_vel",
        "root_vel",
    ),
    "base_angular": (
        "base_angular", "base_ang_vel", "root_ang_vel", "base_angular_velocity", "root_angular_velocity",
    ),
    "base_state": ("root_states", "root_state", "base_state"),
    "body_positions": ("body_pos_w", "body_positions"),
    "body_orientations": ("body_quat_w", "body_rotations"),
    "body_names": ("body_names", "link_names"),
    "human": ("poses", "pose_body", "body_pose", "betas"),
}  # fmt: skip
"""What a thing is → the keys under which programs store it, the commonest first."""
MISSING_STEP = "give --missing home to hold these joints at their home positions, or record them as well"
OTHERS_STEP = (
    "give --missing home to hold these joints at their home positions; if the file lacks others, list those that it has"
    " with --joint-order FILE"
)
_ALIKE = 0.75  # of the letters of a slip of the pen are right
_ENDINGS = ("_joint", "_motor", "_actuator", "_drive", "")


def plain_key(key: str) -> str:
    """`obs/Joint-Pos` → `joint_pos`."""
    return key.strip().rsplit("/", 1)[-1].lower().replace("-", "_").replace(" ", "_")


def find_key(what: str, keys: Iterable[str]) -> str | None:
    """The key under which something is stored; None if it is not."""
    known = {plain_key(key): key for key in keys}
    return next((known[alias] for alias in ALIASES[what] if alias in known), None)


def likely_names(given: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """The known name that each given one may be a misspelling of, each once; names that resemble none are omitted."""
    short, texts = [_without_joint(name) for name in known], [_without_joint(name) for name in given]
    pairs = []
    for i, text in enumerate(texts):
        for near in difflib.get_close_matches(text, set(short), n=5, cutoff=_ALIKE):
            pairs.append((difflib.SequenceMatcher(None, near, text).ratio(), i, short.index(near)))
    out: dict[int, int] = {}
    for _, i, k in sorted(pairs, key=lambda pair: (-pair[0], *pair[1:])):
        if i not in out and k not in out.values():
            out[i] = k
    return {given[i]: known[out[i]] for i in sorted(out)}


def of_another_robot(
    robot: Robot, wanted: Sequence[str], found: Sequence[str], unknown: Sequence[str]
) -> UnknownNameError | None:
    """The error for a file whose names are not those of the robot; None where most fit, or are slips of the pen.

    Args:
        robot: The robot.
        wanted: Its joints.
        found: Those of them that the file has.
        unknown: Names in the file that fit nothing.
    """
    missing = [name for name in wanted if name not in found]
    if 2 * len(missing) <= len(wanted) or len(unknown) <= len(found):
        return None
    if 2 * len(likely_names(unknown, missing)) > len(missing):
        return None
    return UnknownNameError(
        f"seems to belong to another robot: it has {len(found)} of {counted(len(wanted), 'joint')} of `{robot.name}`",
        evidence={"names in the file": some_names(unknown), f"joints of `{robot.name}`": some_names(wanted)},
        next_step="give the robot of this file (--robot), or name its columns after the joints of this robot",
    )


def matched_joint(robot: Robot, name: str) -> str | None:
    """The joint of the robot that is meant: `Left_Knee` for `left_knee_joint`; None if there is none, or several."""
    if name in robot.joint_names:
        return name
    return _folded(robot).get(_fold(name))


def matched_joints(
    robot: Robot, names: Sequence[str], partly: bool = False, missing_step: str = MISSING_STEP
) -> tuple[list[str | None], list[str]]:
    """The joint of the robot for each name, None where it has none; and remarks.

    Args:
        robot: The robot.
        names: In the file.
        partly: Whether joints of the robot may be missing.
        missing_step: What to do if they are.

    Raises:
        UnknownNameError: Joints of the robot are missing.
    """
    found = [matched_joint(robot, name) for name in names]
    base = robot.base_joint
    tree = robot.tree
    wanted = [tree.joint_names[i] for i in range(tree.n) if i != base and tree.mimic_source[i] < 0]
    missing = [name for name in wanted if name not in found]
    unknown = [name for name, joint in zip(names, found, strict=True) if joint is None]
    if (other := of_another_robot(robot, wanted, [name for name in wanted if name in found], unknown)) is not None:
        raise other
    if missing and not partly:
        raise UnknownNameError(
            f"{are_missing(len(missing), 'joint')} in the file that `{robot.name}` has",
            evidence={"missing": some_names(missing), "not in this robot": some_names(unknown) or "none"},
            next_step=rename_step(likely_names(unknown, missing)) or missing_step,
        )
    renamed = {n: j for n, j in zip(names, found, strict=True) if j is not None and j != n}
    remarks = (
        [f"`{next(iter(renamed))}` is read as joint `{next(iter(renamed.values()))}`, and so on"] if renamed else []
    )
    remarks += [f"ignored, because the robot does not have them: {some_names(unknown)}"] if unknown else []
    return found, remarks


def rename_step(likely: Mapping[str, str]) -> str:
    """Which names to change; "" if none."""
    pairs = [f"`{name}` to `{right}`" for name, right in likely.items()]
    return f"rename {', '.join(pairs[:4])}{', …' if len(pairs) > 4 else ''}" if pairs else ""


def _folded(robot: Robot) -> Mapping[str, str]:
    out: dict[str, str | None] = {}
    for name in robot.joint_names:
        out[_fold(name)] = None if _fold(name) in out else name
    return {key: name for key, name in out.items() if name is not None}


def _fold(name: str) -> str:
    text = name.strip().lower().replace("-", "_").replace(" ", "_")
    return next(text.removesuffix(ending) for ending in _ENDINGS if text.endswith(ending))


def _without_joint(name: str) -> str:
    """`left_knee_joint.v` → `left_knee.v`."""
    stem, dot, rest = name.strip().lower().partition(".")
    return stem.removesuffix("_joint") + dot + rest


def some_names(names: Sequence[str]) -> str:
    """The first names of many, for people."""
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
