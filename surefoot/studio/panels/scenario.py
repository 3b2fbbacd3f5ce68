"""`ScenarioPanel`: pick a scenario, change its parameters, run it."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
import viser
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from surefoot.markup import html
from surefoot.robot import is_file_name
from surefoot.scenario import KindTable, Scenario, build_world, names, read_scenario, resolved_scenario
from surefoot.studio.files import RobotKey
from surefoot.studio.panels.desk import Desk
from surefoot.studio.panels.inputs import add_html, set_html, set_value
from surefoot.studio.safety import OutsideError, inside
from surefoot.studio.scene import GoalHandle
from surefoot.tables import toml_text

_AS_IT_IS = "(as in the scenario)"
_OPEN = ("simulation", "motion", "controller")


class ScenarioPanel:
    """The part of the panel that is about scenarios."""

    def __init__(self, tab: Desk) -> None:
        self._tab = tab
        self._readers: list[tuple[FormField, Callable[[], Any]]] = []
        self._folders: list[viser.GuiFolderHandle] = []
        self._goal_field: viser.GuiInputHandle[Any] | None = None
        gui = tab.gui
        choices = self._choices()
        first = "stand" if "stand" in choices else choices[0]
        self._choice = gui.add_dropdown(
            "Scenario", choices, initial_value=first, hint="Built-in scenarios, then files."
        )
        self._about = add_html(gui)
        self._robot = gui.add_dropdown("Robot", (_AS_IT_IS, *tab.store.choices()), hint="Replace the robot.")
        tab.on_click(gui.add_button("Run", color="green", icon=viser.Icon.PLAYER_PLAY), self.run)
        self._command = add_html(gui)
        self._form = gui.add_folder("Parameters", expand_by_default=True)
        self._goal = GoalHandle(tab.stage, lambda x, y: tab.post(lambda: self._pull(x, y), "goal"))
        self._more = gui.add_text("More overrides", "", multiline=True, hint="One key=value per line, as for --set.")
        tab.on_change(self._choice, self._show, "scenario")
        for field in (self._robot, self._more):
            tab.on_change(field, self._preview, "command")
        self._show()

    def _choices(self) -> list[str]:
        """Scenarios that come with the package, and TOML files of the folder that are not those of runs."""
        folder = self._tab.folder
        files = [path for pattern in ("*.toml", "*/*.toml") for path in sorted(folder.glob(pattern))]
        own = [f"./{path.relative_to(folder)}" for path in files if "[simulation]" in _beginning(path)]
        return [*names(), *own[:100]]

    def _source(self) -> str | Path:
        """Name or real path of the scenario."""
        chosen = self._choice.value
        return inside(self._tab.folder, chosen) if "/" in chosen or chosen.endswith(".toml") else chosen

    def _show(self) -> None:
        """Fields for the scenario that is chosen."""
        scenario = read_scenario(self._source())
        about = scenario.description or scenario.name
        set_html(self._about, html("{}<br>Robot: <b>{}</b>", about, scenario.robot.name))
        for folder in self._folders:
            folder.remove()
        self._readers, self._folders, self._goal_field = [], [], None
        x, y, self._goal_yaw = (0.0, 0.0, 0.0) if scenario.planner is None else scenario.planner.goal
        self._goal.show(None if scenario.planner is None else (x, y))
        groups: dict[str, list[FormField]] = {}
        for field in form_fields(scenario):
            groups.setdefault(field.group, []).append(field)
        with self._form:
            for group, fields in sorted(groups.items(), key=lambda item: item[0] not in _OPEN):
                self._add_group(group, fields, scenario)
        self._preview()

    def _add_group(self, group: str, fields: list[FormField], scenario: Scenario) -> None:
        kind = _kind_of(scenario, group)
        title = " ".join(part for part in (group.replace(".", " › ") or "scenario", kind) if part)
        folder = self._tab.gui.add_folder(title.capitalize(), expand_by_default=group == _OPEN[0])
        self._folders.append(folder)
        with folder:
            for field in fields:
                handle = _widget(self._tab.gui, field)
                self._readers.append((field, _reader(field, handle)))
                if field.key == "planner.goal":
                    self._goal_field = handle
                self._tab.on_change(handle, self._preview, "command")

    def _pull(self, x: float, y: float) -> None:
        """The goal of the planner is pulled elsewhere; its heading is that of the scenario."""
        if self._goal_field is not None:
            set_value(self._goal_field, f"[{x:.3f}, {y:.3f}, {self._goal_yaw!r}]")
            self._preview()

    def overrides(self) -> list[str]:
        """`key=value` of all that was changed."""
        changed = [override_text(field, read()) for field, read in self._readers]
        more = [line.strip() for line in self._more.value.splitlines()]
        return [text for text in (*changed, *more) if text]

    def _preview(self) -> None:
        words = ["surefoot", "run", str(self._choice.value)]
        if self._robot.value != _AS_IT_IS:
            words += ["--robot", self._robot.value]
        for text in self.overrides():
            words += ["--set", text]
        set_html(self._command, html("<code>{}</code>", shlex.join(words)))

    def run(self) -> None:
        """Check the scenario and put it into the queue."""
        tab, source = self._tab, self._source()
        robot = None if self._robot.value == _AS_IT_IS else self._robot_path(self._robot.value)
        overrides = self.overrides()
        scenario = resolved_scenario(source, robot, overrides=overrides)
        key = RobotKey(scenario.robot.name, scenario.robot.base, scenario.robot.mimic)
        if is_file_name(key.name):
            robot = str(inside(tab.folder, key.name))
        self._require_runs_inside()
        world = build_world(scenario.world, tab.store.get(key))
        request = {"kind": "run", "scenario": str(source), "robot": robot, "seed": None, "overrides": overrides}
        job = tab.jobs.submit(f"{scenario.name} · {Path(key.name).stem}", request, key, world)
        tab.watch(job)

    def _robot_path(self, name: str) -> str:
        return str(inside(self._tab.folder, name)) if is_file_name(name) else name

    def _require_runs_inside(self) -> None:
        try:
            inside(self._tab.folder, "runs")
        except OutsideError as error:
            raise OutsideError(
                "`runs` is a link to a location outside the folder", next_step="replace it with a folder"
            ) from error


def _beginning(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(20_000)
    except OSError:  # it vanished, or may not be read: it is not listed
        return ""


def _kind_of(scenario: Scenario, group: str) -> str:
    """The kind of the table that a group of fields belongs to, in brackets."""
    table: Any = scenario
    for part in group.split(".") if group else []:
        table = table[int(part)] if isinstance(table, list) else getattr(table, part)
    return f"({table.kind})" if isinstance(table, KindTable) else ""  # type: ignore[attr-defined]


def _widget(gui: viser.GuiApi, field: FormField) -> viser.GuiInputHandle[Any]:
    """The widget for a parameter."""
    hint = f"{field.key}: {field.hint}"
    match field.kind:
        case "switch":
            return gui.add_checkbox(field.label, field.value, hint=hint)
        case "choice":
            return gui.add_dropdown(field.label, field.choices, initial_value=field.value, hint=hint)
        case "whole":
            lower, upper = (None if x is None else int(x) for x in (field.lower, field.upper))
            return gui.add_number(field.label, int(field.value), min=lower, max=upper, step=1, hint=hint)
        case "number":
            return gui.add_text(field.label, f"{field.value!r}", hint=hint)
        case _:
            return gui.add_text(field.label, str(field.value), hint=hint)


def _reader(field: FormField, handle: viser.GuiInputHandle[Any]) -> Callable[[], Any]:
    if field.kind == "number":
        return lambda: _number(handle.value)
    return lambda: handle.value


def _number(text: str) -> Any:
    """A number, or the text itself for the check of the scenario to refuse."""
    try:
        return float(text)
    except ValueError:
        return text


Kind = Literal["switch", "choice", "whole", "number", "text", "toml"]
_HIDDEN = {"name", "description"}
_SWITCH = ("true", "false")
DEFAULT = "(default)"
"""Choice of a key that the scenario does not have."""


@dataclass(frozen=True)
class FormField:
    """One parameter.

    Args:
        key: Dotted, as in `--set key=value`.
        kind: How it is put in; "toml" is a text that must be TOML, empty for none.
        value: Its value; for "toml" as text.
        choices: Of a choice.
        lower: Least value of a number, or None.
        upper: Largest value of a number, or None.
        hint: What it means.
    """

    key: str
    kind: Kind
    value: Any
    choices: tuple[str, ...] = ()
    lower: float | None = None
    upper: float | None = None
    hint: str = ""

    @property
    def group(self) -> str:
        """All of the key but its last part."""
        return self.key.rpartition(".")[0]

    @property
    def label(self) -> str:
        """The last part of the key in words."""
        return self.key.rpartition(".")[2].replace("_", " ")


def form_fields(scenario: Scenario) -> list[FormField]:
    """All parameters of a scenario, tables in tables included."""
    return [field for field in _fields("", scenario) if field.key not in _HIDDEN]


def override_text(field: FormField, value: Any) -> str:
    """`key=value` for a value that was put in, or "" if it is the one of the scenario."""
    if value == field.value or (field.kind == "toml" and not str(value).strip()):
        return ""
    is_toml = field.kind == "toml" or (field.kind == "choice" and value in _SWITCH)
    return f"{field.key}={value if is_toml else inline_toml(value)}"


def inline_toml(value: Any) -> str:
    """A value as TOML on one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_text({key: 0}).split(' = ')[0]} = {inline_toml(item)}" for key, item in value.items())
        return "{" + inner + "}"
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        return "[" + ", ".join(inline_toml(item) for item in value) + "]"
    return toml_text({"x": value}).removeprefix("x = ").rstrip("\n")


