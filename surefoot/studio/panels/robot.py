"""`RobotPanel`: pick a robot, move its joints, drag its hands and feet, look inside."""

from __future__ import annotations

import numpy as np
import viser

from surefoot.errors import UnknownNameError
from surefoot.markup import Html, html
from surefoot.robot import Drive, Robot
from surefoot.studio.files import RobotKey
from surefoot.studio.panels.desk import Desk
from surefoot.studio.panels.inputs import add_html, set_html, set_options, table_html
from surefoot.studio.panels.joints import Axis, JointSliders, with_value
from surefoot.studio.scene import LAYERS, DragHandle, Overlays, closed, drag_choices
from surefoot.words import counted

_NOTHING = "(nothing)"
_SLOW = {"volumes": "fitting collision volumes; this takes a while the first time"}


class RobotPanel:
    """The part of the panel that is about the robot.

    Args:
        tab: The tab.
        first: Name of the robot to begin with.
        plain: Whether the stage is plain.
    """

    def __init__(self, tab: Desk, first: str, plain: bool) -> None:
        self._tab = tab
        self._sliders: JointSliders | None = None
        self.drag = DragHandle(
            tab.stage, tab.store,
            on_drag=lambda: tab.post(self._pulled, "drag"),
            on_end=lambda: tab.post(self._let_go),
            moved=lambda: tab.post(self._show_sliders, "sliders"),
        )  # fmt: skip
        tab.stage.on_posture.append(self.drag.settle)
        self._add_choice(first)
        self._add_layers(plain)
        self._add_drag()
        self._joints = tab.gui.add_folder("Joints")
        with self._joints:
            tab.on_click(tab.gui.add_button("Reset to home", icon=viser.Icon.HOME), self.go_home)

    def _add_choice(self, first: str) -> None:
        tab = self._tab
        choices = tab.store.choices()
        self._search = tab.gui.add_text("Search", "", hint="Show names that contain these words.")
        self._choice = tab.gui.add_dropdown(
            "Robot", choices, initial_value=first, hint="Built-in robots, then URDF and MJCF files in the folder."
        )
        self._facts = add_html(tab.gui)
        tab.on_change(self._search, self._narrow, "search")
        tab.on_change(self._choice, lambda: self.pick(self._choice.value), "robot")

    def _narrow(self) -> None:
        """Only robots whose names have the words; if there is a single one, it is picked."""
        found = self._tab.store.choices(self._search.value)
        if not found:
            raise UnknownNameError(
                f"no robot has `{self._search.value}` in its name",
                next_step="`surefoot robots` lists the built-in robots; files must be in the studio folder",
            )
        before = self._choice.value
        set_options(self._choice, found, found[0] if len(found) == 1 else before)
        if self._choice.value != before:
            self.pick(self._choice.value)

    def pick(self, name: str) -> None:
        """Show another robot.

        Args:
            name: Name in the zoo, or a file in the folder.
        """
        with self._tab.busy(f"loading {name}"):
            robot = self._tab.store.get(RobotKey(name))
            self._tab.show_robot(robot, robot_key=RobotKey(name))

    def _add_layers(self, plain: bool) -> None:
        tab, overlays = self._tab, Overlays(self._tab.stage, self._tab.store)
        with tab.gui.add_folder("Show", expand_by_default=False):
            for layer, title in LAYERS.items():
                self._add_layer(overlays, layer, title)
            box = tab.gui.add_checkbox("No shadows", plain, hint="Faster on machines without a graphics card.")
            tab.on_change(box, lambda: tab.stage.set_plain(box.value), "plain")
            tab.on_click(tab.gui.add_button("Drives …", icon=viser.Icon.ENGINE), self._show_drives)
            tab.on_click(tab.gui.add_button("Centre view", icon=viser.Icon.FOCUS_2), tab.stage.look_at_robot)

    def _add_layer(self, overlays: Overlays, layer: str, title: str) -> None:
        box = self._tab.gui.add_checkbox(title, False)

        def switch() -> None:
            if box.value and layer in _SLOW:
                with self._tab.busy(_SLOW[layer]):
                    overlays.set(layer, True)
            else:
                overlays.set(layer, box.value)

        self._tab.on_change(box, switch, ("layer", layer))

    def _show_drives(self) -> None:
        robot = self._tab.stage.robot
        if robot is None:
            return
        with self._tab.gui.add_modal(f"Drives of {robot.name}") as modal:
            units = Html("Torques [N m] or [N] and speeds [rad/s] or [m/s] at the joint; rotors [kg m²].")
            add_html(self._tab.gui, html("{}{}", units, drive_table(robot)))
            self._tab.on_click(self._tab.gui.add_button("Close"), modal.close)

    def _add_drag(self) -> None:
        tab = self._tab
        with tab.gui.add_folder("Drag"):
            self._end = tab.gui.add_dropdown("Frame", (_NOTHING,), hint="Drag it with the gizmo; the robot follows.")
            holds = tab.gui.add_checkbox("Fix feet", True, hint="Other contacts stay in place.")
            turns = tab.gui.add_checkbox("Track orientation", True, hint="If off, only the position is tracked.")
            avoids = tab.gui.add_checkbox("Avoid self-collision", False)
        tab.on_change(self._end, self._attach, "end")

        def options() -> None:
            self.drag.holds, self.drag.turns, self.drag.avoids = holds.value, turns.value, avoids.value
            self._attach()

        for box in (holds, turns, avoids):
            tab.on_change(box, options, "drag options")

    def _attach(self) -> None:
        robot = self._tab.stage.robot
        limb = drag_choices(robot).get(self._end.value) if robot is not None else None
        self.drag.attach(self._end.value if limb is not None else "", limb)
        if self.drag.avoids and limb is not None:
            with self._tab.busy("fitting collision volumes; this takes a while the first time"):
                self.drag.prepare()
        self._tab.post(self.drag.prepare, "prepare")

    def _pulled(self) -> None:
        self._tab.leave_replay()
        self.drag.follow()

    def _let_go(self) -> None:
        self.drag.settle()
        self.drag.renew()
        self._show_sliders()

    def take(self, robot: Robot) -> None:
        """Sliders, frames and facts of a robot that is shown now."""
        tab = self._tab
        set_html(self._facts, robot_facts(robot))
        if self._sliders is not None:
            self._sliders.remove()
        with self._joints:
            self._sliders = JointSliders(
                tab.gui, robot, tab.stage.q, lambda axis, value: tab.post(lambda: self._turn(axis, value), axis)
            )
        ends = list(drag_choices(robot))
        set_options(self._end, [_NOTHING, *ends], ends[0] if ends else _NOTHING)
        self._attach()

    def _turn(self, axis: Axis, value: float) -> None:
        """Move one joint, what follows it, and what closed chains move with it."""
        stage = self._tab.stage
        if stage.robot is None:
            return
        self._tab.leave_replay()
        q = with_value(stage.robot, stage.q, axis, value)
        stage.pose(closed(stage.robot, q, stage.robot.joint_names[axis.joint]))
        self.drag.renew()
        if stage.robot.couplings or stage.robot.loops:
            self._tab.post(lambda: self._show_sliders(axis), "sliders")

    def go_home(self) -> None:
        """The posture that the robot stands in."""
        stage = self._tab.stage
        if stage.robot is not None:
            self._tab.leave_replay()
            stage.pose(stage.robot.home)
            self.drag.renew()
            self._show_sliders()

    def _show_sliders(self, but: Axis | None = None) -> None:
        if self._sliders is not None:
            self._sliders.show(self._tab.stage.q, but)

    def posture_changed(self) -> None:
        """Sliders and gizmo to the posture that is shown now."""
        self.drag.renew()
        self._show_sliders()


