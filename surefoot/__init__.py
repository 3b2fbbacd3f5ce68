"""surefoot: describe a legged, humanoid or redundant robot, plan, move, control, and prove it in physics.

import surefoot as sf

robot = sf.load("g1")
robot.placements(robot.home)["left_ankle_roll_link"]
k = sf.compile(robot)
tau = k.rnea(q, v, a)          # one state, or a batch: (n, nq), (n, nv), (n, nv)
log = sf.simulate(robot, controller, sf.World(), 5.0)
result = sf.ik.solve(robot, [sf.tasks.FramePose("hand", "left_rubber_hand", T)])
found = sf.audit("motion.csv", robot)   # is it physically possible, by what margin, where does it break?
"""

import importlib
from typing import TYPE_CHECKING, Any

try:
    import pinocchio as _pinocchio  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"surefoot needs Pinocchio, which does not load: {error}\n"
        "  next: install the locked packages (`make install`); if it is libgomp that is missing: apt install libgomp1"
    ) from error

from surefoot.compiler import KernelSet
from surefoot.compiler import compile_robot as compile
from surefoot.errors import SurefootError
from surefoot.motion import ContactSchedule, Log, Stance, State, Trajectory, World, from_layout, to_layout
from surefoot.robot import ContactSurface, Coupling, Drive, Joint, Link, Loop, Robot, zoo
from surefoot.robot.load import load

if TYPE_CHECKING:
    from surefoot import collision as collision
    from surefoot import feasibility as feasibility
    from surefoot import ik as ik
    from surefoot import tasks as tasks
    from surefoot.feasibility import audit
    from surefoot.sim import rollout, simulate
    from surefoot.studio.show import show

__version__ = "0.1.0"

__all__ = [
    "ContactSchedule",
    "ContactSurface",
    "Coupling",
    "Drive",
    "Joint",
    "KernelSet",
    "Link",
    "Log",
    "Loop",
    "Robot",
    "Stance",
    "State",
    "SurefootError",
    "Trajectory",
    "World",
    "audit",
    "compile",
    "from_layout",
    "load",
    "rollout",
    "show",
    "simulate",
    "to_layout",
    "zoo",
]

_ROOM_OF = {"audit": "feasibility", "rollout": "sim", "show": "studio", "simulate": "sim"}


def __getattr__(name: str) -> Any:
    """Engines and rooms that take time to load are imported when they are asked for."""
    if name in ("collision", "feasibility", "ik", "tasks"):
        return importlib.import_module(f"surefoot.{name}")
    if name in _ROOM_OF:
        return getattr(importlib.import_module(f"surefoot.{_ROOM_OF[name]}"), name)
    raise AttributeError(f"module `surefoot` has no attribute `{name}`")
