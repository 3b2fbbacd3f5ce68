"""Models as TOML files: data only, strict. Errors name file, line, key and the nearest valid name.

name = "pendulum"
space = "plane"
gravity = [0.0, -9.81]

[[bodies]]
name = "bob"
mass = 1.0
inertia = [0.0]

[[hinges]]
name = "pivot"
tail = "bob"
head = "ground"

[[hinges.links]]
offset = [0.0, -1.0]

[[hinges.links]]
pin = { name = "swing", lower = -1.5, upper = 1.5, damping = 0.01 }

[[actuators]]
name = "motor"
acts_on = [{ freedom = "swing" }]
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from surefoot.errors import ScenarioError, one_of
from surefoot.files import write_text
from surefoot.redundant.model.check import problems, require_sound
from surefoot.redundant.model.layout import Model
from surefoot.tables import check_tables, key_lines, line_of, parse_toml, read_toml_text, toml_text

_TABLES = {"bodies", "hinges", "links", "actuators", "contacts"}  # the others are inline


def model_names() -> tuple[str, ...]:
    """Names of the models in the package."""
    folder = resources.files("surefoot.redundant") / "models"
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


def load_model(path_or_name: str | Path) -> Model:
    """A model from a file, or one of the package by name (`model_names`).

    Args:
        path_or_name: A path that ends in .toml, or a name.

    Raises:
        ScenarioError: The file is invalid.
        UnknownNameError: There is no model of that name.
    """
    if Path(path_or_name).suffix == ".toml":
        return read_model(path_or_name)
    if str(path_or_name) not in model_names():
        raise one_of("model", str(path_or_name), model_names())
    with resources.as_file(resources.files("surefoot.redundant") / "models" / f"{path_or_name}.toml") as file:
        return read_model(file)


def read_model(path: str | Path) -> Model:
    """A model from a TOML file.

    Raises:
        FileFormatError: There is no such file.
        ScenarioError: The file is invalid.
    """
    text = read_toml_text(path)
    model = check_tables(parse_toml(text, path), Model, path, text)
    lines = key_lines(text)
    found = [(line_of(key, lines), f"`{'.'.join(map(str, key))}`: {what}") for key, what in problems(model)]
    if found:
        further = {f"line {line}" if line else f"{i}": what for i, (line, what) in enumerate(found[1:9], 2)}
        raise ScenarioError(found[0][1], file=path, line=found[0][0], evidence=further)
    return model


def save_model(model: Model, path: str | Path) -> None:
    """Write a model as TOML; `read_model` gives an equal one. The file is written whole or not at all.

    Raises:
        ModelError: The model is inconsistent.
        FileFormatError: The file cannot be written.
    """
    require_sound(model)
    write_text(path, toml_text(_tables(model), headers=_TABLES))


def _tables(item: BaseModel) -> dict[str, Any]:
    """The entries of a part that differ from their defaults."""
    out: dict[str, Any] = {}
    for name, field in type(item).model_fields.items():
        value = getattr(item, name)
        if field.is_required() or value != field.default:
            out[name] = _plain(value)
    return out


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _tables(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
