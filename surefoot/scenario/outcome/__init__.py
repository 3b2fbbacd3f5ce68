"""The outcome of a run: its verdict, its files, its audit and its page."""

from surefoot.scenario.outcome.files import run_folder
from surefoot.scenario.outcome.keep import INTERRUPTED, PASSED, RunResult, keep_plan, keep_run

__all__ = ["INTERRUPTED", "PASSED", "RunResult", "keep_plan", "keep_run", "run_folder"]
