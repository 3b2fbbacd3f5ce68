"""States between the layouts of Pinocchio, MuJoCo, ROS, Drake and named columns."""

from surefoot.motion.exchange.blocks import Block, decode, encode, layout_blocks
from surefoot.motion.exchange.exchange import (
    LAYOUTS,
    VECTOR_KEYS,
    column_names,
    from_layout,
    layout_sizes,
    split_unit,
    to_layout,
)
from surefoot.motion.exchange.joints import rotate, rotate_back
from surefoot.motion.exchange.manifold import (
    configuration_between,
    joint_kinds,
    manifold,
    require_unit_length,
    velocities,
)
from surefoot.motion.exchange.ros import ROS_KEYS
from surefoot.motion.mirror import Mirror, mirror_of

__all__ = [
    "LAYOUTS",
    "ROS_KEYS",
    "VECTOR_KEYS",
    "Block",
    "Mirror",
    "column_names",
    "configuration_between",
    "decode",
    "encode",
    "from_layout",
    "joint_kinds",
    "layout_blocks",
    "layout_sizes",
    "manifold",
    "mirror_of",
    "require_unit_length",
    "rotate",
    "rotate_back",
    "split_unit",
    "to_layout",
    "velocities",
]
