"""Joint torques and contact wrenches of a motion: given, or the least that it needs."""

from surefoot.feasibility.efforts.demand import push_of, size_of
from surefoot.feasibility.efforts.efforts import Efforts, efforts_of, on_bodies
from surefoot.feasibility.efforts.joints import (
    STICKING,
    carrying_rows,
    coupled,
    doubtful_friction,
    drive_limits,
    friction_forces,
    passive_rows,
)
from surefoot.feasibility.efforts.margins import ITEMS_OF_CONTACTS, margins_of_contacts, slack_of_contact
from surefoot.feasibility.efforts.means import Windows, moving_windows
from surefoot.feasibility.efforts.support import ROUND, Support, surfaces_at_touch, touch_frames, touch_jacobians

__all__ = [
    "ITEMS_OF_CONTACTS",
    "ROUND",
    "STICKING",
    "Efforts",
    "Support",
    "Windows",
    "carrying_rows",
    "coupled",
    "doubtful_friction",
    "drive_limits",
    "efforts_of",
    "friction_forces",
    "margins_of_contacts",
    "moving_windows",
    "on_bodies",
    "passive_rows",
    "push_of",
    "size_of",
    "slack_of_contact",
    "surfaces_at_touch",
    "touch_frames",
    "touch_jacobians",
]
