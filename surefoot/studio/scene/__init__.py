"""What a tab shows: the robot on its stage, the world around it, overlays, and handles to drag it by."""

from surefoot.studio.scene.dragging import closed
from surefoot.studio.scene.handles import DragHandle, drag_choices
from surefoot.studio.scene.limbs import Limb, limbs_of
from surefoot.studio.scene.overlays import LAYERS, Overlays
from surefoot.studio.scene.plans import GoalHandle, PlanNodes
from surefoot.studio.scene.poses import wxyz_of
from surefoot.studio.scene.stage import Stage
from surefoot.studio.scene.world import WorldNodes

__all__ = [
    "LAYERS",
    "DragHandle",
    "GoalHandle",
    "Limb",
    "Overlays",
    "PlanNodes",
    "Stage",
    "WorldNodes",
    "closed",
    "drag_choices",
    "limbs_of",
    "wxyz_of",
]
