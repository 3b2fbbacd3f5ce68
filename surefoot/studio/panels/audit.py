"""`AuditPanel`: audit the loaded motion; findings link to their times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import viser

from surefoot.errors import FileFormatError
from surefoot.markup import Html, html
from surefoot.robot import is_file_name
from surefoot.studio.files import LoadedMotion
from surefoot.studio.jobs import Job
from surefoot.studio.panels.desk import Desk
from surefoot.studio.panels.inputs import add_html, table_html
from surefoot.studio.safety import inside
from surefoot.words import counted

_MOST = 12
_MARKS = {"passed": "✓", "failed": "✗", "remark": "!", "skipped": "–"}


class AuditPanel:
    """The part of the panel that is about the audit.

    Args:
        tab: The tab.
        jump: Pauses the replay and goes to a time.
    """

    def __init__(self, tab: Desk, jump: Callable[[float], None]) -> None:
        self._tab, self._jump = tab, jump
        self._motion: LoadedMotion | None = None
        self._handles: list[Any] = []
        gui = tab.gui
        self._box = gui.add_folder("Audit", visible=False)
        with self._box:
            self._physics = gui.add_checkbox(
                "Replay in MuJoCo", False, hint="Also replay the motion in the physics engine."
            )
            tab.on_click(gui.add_button("Audit this motion", icon=viser.Icon.CLIPBOARD_CHECK), self.ask)

    def take(self, motion: LoadedMotion) -> None:
        """Another motion: what was found about it before, or nothing."""
        self._motion = motion
        self._box.visible = True
        known = [
            job for job in self._tab.jobs.jobs if job.audit is not None and job.request["motion"] == str(motion.path)
        ]
        self._clear()
        if known and known[0].audit is not None:
            self._list(known[0].audit)

    def ask(self) -> None:
        """Put the audit into the queue."""
        motion = self._motion
        if motion is None:
            raise FileFormatError("no motion is loaded", next_step="choose a run first")
        key = motion.key
        robot = str(inside(self._tab.folder, key.name)) if is_file_name(key.name) else key.name
        request = {
            "kind": "audit", "motion": str(motion.path), "robot": robot, "base": key.base, "mimic": key.mimic,
            "world": None if motion.scenario is None else str(motion.scenario), "replay": self._physics.value,
        }  # fmt: skip
        self._tab.jobs.submit(f"audit · {motion.path.name}", request, key)

    def heard(self, job: Job) -> None:
        """A job is over: if it judged this motion, list what it found."""
        motion = self._motion
        if job.audit is not None and motion is not None and job.request["motion"] == str(motion.path):
            self._clear()
            self._list(job.audit)

    def _clear(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _list(self, result: Mapping[str, Any]) -> None:
        """Verdict, a button for each finding, and the table of items."""
        gui, findings = self._tab.gui, result["findings"]
        defects = sum(one["severity"] == "defect" for one in findings)
        verdict = (
            Html("✓ <b>no defects</b>")
            if result["passed"]
            else html("✗ <b>{}</b>, worst first", counted(defects, "defect"))
        )
        with self._box:
            self._handles.append(add_html(gui, html("{}<br>Contacts: {}", verdict, result["contacts"] or "–")))
            for finding in findings[:_MOST]:
                self._add_finding(finding)
            if len(findings) > _MOST:
                more = html("… and {} more (<code>surefoot audit</code>).", len(findings) - _MOST)
                self._handles.append(add_html(gui, more))
            table = gui.add_folder("All items", expand_by_default=False)
            self._handles.append(table)
            with table:
                add_html(gui, items_table(result["items"]))

    def _add_finding(self, finding: Mapping[str, Any]) -> None:
        gui, time = self._tab.gui, float(finding["time"] or finding["start"] or 0.0)
        colour: Literal["red", "orange"] = "red" if finding["severity"] == "defect" else "orange"
        label = f"{time:.3f} s · {finding['item'].replace('_', ' ')} {finding['where']}".strip()
        button = gui.add_button(label, color=colour, hint=finding["next_step"] or "Jump to this time.")
        self._tab.on_click(button, lambda: self._jump(time))
        self._handles += [button, add_html(gui, html("{}", finding["message"]))]


def items_table(items: Sequence[Mapping[str, Any]]) -> Html:
    """Items of an audit as a table.

    Args:
        items: As plain data.
    """
    rows = [(_MARKS[item["status"]], item["title"], item.get("margin_text", "")) for item in items]
    return table_html(("", "item", "margin"), rows)
