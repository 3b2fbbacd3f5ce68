"""Walking of bipeds by whole-body control."""

from surefoot.control.walking.legs import LegReach, leg_reach, posture_at_height
from surefoot.control.walking.settings import WalkSettings, walk_settings
from surefoot.control.walking.walker import WalkingController

__all__ = ["LegReach", "WalkSettings", "WalkingController", "leg_reach", "posture_at_height", "walk_settings"]
