"""`surefoot show` and `surefoot new`: the files of the built-in scenarios."""

from __future__ import annotations

from pathlib import Path

from surefoot.errors import FileFormatError
from surefoot.files import write_text

__all__ = ["new_scenario", "show_scenario"]


def show_scenario(name: str) -> int:
    """Print the file of a scenario.

    Args:
        name: Its name.
    """
    from surefoot.scenario import scenario_text

    print(scenario_text(name), end="")
    return 0


def new_scenario(name: str, file: Path) -> int:
    """Copy the file of a scenario.

    Args:
        name: Its name.
        file: Where to; it must not exist.
    """
    from surefoot.scenario import scenario_text

    text = scenario_text(name)
    if file.suffix != ".toml":
        raise FileFormatError(f"suffix `{file.suffix}` is not that of a scenario", file=file, next_step="use .toml")
    if file.exists() or file.is_symlink():
        raise FileFormatError("exists; nothing is overwritten", file=file, next_step="choose another name")
    write_text(file, text)
    print(f"run it with: surefoot run {file}")
    print(file)
    return 0
