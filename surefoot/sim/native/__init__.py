"""The engine that is compiled for the robot, with four contact models."""

from surefoot.sim.native.constrained import STABILISATIONS, ConstrainedMover, HoldingOptions
from surefoot.sim.native.contact_laws import ContactLaw, Rigid, SpringDamper, law_of
from surefoot.sim.native.engine import NativeEngine
from surefoot.sim.native.kernels import Settings, centres_kernel
from surefoot.sim.native.mover import require_stable
from surefoot.sim.native.step import Layout, step_function
from surefoot.sim.native.world import with_friction, with_ground

__all__ = [
    "STABILISATIONS",
    "ConstrainedMover",
    "ContactLaw",
    "HoldingOptions",
    "Layout",
    "NativeEngine",
    "Rigid",
    "Settings",
    "SpringDamper",
    "centres_kernel",
    "law_of",
    "require_stable",
    "step_function",
    "with_friction",
    "with_ground",
]
