"""The outermost handler: errors become messages and exit codes."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any

import typer

from surefoot.errors import SurefootError, one_of

_interruptions: list[int] = []


def listen_to_signals() -> None:
    """Stop on SIGINT and SIGTERM alike: a killed run keeps what it has, like an interrupted one."""
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, _: FrameType | None) -> None:
    """Stop, and record it: a library that is interrupted while it loads may raise something else."""
    _interruptions.append(number)
    raise KeyboardInterrupt


def exit_status(app: typer.Typer, arguments: list[str] | None) -> int:
    """Run a command; user errors become messages without a traceback.

    Args:
        app: All commands.
        arguments: Arguments after `surefoot`; None for those of the process.

    Returns:
        The exit status.
    """
    words = sys.argv[1:] if arguments is None else arguments
    try:
        command = typer.main.get_command(app)
        with command.make_context("surefoot", list(words)) as context:
            status = command.invoke(context)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except typer.Exit as leave:
        return leave.exit_code
    except typer.TyperException as error:
        return _usage(app, error, words)
    except SurefootError as error:
        print(f"surefoot: {error}", file=sys.stderr)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BrokenPipeError:  # the reader went away: nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"surefoot: {error.strerror or error}: {error.filename or ''}", file=sys.stderr)
        return 2
    except Exception as error:  # noqa: BLE001 - the outermost border: a bug must end as status 3
        return _interrupted() if _interruptions else _internal(error)


def _interrupted() -> int:
    print("surefoot: interrupted", file=sys.stderr)
    return 130


def _usage(app: typer.Typer, error: typer.TyperException, words: list[str]) -> int:
    """Report a wrong option, argument or command: one line, the closest name, and where to find help."""
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if message.startswith("No such command"):
        message = one_of(
            "command",
            message.split("'")[1],
            [str(item.name) for item in commands_of(context.command if context else app)],
        ).message
    elif message.startswith("No such option") and (option := getattr(error, "option_name", None)):
        known = [name for item in context.command.params for name in item.opts] if context else []
        message = one_of("option", option, known).message
    elif message.endswith("requires an argument."):
        message = f"option `{getattr(error, 'option_name', '')}` needs a value"
    path = context.command_path if context else " ".join(["surefoot", *_named_command(app, words)])
    print(f"surefoot: {message}\n  next: `{path} --help`", file=sys.stderr)
    return 2


def _named_command(app: typer.Typer, words: list[str]) -> list[str]:
    """The command that the words begin with, as far as there is one."""
    return words[:1] if words and words[0] in {item.name for item in commands_of(app)} else []


def commands_of(group: Any) -> list[Any]:
    """The commands of a group.

    Args:
        group: The app, or one of its groups.
    """
    chosen: Any = typer.main.get_command(group) if isinstance(group, typer.Typer) else group
    return list(chosen.commands.values())


def _internal(error: Exception) -> int:
    if os.environ.get("SUREFOOT_DEBUG"):
        raise error
    print(
        f"surefoot: internal error: {type(error).__name__}: {error}\n"
        "  this is a bug in surefoot; please report it with the command and the output of `surefoot doctor`\n"
        "  next: set SUREFOOT_DEBUG=1 to see where it happened",
        file=sys.stderr,
    )
    return 3