def drive_table(robot: Robot) -> Html:
    """Drives as a table."""
    if not robot.drives:
        return Html("<p><i>This robot has no drives.</i></p>")
    return table_html(("joint", "torque", "speed", "gear", "rotor"), [_row(drive) for drive in robot.drives])


def robot_facts(robot: Robot) -> Html:
    """A robot in one line."""
    ties = [
        counted(len(robot.contacts), "contact"),
        *([counted(len(robot.loops), "loop")] if robot.loops else []),
        *([counted(len(robot.couplings), "coupling")] if robot.couplings else []),
    ]
    doubts = sum(note.level == "warning" for note in robot.notes)
    warn = html(" · {} (<code>surefoot check</code>)", counted(doubts, "warning")) if doubts else Html()
    facts = f"{robot.base} base · {robot.nv} dof · {robot.mass:.1f} kg · {' · '.join(ties)}"
    return html("<b>{}</b> · {}{}", robot.name, facts, warn)


def _row(drive: Drive) -> tuple[str, ...]:
    gear = f"{drive.gear_ratio:g}" + (" elastic" if drive.gear == "elastic" else "")
    rotor = f"{drive.rotor_inertia:.2g}" if drive.rotor_inertia else "–"
    return drive.joint, _number(drive.torque_limit), _number(drive.speed_limit), gear, rotor


def _number(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else "∞"
