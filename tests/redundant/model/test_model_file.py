"""Model files: round trips, and errors that name line, key and the nearest right name."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.errors import FileFormatError, ModelError, ScenarioError, UnknownNameError
from surefoot.redundant import load_model, model_names, model_of, save_model
from tests.redundant.examples import package_model, random_robot

TEXT = """
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

[[hinges.links]]
offset = [0.0, -1.0]

[[hinges.links]]
pin = { name = "swing", lower = -1.5, upper = 1.5, spring = 2.0, damping = 0.01 }

[[actuators]]
name = "motor"
acts_on = [{ freedom = "swing" }]
"""


def test_the_package_has_its_models() -> None:
    assert model_names() == ("cart-pole", "planar-biped", "two-link")
    with pytest.raises(UnknownNameError, match="cart-pole"):
        load_model("cart-poel")


@pytest.mark.parametrize("name", ["cart-pole", "planar-biped", "two-link", "robot"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    model = model_of(random_robot(1)) if name == "robot" else package_model(name)
    model.layout  # noqa: B018  (what is worked out from a model is no part of it)
    file = tmp_path / "model.toml"
    save_model(model, file)
    assert load_model(file) == model
    first = file.read_bytes()
    save_model(load_model(file), file)
    assert file.read_bytes() == first


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("mass = 1.0", "mas = 1.0", None, ["mass"]),
        ("mass = 1.0", "mass = -1.0", 8, ["bodies.0.mass", "greater"]),
        ("mass = 1.0", 'mass = "heavy"', 8, ["bodies.0.mass", "number"]),
        ("mass = 1.0", "mass = nan", 8, ["finite"]),
        ("inertia = [0.0]", "inertia = [0.0, 1.0]", 9, ["2 number(s), expected 1"]),
        ("gravity = [0.0, -9.81]", "gravity = [0.0, 0.0, -9.81]", 4, ["expected 2"]),
        ('tail = "bob"', 'tail = "bop"', 13, ["`bob`"]),
        ('tail = "bob"', 'tail = "ground"', 11, ["itself"]),
        ("damping = 0.01", "damping = 0.01, axis = [1.0, 0.0]", 19, ["omit `axis`"]),
        ("lower = -1.5", "lower = 2.5", 19, ["above upper"]),
        ("damping", "dampign", 19, ["damping"]),
        ('freedom = "swing"', 'freedom = "swnig"', 23, ["`swing`"]),
        ("offset = [0.0, -1.0]", "offset = [0.0, -1.0", 18, ["not TOML"]),
        ("offset = [0.0, -1.0]", "rotation = [0.1]\npin = { name = \"other\" }", 15, ["one of `rotation`"]),
        ('name = "motor"', 'name = "motor"\nlower = 3.0\nupper = 1.0', 23, ["above upper"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(old: str, new: str, line: int | None, words: list[str], tmp_path: Path) -> None:
    file = tmp_path / "pendulum.toml"
    file.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_model(file)
    assert caught.value.file == str(file)
    assert line is None or caught.value.line == line
    for word in words:
        assert word in str(caught.value)


def test_a_bad_model_is_not_written(tmp_path: Path) -> None:
    model = package_model("cart-pole").model_copy(update={"gravity": (0.0, 0.0, -9.81)})
    with pytest.raises(ModelError, match="gravity"):
        save_model(model, tmp_path / "bad.toml")
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileFormatError):
        load_model(tmp_path / "none.toml")


def test_a_copy_forgets_what_was_worked_out() -> None:
    model = package_model("cart-pole")
    assert model.layout.gravity[1] == -9.81
    assert model.model_copy(update={"gravity": (0.0, -1.62)}).layout.gravity[1] == -1.62
