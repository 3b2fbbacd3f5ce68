"""`Tab`: one browser tab: its own robot, sliders, replay and scene; jobs are shared with the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import viser

from surefoot.arrays import Array
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.studio.files import RobotKey, RobotStore
from surefoot.studio.jobs import Job, JobQueue
from surefoot.studio.panels import Desk, JobsPanel, ReplayPanel, RobotPanel, ScenarioPanel
from surefoot.studio.scene import PlanNodes, Stage, WorldNodes


class Tab(Desk):
    """One browser tab.

    Args:
        client: The tab, as viser has it.
        folder: The folder of the studio.
        store: Robots.
        jobs: Jobs of all tabs.
        reports: Prefix of the addresses of reports.
        first: Name of the robot to begin with.
        plain: Without shadows.
    """

    def __init__(
        self,
        client: viser.ClientHandle,
        folder: Path,
        store: RobotStore,
        jobs: JobQueue,
        reports: str,
        first: str,
        plain: bool,
    ) -> None:
        super().__init__(client, folder, store, jobs, reports)
        self._watched: Job | None = None
        self._is_ready = False
        self._mailbox.post(lambda: self._build(first, plain))

    def _build(self, first: str, plain: bool) -> None:
        self.stage = Stage(self._client, plain)
        self._world, self._plan = WorldNodes(self.stage), PlanNodes(self.stage)
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

    # -- what is shown ------------------------------------------------------------------------------------------

    def show_robot(self, robot: Robot, robot_key: RobotKey, q: Array | None = None, world: World | None = None) -> None:
        """Put a robot on the stage; the same one only moves.

        Args:
            robot: The robot.
            robot_key: What it was loaded from.
            q: (nq,) posture; where it is, or home for another robot, if omitted.
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
        """Stop replay and watching, because the user moves the robot."""
        self._replay_panel.pause()
        self.unwatch()

    # -- jobs ---------------------------------------------------------------------------------------------------

    def watch(self, job: Job) -> None:
        """Show the robot of a job while it runs, and its result when it is done."""
        self._replay_panel.pause()
        self._watched = job
        robot = self.store.get(job.robot)
        self.show_robot(robot, job.robot, None, job.world)
        self._plan.show(job.ways)
        if job.is_over:
            self.show_result(job)

    def unwatch(self) -> None:
        """Stop watching a job."""
        self._watched = None

    def show_result(self, job: Job) -> None:
        """Load the run that a job has written."""
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
        if what == "plan" and job is self._watched:
            self.post(lambda: self._plan.show(job.ways), "plan")
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
