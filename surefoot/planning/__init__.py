"""Multi-modal motion planning: which foot where, and how to get there."""

from surefoot.planning.limbs import Limb, limb_angles, limbs_of

__all__ = ["Limb", "limb_angles", "limbs_of"]
