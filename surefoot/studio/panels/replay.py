"""`ReplayPanel`: load a run, play it, scrub, look at its verdict and metrics."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from typing import Any

import numpy as np
import viser

from surefoot.markup import Html, html, joined
from surefoot.studio.files import LoadedMotion, load_motion, motion_choices, report_link, report_of, run_choices
from surefoot.studio.panels.audit import AuditPanel
from surefoot.studio.panels.desk import Desk
from surefoot.studio.panels.inputs import add_html, set_html, set_options, set_value, table_html
from surefoot.words import verdict_text

_NOTHING = "(nothing)"
_SPEEDS = {"0.1 ×": 0.1, "0.25 ×": 0.25, "0.5 ×": 0.5, "1 ×": 1.0, "2 ×": 2.0, "4 ×": 4.0}
_SLIDER_PERIOD = 0.1
"""Between two positions of the slider while it plays [s]."""


class ReplayPanel:
    """The part of the panel that is about runs."""

    def __init__(self, tab: Desk) -> None:
        self._tab = tab
        self.motion: LoadedMotion | None = None
        self.time = 0.0
        self._is_playing = False
        self._last_tick = self._last_shown = 0.0
        gui = tab.gui
        self._choice = gui.add_dropdown("Run", self._choices(), hint="Runs in the folder, newest first, then motions.")
        self._path = gui.add_text("Path", "", hint="Run folder or motion file within the studio folder.")
        tab.on_click(gui.add_button("Refresh list", icon=viser.Icon.REFRESH), self.refresh)
        tab.on_change(self._choice, self._chosen, "run")
        tab.on_change(self._path, lambda: self.load(self._path.value), "path")
        self._box = gui.add_folder("Replay", visible=False)
        with self._box:
            self._add_player()
        self.audit = AuditPanel(tab, self._stop_at)

    def _add_player(self) -> None:
        tab, gui = self._tab, self._tab.gui
        self._verdict = add_html(gui)
        self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY, color="blue")
        self._slider = gui.add_slider("Time [s]", 0.0, 1.0, 0.001, 0.0)
        self._speed = gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1 ×")
        self._loops = gui.add_checkbox("Loop", True)
        self._link = add_html(gui)
        with gui.add_folder("Metrics", expand_by_default=False):
            self._metrics = add_html(gui)
        tab.on_click(self._play, self.toggle)
        tab.on_change(self._slider, lambda: self.jump(float(self._slider.value)), "time")

    def _choices(self) -> tuple[str, ...]:
        folder = self._tab.folder
        return (_NOTHING, *run_choices(folder), *motion_choices(folder))

    def refresh(self) -> None:
        """List runs that are new."""
        set_options(self._choice, list(self._choices()), self._choice.value)

    def _chosen(self) -> None:
        if self._choice.value != _NOTHING:
            self.load(self._choice.value)

    def load(self, name: str) -> None:
        """Load a run and show its beginning.

        Args:
            name: Path in the folder of the studio.
        """
        if not name.strip():
            return
        tab = self._tab
        with tab.busy(f"loading {name}"):
            motion = load_motion(tab.folder, name.strip(), tab.store, tab.current)
            tab.unwatch()
            tab.show_robot(motion.robot, motion.key, motion.trajectory.q[0], motion.world)
        self.motion = motion
        self._select(str(motion.path.relative_to(tab.folder)))
        self._show_facts(motion)
        self.jump(motion.trajectory.start)
        self.audit.take(motion)

    def _select(self, name: str) -> None:
        """The name in the list, also of a motion that was given by its path."""
        set_options(self._choice, list(self._choice.options), name)

    def _show_facts(self, motion: LoadedMotion) -> None:
        start, end = motion.trajectory.start, motion.trajectory.end
        self._slider.min, self._slider.max = round(start, 3), round(max(end, start + 1e-3), 3)
        self._slider.step = 0.001
        set_value(self._slider, round(start, 3))
        set_html(self._verdict, _verdict(motion))
        set_html(self._metrics, metrics_table(motion.metrics) or Html("<i>none</i>"))
        set_html(self._link, self._report_html(motion))
        self._box.visible = True

    def _report_html(self, motion: LoadedMotion) -> Html:
        """A link to the page of the run."""
        name = str(motion.path.relative_to(self._tab.folder))
        page = report_of(self._tab.folder, name) if motion.path.is_dir() else None
        if page is None:
            return Html()
        link = html('<a href="{}" target="_blank" rel="noopener">Open report</a>', report_link(self._tab.reports, name))
        return html("{}<br><small>{}</small>", link, page)

    def toggle(self) -> None:
        """Play, or pause."""
        if self._is_playing:
            self.pause()
        elif self.motion is not None:
            self._tab.unwatch()
            if self.time >= self.motion.trajectory.end - 1e-9:
                self.time = self.motion.trajectory.start
            self._is_playing, self._last_tick = True, clock.monotonic()
            self._play.label, self._play.icon = "Pause", viser.Icon.PLAYER_PAUSE
            self._tab.tick(self._advance)

    def pause(self) -> None:
        """Stop where it is."""
        if self._is_playing:
            self._is_playing = False
            self._tab.tick(None)
            self._play.label, self._play.icon = "Play", viser.Icon.PLAYER_PLAY
            self._show(force=True)

    def _advance(self) -> None:
        motion = self.motion
        if motion is None:
            return
        now = clock.monotonic()
        self.time += (now - self._last_tick) * _SPEEDS[self._speed.value]
        self._last_tick = now
        if self.time > motion.trajectory.end:
            if not self._loops.value:
                self.time = motion.trajectory.end
                self.pause()
                return
            self.time = motion.trajectory.start
        self._show()

    def _stop_at(self, time: float) -> None:
        self.pause()
        self.jump(time)

    def jump(self, time: float) -> None:
        """Show the robot at a time.

        Args:
            time: [s].
        """
        if self.motion is not None:
            self._tab.unwatch()
            self.time = float(np.clip(time, self.motion.trajectory.start, self.motion.trajectory.end))
            self._tab.show_robot(self.motion.robot, self.motion.key, None, self.motion.world)
            self._show(force=True)

    def _show(self, force: bool = False) -> None:
        motion = self.motion
        if motion is None or self._tab.stage.robot is not motion.robot:
            return
        self._tab.stage.pose(motion.trajectory.sample(self.time).q)
        now = clock.monotonic()
        if force or now - self._last_shown >= _SLIDER_PERIOD:
            self._last_shown = now
            set_value(self._slider, round(float(np.clip(self.time, self._slider.min, self._slider.max)), 3))
        if force:
            self._tab.posture_changed()


def _verdict(motion: LoadedMotion) -> Html:
    verdict = motion.metrics.get("verdict", "")
    text = verdict_text(motion.metrics)
    mark = html("{} <b>{}</b><br>", "✓" if verdict == "passed" else "✗", text) if verdict else Html()
    facts = f"{motion.robot.name} · {motion.trajectory.duration:.2f} s · {len(motion.trajectory)} samples"
    return joined([mark, facts, *(html("<br><i>{}</i>", remark) for remark in motion.remarks[:3])])


def metrics_table(metrics: Mapping[str, Any]) -> Html:
    """Numbers and short texts of `metrics.json` as a table."""
    rows = [(key.replace("_", " "), text) for key, value in metrics.items() if (text := _short(value))]
    return table_html(("metric", "value"), rows) if rows else Html()


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) or (isinstance(value, str) and 0 < len(value) <= 60):
        return str(value)
    return ""
