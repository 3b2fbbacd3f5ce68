"""`surefoot convert`: states from one layout to another."""

from __future__ import annotations

from pathlib import Path

from surefoot.cli.console import names_in
from surefoot.errors import one_of
from surefoot.motion.exchange import LAYOUTS
from surefoot.motion.storage import read_states, write_states
from surefoot.robot import load
from surefoot.words import counted


def convert_command(
    source: Path,
    target: Path,
    robot: str,
    from_: str,
    to: str,
    from_joints: str | None,
    to_joints: str | None,
    base: str,
) -> int:
    """Read states in one layout, write them in another."""
    for layout in (from_, to):
        if layout not in LAYOUTS:
            raise one_of("layout", layout, LAYOUTS)
    model = load(robot, base)
    table = read_states(source, model, from_, names_in(from_joints))
    write_states(target, model, to, table, names_in(to_joints))
    print(f"{counted(len(table.q), 'state')} of {model.name}: {from_} -> {to}")
    print(target)
    return 0
