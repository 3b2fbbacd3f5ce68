"""Walking of bipeds by whole-body control."""

from surefoot.control.walking.reference import REFERENCES
from surefoot.control.walking.settings import WalkSettings, paced_times, walk_settings
from surefoot.control.walking.swing import SwingFoot
from surefoot.control.walking.walker import WalkingController

__all__ = ["REFERENCES", "SwingFoot", "WalkSettings", "WalkingController", "paced_times", "walk_settings"]
