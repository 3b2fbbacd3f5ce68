"""The parameters of a scenario as a list of fields, read off its schema."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from surefoot.scenario import KindTable, Scenario
from surefoot.tables import toml_text

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
