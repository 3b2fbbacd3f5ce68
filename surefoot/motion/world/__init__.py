"""The world: ground pieces, obstacles, objects, friction, gravity."""

from surefoot.motion.world.ground import Ground, GroundBox, GroundPlane, HeightField, blocks, stairs
from surefoot.motion.world.moving import GroundLaw, Pivot
from surefoot.motion.world.surfaces import SurfaceMotion, surface_motion
from surefoot.motion.world.terrain import NOWHERE, contact_planes, ground_under
from surefoot.motion.world.touchable import TouchableSurface, is_exposed, touchable_surfaces
from surefoot.motion.world.world import STANDARD_GRAVITY, MovableObject, Obstacle, World, in_world

__all__ = [
    "NOWHERE",
    "STANDARD_GRAVITY",
    "Ground",
    "GroundBox",
    "GroundLaw",
    "GroundPlane",
    "HeightField",
    "MovableObject",
    "Obstacle",
    "Pivot",
    "SurfaceMotion",
    "TouchableSurface",
    "World",
    "blocks",
    "contact_planes",
    "ground_under",
    "in_world",
    "is_exposed",
    "stairs",
    "surface_motion",
    "touchable_surfaces",
]
