"""`view`: a robot in the browser or a notebook, moved by the caller's own loop."""

from __future__ import annotations

import secrets
import threading
import webbrowser
from collections.abc import Iterable, Mapping
from typing import Self

import numpy as np
import viser
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.markup import html
from surefoot.motion import World
from surefoot.report import robot_meshes
from surefoot.robot import Robot
from surefoot.studio.scene import Stage, WorldNodes, wxyz_of
from surefoot.studio.server import guarded_server, stop_quietly
from surefoot.studio.show import in_notebook

_AMBER = (234, 140, 20)
_Nodes = dict[str, viser.SceneNodeHandle]
_NOTEBOOKS = "'self' http://localhost:* http://127.0.0.1:* vscode-webview:"


class LiveView:
    """A window on a robot.

        view = sf.view(robot)
        for t in np.arange(0.0, 2.0, 0.02):
            q[7] = np.sin(t)
            view.show(q, arrows={"force": ([0, 0, 0], [0, 0, 0.4])}, frames=["left_hand"])

    In a notebook, `view` as the last line of a cell shows it there.

    Args:
        robot: The robot.
        world: Where it is; level ground if omitted.
        host: Name or address to listen on; this machine alone if omitted.
        port: 0 for any that is free.
    """

    def __init__(self, robot: Robot, world: World | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self.robot, self._world, self._host = robot, world, host
        self._meshes = robot_meshes(robot)
        self._q = np.array(robot.home)
        self._arrows: dict[str, Array] = {}
        self._frames: dict[str, Array] = {}
        self._windows: dict[int, tuple[Stage, _Nodes]] = {}
        self._lock = threading.RLock()
        self._token = secrets.token_urlsafe(18)
        self.server = guarded_server(host, port, lambda _: None, self._token, _NOTEBOOKS)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False)
        self.server.scene.world_axes.visible = False
        self.server.on_client_connect(self._opened)
        self.server.on_client_disconnect(self._left)

    @property
    def url(self) -> str:
        """The address for a browser on this machine."""
        return f"http://{self._host}:{self.server.get_port()}/{self._token}/"

    def show(
        self,
        q: ArrayLike,
        *,
        arrows: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
        frames: Mapping[str, ArrayLike] | Iterable[str] = (),
    ) -> None:
        """The robot in a posture, with what is shown beside it now.

        Args:
            q: (nq,) configuration.
            arrows: By name: where each begins, (3,), and the vector from there, (3,), in world [m].
            frames: Frames of the robot by name; or placements T_world_frame (4, 4) by name.
        """
        posture = self.robot.checked_q(q)
        found = {
            name: np.vstack([start, np.add(start, vector)])
            for name, pair in (arrows or {}).items()
            for start, vector in [(finite_array(x, (3,), f"arrow `{name}`") for x in pair)]
        }
        if isinstance(frames, Mapping):
            axes = {name: finite_array(T, (4, 4), f"frame `{name}`") for name, T in frames.items()}
        else:
            placed = self.robot.placements(posture)
            axes = {self._known(name): placed[name] for name in frames}
        with self._lock:
            self._q, self._arrows, self._frames = posture, found, axes
            for window in self._windows.values():
                self._draw(*window)

    def _known(self, name: str) -> str:
        self.robot.frame_id(name)
        return name

    def open(self) -> Self:
        """Open the browser of this machine; print the address where there is none."""
        if not webbrowser.open(self.url):
            print(f"no browser found; the view is at {self.url}")
        return self

    def close(self) -> None:
        """Stop serving."""
        stop_quietly(self.server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        style = "border:1px solid #d0d7de;border-radius:6px"
        return html('<iframe src="{}" width="100%" height="520" style="{}"></iframe>', self.url, style)

    def _opened(self, client: viser.ClientHandle) -> None:
        stage = Stage(client, plain=True)
        with self._lock:
            stage.show_robot(self.robot, self._meshes, self._q)
            if self._world is not None:
                WorldNodes(stage).show(self._world)
            self._windows[client.client_id] = stage, {}
            self._draw(*self._windows[client.client_id])

    def _left(self, client: viser.ClientHandle) -> None:
        with self._lock:
            self._windows.pop(client.client_id, None)

    def _draw(self, stage: Stage, nodes: _Nodes) -> None:
        """Posture, arrows and frames; nodes of the same name are replaced, others go."""
        stage.pose(self._q)
        size, scene, before = stage.size, stage.scene, dict(nodes)
        nodes.clear()
        for name, points in self._arrows.items():
            nodes[f"/arrows/{name}"] = scene.add_arrows(
                f"/arrows/{name}", points[None], _AMBER, shaft_radius=0.006 * size, head_radius=0.014 * size,
                head_length=0.04 * size,
            )  # fmt: skip
        for name, T in self._frames.items():
            nodes[f"/frames/{name}"] = scene.add_frame(
                f"/frames/{name}", axes_length=0.1 * size, axes_radius=0.003 * size, wxyz=wxyz_of(T[:3, :3]),
                position=T[:3, 3],
            )  # fmt: skip
        for name in before.keys() - nodes.keys():
            before[name].remove()


def view(robot: Robot, world: World | None = None, *, port: int = 0, open_browser: bool | None = None) -> LiveView:
    """A window on a robot that the caller's loop moves: `view.show(q, arrows=…, frames=…)`.

    Args:
        robot: The robot.
        world: Where it is.
        port: 0 for any that is free.
        open_browser: Whether to open a browser; by default outside of notebooks.
    """
    found = LiveView(robot, world, port=port)
    return found.open() if open_browser or (open_browser is None and not in_notebook()) else found
