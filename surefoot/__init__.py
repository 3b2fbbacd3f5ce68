"""surefoot: describe a legged, humanoid or redundant robot, plan, move, control, and prove it in physics.

    import surefoot as sf

    robot = sf.load("g1")
    robot.placements(robot.home)["left_ankle_roll_link"]
    k = sf.compile(robot)
    tau = k.rnea(q, v, a)          # one state, or a batch: (n, nq), (n, nv), (n, nv)
    log = sf.simulate(robot, controller, sf.World(), 5.0)
    result = sf.ik.solve(robot, [sf.tasks.FramePose("hand", "left_rubber_hand", T)])
    found = sf.audit("motion.csv", robot)   # is it physically possible, by what margin, where does it break?

Rooms are imported on first use.
"""

import importlib
import importlib.util
import os
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot import collision as collision
    from surefoot import feasibility as feasibility
    from surefoot import ik as ik
    from surefoot import tasks as tasks
    from surefoot.compiler import KernelSet
    from surefoot.compiler import compile_robot as compile
    from surefoot.errors import SurefootError
    from surefoot.feasibility.audit import audit
    from surefoot.kinematics import Configuration
    from surefoot.motion import ContactSchedule, Log, Stance, State, Trajectory, World
    from surefoot.motion.exchange import from_layout, to_layout
    from surefoot.robot import ContactSurface, Drive, Joint, Link, Loop, Robot, load, zoo
    from surefoot.sim import rollout, simulate
    from surefoot.studio.live_view import view
    from surefoot.studio.show import show

__version__ = "0.1.0"

__all__ = [
    "Configuration",
    "ContactSchedule",
    "ContactSurface",
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
    "view",
    "zoo",
]

_NAMES_OF = {
    "compiler": ("KernelSet",),
    "errors": ("SurefootError",),
    "feasibility": ("audit",),
    "kinematics": ("Configuration",),
    "motion": ("ContactSchedule", "Log", "Stance", "State", "Trajectory", "World"),
    "motion.exchange": ("from_layout", "to_layout"),
    "robot": ("ContactSurface", "Coupling", "Drive", "Joint", "Link", "Loop", "Robot", "load", "zoo"),
    "sim": ("rollout", "simulate"),
    "studio": ("show", "view"),
}
_ROOM_OF = {name: room for room, names in _NAMES_OF.items() for name in names}


def _pin_glfw() -> None:
    """Name the library of GLFW: its import (by MuJoCo) runs `libglfw.so` and `ctypes.py` of the working folder."""
    spec = importlib.util.find_spec("glfw")
    if spec is not None and spec.origin is not None and not os.environ.get("PYGLFW_LIBRARY"):
        variant = "wayland" if os.environ.get("XDG_SESSION_TYPE") == "wayland" else "x11"
        own = os.path.join(os.path.dirname(spec.origin), variant, "libglfw.so")
        os.environ["PYGLFW_LIBRARY"] = own if os.path.isfile(own) else "libglfw.so.3"  # of the system


_pin_glfw()


def __getattr__(name: str) -> Any:
    """Names and rooms are imported when they are asked for: a program that starts can be interrupted cleanly."""
    if name == "compile":
        found = _room("compiler").compile_robot
    elif name in _ROOM_OF:
        found = getattr(_room(_ROOM_OF[name]), name)
    elif not name.startswith("_") and importlib.util.find_spec(f"surefoot.{name}") is not None:
        return _room(name)
    else:
        raise AttributeError(f"module `surefoot` has no attribute `{name}`")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The names of `__all__` and the rooms."""
    rooms = {item.name for item in pkgutil.iter_modules(__path__) if not item.name.startswith("_")}
    return sorted({*__all__, *rooms, "__all__", "__doc__", "__name__", "__path__", "__version__"})


def _room(name: str) -> Any:
    try:
        return importlib.import_module(f"surefoot.{name}")
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "pinocchio":
            raise
        raise ImportError(
            f"surefoot needs Pinocchio, which does not load: {error}\n"
            "  next: install the locked packages (`make install`); if it is libgomp that is missing: apt install "
            "libgomp1"
        ) from error
