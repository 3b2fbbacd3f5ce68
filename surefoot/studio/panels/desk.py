"""`Desk`: what the panels of a tab share: the folder, robots, jobs, the stage, and work in the thread of the tab."""

from __future__ import annotations

import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import viser

from surefoot.arrays import Array
from surefoot.errors import SurefootError
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.studio.files import RobotKey, RobotStore
from surefoot.studio.jobs import Job, JobQueue, Mailbox, Work
from surefoot.studio.scene import Stage


class Desk(ABC):
    """Where panels get what they need, and ask for what concerns the others. All work is done by one thread.

    Args:
        client: The tab, as viser has it.
        folder: The folder of the studio.
        store: Robots.
        jobs: Jobs of all tabs.
        reports: Prefix of the addresses of reports.
    """

    stage: Stage
    """The scene; there once the tab is built."""

    def __init__(
        self, client: viser.ClientHandle, folder: Path, store: RobotStore, jobs: JobQueue, reports: str
    ) -> None:
        self._client, self.gui = client, client.gui
        self.folder, self.store, self.jobs, self.reports = folder, store, jobs, reports
        self.current: tuple[RobotKey, Robot] | None = None
        self._mailbox = Mailbox(self._guarded, f"surefoot tab {client.client_id}")

    def post(self, work: Work, key: object = None) -> None:
        """Ask for work in the thread of the tab.

        Args:
            work: What to do.
            key: Work with the same key that waits is dropped.
        """
        self._mailbox.post(work, key)

    def tick(self, ticker: Work | None) -> None:
        """Call something about thirty times per second.

        Args:
            ticker: What to call; None to stop.
        """
        self._mailbox.tick(ticker)

    def on_click(self, button: viser.GuiButtonHandle, work: Work) -> None:
        """Do something when a button is pressed."""

        async def clicked(_: viser.GuiEvent) -> None:
            self.post(work)

        button.on_click(clicked)

    def on_change(self, handle: viser.GuiInputHandle[Any], work: Work, key: object) -> None:
        """Do something when the user, not the program, changes an input.

        Args:
            handle: The input.
            work: What to do.
            key: Of the work, of which only the newest is done.
        """

        async def changed(event: viser.GuiEvent) -> None:
            if event.client is not None:
                self.post(work, key)

        handle.on_update(changed)

    def _guarded(self, work: Work) -> None:
        """Do work; errors are shown in the tab."""
        try:
            work()
        except SurefootError as error:
            facts = "".join(f"\n{name}: {value}" for name, value in error.evidence.items())
            place = f"{error.place}: " if error.place else ""
            self.tell(f"{place}{error.message}{facts}", error.next_step)
        except Exception as error:  # noqa: BLE001 - the border to the user: the server must live on
            traceback.print_exception(error, file=sys.stderr)
            self.tell(f"internal error: {type(error).__name__}: {error}", "please report it with the terminal output")

    def tell(self, message: str, next_step: str = "") -> None:
        """Show an error message."""
        body = message if not next_step else f"{message}\n→ {next_step}"
        self._client.add_notification("Error", body, color="red", auto_close_seconds=20.0)

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """Show that something takes time."""
        note = self._client.add_notification("Please wait", text, loading=True, with_close_button=False)
        try:
            yield
        finally:
            note.remove()

    @abstractmethod
    def show_robot(self, robot: Robot, robot_key: RobotKey, q: Array | None = None, world: World | None = None) -> None:
        """Put a robot on the stage; the same one only moves.

        Args:
            robot: The robot.
            robot_key: What it was loaded from.
            q: (nq,) posture; where it is, or home for another robot, if omitted.
            world: What is around it.
        """

    @abstractmethod
    def posture_changed(self) -> None:
        """Sliders and gizmo follow a posture that something else has set."""

    @abstractmethod
    def leave_replay(self) -> None:
        """Stop replay and watching, because the user moves the robot."""

    @abstractmethod
    def watch(self, job: Job) -> None:
        """Show the robot of a job while it runs, and its result when it is done."""

    @abstractmethod
    def unwatch(self) -> None:
        """Stop watching a job."""

    @abstractmethod
    def show_result(self, job: Job) -> None:
        """Load the run that a job has written."""
