"""Definitions of the ROS 2 messages that are written, in the form that MCAP files carry (`ros2msg`).

From the public interface packages common_interfaces, geometry2 and rcl_interfaces; fields only.
"""

from __future__ import annotations

__all__ = ["JOINT_STATE", "TF_MESSAGE", "WRENCH_STAMPED", "definition"]

JOINT_STATE = "sensor_msgs/msg/JointState"
TF_MESSAGE = "tf2_msgs/msg/TFMessage"
WRENCH_STAMPED = "geometry_msgs/msg/WrenchStamped"

_RULE = "=" * 80
_HEADER = ("std_msgs/Header", "builtin_interfaces/Time")
_PARTS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation",
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform"
    ),
    "geometry_msgs/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
}
_MESSAGES = {
    JOINT_STATE: (
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort",
        _HEADER,
    ),
    TF_MESSAGE: (
        "geometry_msgs/TransformStamped[] transforms",
        (
            "geometry_msgs/TransformStamped", *_HEADER,
            "geometry_msgs/Transform", "geometry_msgs/Vector3", "geometry_msgs/Quaternion",
        ),
    ),
    WRENCH_STAMPED: (
        "std_msgs/Header header\ngeometry_msgs/Wrench wrench",
        (*_HEADER, "geometry_msgs/Wrench", "geometry_msgs/Vector3"),
    ),
}  # fmt: skip


def definition(message: str) -> str:
    """The definition of a message with those of all its parts.

    Args:
        message: One of the names above.
    """
    own, parts = _MESSAGES[message]
    return own + "\n" + "".join(f"{_RULE}\nMSG: {name}\n{_PARTS[name]}\n" for name in parts)
