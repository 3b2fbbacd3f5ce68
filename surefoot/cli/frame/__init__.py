"""What all commands share: options, and errors as messages and exit codes."""

from surefoot.cli.frame.options import Changes, Json, RobotName
from surefoot.cli.frame.status import commands_of, exit_status, listen_to_signals

__all__ = ["Changes", "Json", "RobotName", "commands_of", "exit_status", "listen_to_signals"]