def _fields(prefix: str, table: BaseModel) -> Iterator[FormField]:
    # What the docstring of a table says about its keys
    text = inspect.cleandoc(type(table).__doc__ or "").partition("Args:\n")[2]
    parts = re.split(r"^    (\w+): ", text, flags=re.MULTILINE)
    hints = {name: " ".join(hint.split()) for name, hint in zip(parts[1::2], parts[2::2], strict=True)}
    for name, info in type(table).model_fields.items():
        if isinstance(table, KindTable) and not _belongs(table, name):
            continue
        key, value = f"{prefix}{name}", getattr(table, name)
        if isinstance(value, BaseModel):
            yield from _fields(f"{key}.", value)
        elif isinstance(value, list) and value and all(isinstance(item, BaseModel) for item in value):
            for number, item in enumerate(value):
                yield from _fields(f"{key}.{number}.", item)
        else:
            yield _field(key, value, info, hints.get(name, ""))


def _belongs(table: KindTable, name: str) -> bool:
    """Whether a key belongs to the kind of a table; the kind itself stays as it is, as other keys hang on it."""
    if name == "kind":
        return False
    several = {key for keys in table.KEYS.values() for key in keys}
    return name not in several or name in table.KEYS[table.kind]  # type: ignore[attr-defined]


def _field(key: str, value: Any, info: FieldInfo, hint: str) -> FormField:
    plain, limits = _plain(info.annotation, list(info.metadata))
    # Bounds that belong to the range; bounds that do not are left to the check of the scenario
    lower = next((float(x.ge) for x in limits if isinstance(x, annotated_types.Ge)), None)  # type: ignore[arg-type]
    upper = next((float(x.le) for x in limits if isinstance(x, annotated_types.Le)), None)  # type: ignore[arg-type]
    if get_origin(plain) is Literal or (plain is bool and value is None):
        choices = _SWITCH if plain is bool else tuple(str(item) for item in get_args(plain))
        return FormField(key, "choice", value or DEFAULT, choices if value else (DEFAULT, *choices), hint=hint)
    if plain is bool and value is not None:
        return FormField(key, "switch", value, hint=hint)
    if plain is int and value is not None:
        return FormField(key, "whole", value, (), lower, upper, hint)
    if plain is float and value is not None:
        return FormField(key, "number", float(value), (), lower, upper, hint)
    if plain is str and value is not None:
        return FormField(key, "text", value, hint=hint)
    text = "" if value is None or value in ([], {}) else inline_toml(_dumped(value))
    return FormField(key, "toml", text, hint=hint)


def _plain(annotation: Any, limits: list[Any]) -> tuple[Any, list[Any]]:
    """An annotation without `| None` and `Annotated`, and what `Annotated` says."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _plain(inner, [*limits, *(m for item in more for m in getattr(item, "metadata", [item]))])
    if get_origin(annotation) in (Union, UnionType):
        parts = [part for part in get_args(annotation) if part is not type(None)]
        if len(parts) == 1:
            return _plain(parts[0], limits)
    return annotation, limits


def _dumped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="python", exclude_none=True)
    if isinstance(value, Mapping):
        return {key: _dumped(item) for key, item in value.items()}
    return [_dumped(item) for item in value] if isinstance(value, list | tuple) else value
