"""surefoot: describe a legged, humanoid or redundant robot, plan, move, control, and prove it in physics.

import surefoot as sf

robot = sf.load("g1")
robot.placements(robot.home)["left_ankle_roll_link"]
k = sf.compile(robot)
tau = k.rnea(q, v, a)          # one state, or a batch: (n, nq), (n, nv), (n, nv)
log = sf.simulate(robot, controller, sf.World(), 5.0)
result = sf.ik.solve(robot, [sf.tasks.FramePose("hand", "left_rubber_hand", T)])
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
    from surefoot import collision, ik, tasks
    from surefoot.sim import rollout, simulate

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
    "collision",
    "compile",
    "from_layout",
    "ik",
    "load",
    "rollout",
    "simulate",
    "tasks",
    "to_layout",
    "zoo",
]


def __getattr__(name: str) -> Any:
    """Engines and rooms that take time to load are imported when they are asked for."""
    if name in ("collision", "ik", "tasks"):
        return importlib.import_module(f"surefoot.{name}")
    if name in ("rollout", "simulate"):
        import surefoot.sim

        return getattr(surefoot.sim, name)
    raise AttributeError(f"module `surefoot` has no attribute `{name}`")
