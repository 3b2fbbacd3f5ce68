"""`Studio`: the server; every browser tab that opens it gets its own `Tab`."""

from __future__ import annotations

import http
import secrets
import tempfile
import threading
import webbrowser
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

import numpy as np
import viser
from websockets.datastructures import Headers
from websockets.http11 import Response

from surefoot.arrays import Array
from surefoot.errors import FileFormatError
from surefoot.markup import html
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.studio.files import RobotKey, RobotStore, report_of
from surefoot.studio.jobs import Job, JobQueue
from surefoot.studio.panels import Desk, JobsPanel, ReplayPanel, RobotPanel, ScenarioPanel
from surefoot.studio.safety import OutsideError, is_local_name
from surefoot.studio.scene import PlanNodes, Stage, WorldNodes
from surefoot.studio.server.guarded import Pages, guarded_server, stop_quietly

_BLUE = (32, 106, 190)
_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; worker-src blob:"
)


class Studio:
    """A studio that runs until it is closed.

        with Studio("work") as studio:
            print(studio.url)
            studio.wait()

    Args:
        folder: Robots, scenarios and runs are looked for in it, runs are written to `runs/` in it; nothing outside of
            it is touched.
        host: Name or address to listen on; others than localhost can be reached from the network.
        port: 0 for any that is free; if it is taken, the next free one.
        robot: The robot to begin with: a name of the zoo, or a URDF or MJCF file in the folder.
        plain: Without shadows, for machines without a graphics card.

    Raises:
        FileFormatError: The folder, or the file of the robot, does not exist.
        OutsideError: The file of the robot lies outside of the folder.
        UnknownNameError: The robot does not exist.
    """

    def __init__(
        self,
        folder: str | Path = ".",
        host: str = "127.0.0.1",
        port: int = 8080,
        robot: str | Path = "g1",
        plain: bool = False,
    ) -> None:
        self.folder = Path(folder).resolve()
        if not self.folder.is_dir():
            raise FileFormatError(
                "is not a folder", file=self.folder, next_step="create it first, or choose another one"
            )
        self.host, self._plain = host, plain
        self.store = RobotStore(self.folder)
        self._first = self.store.choice(robot)
        self.jobs = JobQueue(self.folder)
        self._tabs: dict[int, Tab] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._door = ""
        self._token, self._reports = secrets.token_urlsafe(18), f"/report/{secrets.token_urlsafe(18)}/"
        self.server = guarded_server(host, port, report_pages(self.folder, self._reports), self._token)
        self._set_up()

    def _set_up(self) -> None:
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=_BLUE, control_width="large")
        gui.set_panel_label("surefoot studio")
        self.server.scene.world_axes.visible = False
        self.server.on_client_connect(self._opened)
        self.server.on_client_disconnect(self._left)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.server.get_port()

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_local_name(self.host)

    @property
    def url(self) -> str:
        """The address for a browser on this machine, with the token that others do not know."""
        shown = self.host if self.is_local or self.host not in ("0.0.0.0", "::") else "127.0.0.1"
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/{self._token}/"

    def _opened(self, client: viser.ClientHandle) -> None:
        with self._lock:
            if not self._closed.is_set():
                self._tabs[client.client_id] = self._new_tab(client)

    def _new_tab(self, client: viser.ClientHandle) -> Tab:
        return Tab(client, self.folder, self.store, self.jobs, self._reports, self._first, self._plain)

    def _left(self, client: viser.ClientHandle) -> None:
        with self._lock:
            tab = self._tabs.pop(client.client_id, None)
        if tab is not None:
            tab.close()

    def open_browser(self) -> bool:
        """Open the studio in the browser of this machine; whether there is one.

        The browser is given a file that leads to the address: others can read the command lines of processes.
        """
        handle, self._door = tempfile.mkstemp(prefix="surefoot-", suffix=".html")  # for nobody else to read
        with open(handle, "w", encoding="utf-8") as file:
            file.write(html('<meta http-equiv="refresh" content="0;url={}">', self.url))
        return webbrowser.open(Path(self._door).as_uri())

    def wait(self) -> None:
        """Until it is closed from another thread, or interrupted."""
        self._closed.wait()

    def close(self) -> None:
        """Stop all jobs and the server."""
        self._closed.set()
        with self._lock:
            tabs, self._tabs = list(self._tabs.values()), {}
        for tab in tabs:
            tab.close()
        self.jobs.close()
        if self._door:
            Path(self._door).unlink(missing_ok=True)
        stop_quietly(self.server)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def report_pages(folder: Path, prefix: str) -> Pages:
    """Answers for addresses of `report_link`.

    A page may come from anybody, so it runs in a sandbox: it has no origin, cannot talk to the studio, and can load
    nothing. What it can learn from its own address must not open the studio: the prefix has another token.

    Args:
        folder: The folder of the studio.
        prefix: Of the addresses of reports, with a token that nobody can guess.
    """

    def page(path: str) -> Response | None:
        if not path.startswith(prefix):
            return None
        try:
            file = report_of(folder, unquote(path.removeprefix(prefix)))
            content = None if file is None else file.read_bytes()
        except (OutsideError, OSError):
            content = None
        if content is None:
            return Response(http.HTTPStatus.NOT_FOUND, "Not Found", Headers(**{"Content-Length": "0"}))
        headers = Headers(
            **{
                "Content-Type": "text/html; charset=utf-8",
                "Content-Length": str(len(content)),
                "Content-Security-Policy": _POLICY,
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
            }
        )
        return Response(http.HTTPStatus.OK, "OK", headers, content)

    return page


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
