"""`JobsPanel`: the jobs of all tabs, with progress, to watch and to stop."""

from __future__ import annotations

from dataclasses import dataclass

import viser
from viser._gui_handles import GuiProgressBarHandle

from surefoot.markup import Html, html
from surefoot.studio.jobs import Job
from surefoot.studio.panels.desk import Desk
from surefoot.studio.panels.inputs import add_html, set_html, set_value

_SHOWN = 5
_MARKS = {"waiting": "…", "running": "▶", "done": "✓", "failed": "✗", "stopped": "■"}


@dataclass(eq=False)
class _Row:
    """Widgets of one job."""

    state: str
    folder: viser.GuiFolderHandle
    text: viser.GuiHtmlHandle
    bar: GuiProgressBarHandle | None


class JobsPanel:
    """The part of the panel that lists jobs."""

    def __init__(self, tab: Desk) -> None:
        self._tab = tab
        self._rows: dict[int, _Row] = {}
        self._box: viser.GuiFolderHandle | None = None
        self.refresh()

    def refresh(self) -> None:
        """Show the jobs as they are now."""
        jobs = self._tab.jobs.jobs
        shown = [job for job in jobs if not job.is_over] + [job for job in jobs if job.is_over]
        shown = sorted(shown[: max(_SHOWN, sum(not job.is_over for job in jobs))], key=lambda job: -job.number)
        numbers = {job.number for job in shown}
        for number in [one for one in self._rows if one not in numbers]:
            self._rows.pop(number).folder.remove()
        for job in shown:
            row = self._rows.get(job.number)
            if row is None or row.state != job.state:
                if row is not None:
                    row.folder.remove()
                self._rows[job.number] = self._add(job)
            else:
                set_html(row.text, _text(job))
                if row.bar is not None:
                    set_value(row.bar, 100.0 * job.share)

    def _add(self, job: Job) -> _Row:
        gui = self._tab.gui
        if self._box is None:
            self._box = gui.add_folder("Jobs", order=-1.0)
        with self._box:
            folder = gui.add_folder(None, order=-float(job.number))
        with folder:
            text = add_html(gui, _text(job))
            bar = None
            if job.state == "running":
                bar = gui.add_progress_bar(100.0 * job.share, animated=True)
            if not job.is_over:
                self._add_buttons(job)
            elif job.folder is not None:
                self._tab.on_click(
                    gui.add_button("Show result", icon=viser.Icon.MOVIE), lambda: self._tab.show_result(job)
                )
        return _Row(job.state, folder, text, bar)

    def _add_buttons(self, job: Job) -> None:
        """Watch and stop, beside each other."""
        can_watch = job.request["kind"] == "run"
        group = self._tab.gui.add_button_group("", ("Watch", "Stop") if can_watch else ("Stop",))

        async def clicked(event: viser.GuiEvent) -> None:
            if group.value == "Stop":
                self._tab.post(lambda: self._tab.jobs.stop(job))
            else:
                self._tab.post(lambda: self._tab.watch(job))

        group.on_click(clicked)


def _text(job: Job) -> Html:
    head = html("{} <b>{}</b>", _MARKS[job.state], job.title)
    if job.state == "running":
        time = f" · {job.time:.2f} s" if job.time else ""
        return html("{}<br>{} · {:.0f} %{}", head, job.phase or "starting", 100.0 * job.share, time)
    if job.state == "failed":
        return html("{}<br>{}<br><i>{}</i>", head, *job.trouble)
    return html("{}<br>{}", head, job.verdict or job.state)
