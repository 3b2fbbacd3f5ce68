"""`Tab`: one browser tab: its own robot, sliders, replay and scene; jobs are shared with the others."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.studio.jobs import Job, JobQueue
from surefoot.studio.jobs_panel import JobsPanel
from surefoot.studio.mailbox import Mailbox, Work
from surefoot.studio.replay_panel import ReplayPanel
from surefoot.studio.robot_panel import RobotPanel
from surefoot.studio.robot_store import RobotKey, RobotStore
from surefoot.studio.scenario_panel import ScenarioPanel
from surefoot.studio.stage import Stage
from surefoot.studio.world_nodes import WorldNodes

__all__ = ["Tab"]

Array = NDArray[np.float64]


class Tab:
    """One browser tab. All its work is done by one thread of its own.

    Args:
        client: The tab, as viser has it.
        folder: The folder of the studio.
        store: Robots.
        jobs: Jobs of all tabs.
        first: Name of the robot to begin with.
        plain: Without shadows.
    """

    def __init__(
        self, client: viser.ClientHandle, folder: Path, store: RobotStore, jobs: JobQueue, first: str, plain: bool
    ) -> None:
        self._client, self.gui = client, client.gui
        self.folder, self.store, self.jobs = folder, store, jobs
        self.current: tuple[RobotKey, Robot] | None = None
        self._watched: Job | None = None
        self._is_ready = False
        self._mailbox = Mailbox(self._guarded, f"surefoot tab {client.client_id}")
        self._mailbox.post(lambda: self._build(first, plain))

    def _build(self, first: str, plain: bool) -> None:
        self.stage = Stage(self._client, plain)
        self._world = WorldNodes(self.stage)
        self._jobs_panel = JobsPanel(self)
        pages = self.gui.add_tab_group()
        with pages.add_tab("Robot", icon=viser.Icon.ROBOT):
            self._robot_panel = RobotPanel(self, first, plain)
        with pages.add_tab("Scenario", icon=viser.Icon.FLAG):
            self._scenario_panel = ScenarioPanel(self)
        with pages.add_tab("Runs", icon=viser.Icon.MOVIE):
            self._replay_panel = ReplayPanel(self)
        self._is_ready = True
        self.jobs.listen(self._heard)
        self.post(lambda: self._robot_panel.pick(first))

    # -- work ---------------------------------------------------------------------------------------------------

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
        """Do something when a button is pressed.

        Args:
            button: The button.
            work: What to do.
        """

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
        """Do work; whatever goes wrong is told in the tab."""
        try:
            work()
        except SurefootError as error:
            facts = "".join(f"\n{name}: {value}" for name, value in error.evidence.items())
            place = f"{error.place}: " if error.place else ""
            self.tell(f"{place}{error.message}{facts}", error.next_step)
        except Exception as error:  # noqa: BLE001 - the border to the user: the server must live on
            traceback.print_exception(error, file=sys.stderr)
            self.tell(
                f"internal error: {type(error).__name__}: {error}", "please report it with what the terminal says"
            )

    def tell(self, message: str, next_step: str = "") -> None:
        """Show a message about something that went wrong.

        Args:
            message: What.
            next_step: What can be done.
        """
        body = message if not next_step else f"{message}\n→ {next_step}"
        self._client.add_notification("That did not work", body, color="red", auto_close_seconds=20.0)

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """Show that something takes time.

        Args:
            text: What is being done.
        """
        note = self._client.add_notification("One moment", text, loading=True, with_close_button=False)
        try:
            yield
        finally:
            note.remove()

    # -- what is shown ------------------------------------------------------------------------------------------

    def show_robot(self, robot: Robot, robot_key: RobotKey, q: Array | None = None, world: World | None = None) -> None:
        """Put a robot on the stage; the same one only moves.

        Args:
            robot: The robot.
            robot_key: What it was loaded from.
            q: (nq,) posture; where it is, or home for another robot, if left out.
            world: What stands around it.
        """
        if self.stage.robot is not robot:
            self._replay_panel.pause()
            self.current = (robot_key, robot)
            self._robot_panel.drag.detach()
            self.stage.show_robot(robot, self.store.meshes(robot), q)
            self._world.show(world)
            self._robot_panel.take(robot)
        else:
            if q is not None:
                self.stage.pose(q)
            self._world.show(world)

    def posture_changed(self) -> None:
        """Sliders and gizmo follow a posture that something else has set."""
        self._robot_panel.posture_changed()

    def leave_replay(self) -> None:
        """The user moves the robot: what plays or is watched stops."""
        self._replay_panel.pause()
        self.unwatch()

    # -- jobs ---------------------------------------------------------------------------------------------------

    def watch(self, job: Job) -> None:
        """Show the robot of a job while it runs, and its result when it is done.

        Args:
            job: The job.
        """
        self._replay_panel.pause()
        self._watched = job
        robot = self.store.get(job.robot)
        self.show_robot(robot, job.robot, None, job.world)
        if job.is_over:
            self.show_result(job)

    def unwatch(self) -> None:
        """Watch no job any more."""
        self._watched = None

    def show_result(self, job: Job) -> None:
        """Load the run that a job has written.

        Args:
            job: The job.
        """
        self._watched = None
        if job.folder is not None:
            self._replay_panel.refresh()
            self._replay_panel.load(str(job.folder))

    def _heard(self, job: Job, what: str) -> None:
        """In the thread of the queue: only ask for the work."""
        if what == "frame":
            if job is self._watched:
                self.post(lambda: self._show_frame(job), "frame")
        else:
            self.post(self._jobs_panel.refresh, "jobs")
        if what == "state" and job.is_over:
            self.post(lambda: self._finished(job))

    def _show_frame(self, job: Job) -> None:
        robot = self.stage.robot
        if job is self._watched and robot is not None and len(job.q) == robot.nq:
            self.stage.pose(np.array(job.q))

    def _finished(self, job: Job) -> None:
        self._replay_panel.refresh()
        self._replay_panel.audit.heard(job)
        if job is not self._watched:
            return
        self._watched = None
        if job.state == "failed":
            self.tell(*job.trouble)
        elif job.folder is not None:
            self.show_result(job)

    def close(self) -> None:
        """The tab is gone."""
        if self._is_ready:
            self.jobs.unlisten(self._heard)
        self._mailbox.close()
