"""Generate docs/commands.md from the command line."""

from __future__ import annotations

from typing import Any

import typer

from surefoot.cli import app

__all__ = ["commands_page"]

_HEAD = """# Commands

<!-- made from the command line by scripts/make_pages.py: do not edit -->

Exit status of every command: 0 passed · 1 finished with a bad verdict (fell, defects, audit failed) · 2 bad input ·
3 internal error · 130 interrupted. Error messages on standard error name the problem, its place and a next step.
"""


def commands_page() -> str:
    """The page as Markdown."""
    group: Any = typer.main.get_command(app)
    return "\n".join([_HEAD, *(_section(command, name) for command, name in _all(group, "surefoot"))])


def _all(group: Any, path: str) -> list[tuple[Any, str]]:
    """All commands with their full names, groups before their own."""
    out = []
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        out += [(command, f"{path} {name}"), *(_all(command, f"{path} {name}") if inner else [])]
    return out


def _section(command: Any, name: str) -> str:
    words = [name, *(_usage(item) for item in command.params if item.param_type_name == "argument")]
    rows = [_row(item) for item in command.params if item.name != "help" and getattr(item, "help", None)]
    table = ["", "| | |", "|---|---|", *rows] if rows else []
    text = " ".join((command.help or "").split())
    return "\n".join([f"## {name}", "", f"`{' '.join(words)}`", "", text, *table, ""])


def _usage(argument: Any) -> str:
    return argument.metavar or argument.name.upper()


def _row(item: Any) -> str:
    if item.param_type_name == "argument":
        name = _usage(item)
    else:
        spelled = " / ".join([*item.opts, *item.secondary_opts])
        is_flag = getattr(item, "is_flag", False)
        name = spelled if is_flag else f"{spelled} {item.metavar or item.name.strip('_').upper()}"
    text = " ".join(item.help.split()).replace("|", "\\|")
    default = item.default
    shown = default not in (None, False, True, "", []) and item.param_type_name == "option"
    escaped = name.replace("|", "\\|")
    return f"| `{escaped}` | {text}{f' Default: `{default}`.' if shown else ''} |"
