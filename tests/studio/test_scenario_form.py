"""The form of a scenario says what the scenario says, and its changes are accepted."""

from __future__ import annotations

import pytest

from surefoot.scenario import names, read_scenario
from surefoot.scenario.catalogue import overridden
from surefoot.studio.panels.scenario import DEFAULT, FormField, form_fields, inline_toml, override_text


@pytest.mark.parametrize("name", names())
def test_an_untouched_form_changes_nothing_and_its_values_are_those_of_the_scenario(name):
    scenario = read_scenario(name)
    fields = form_fields(scenario)
    assert not any(override_text(field, field.value) for field in fields)
    texts = [
        f"{field.key}={field.value if field.kind == 'toml' else inline_toml(field.value)}"
        for field in fields
        if field.value not in ("", DEFAULT)
    ]
    assert overridden(scenario, texts) == scenario


@pytest.mark.parametrize("name", names())
def test_choices_and_limits_hold_the_value(name):
    for field in form_fields(read_scenario(name)):
        if field.kind == "choice":
            assert field.value in field.choices
        if field.kind in ("whole", "number"):
            assert field.lower is None or field.value >= field.lower
            assert field.upper is None or field.value <= field.upper


def test_changes_become_overrides():
    scenario = read_scenario("stand-pd")
    by_key = {field.key: field for field in form_fields(scenario)}
    changes = {"simulation.duration": 2.0, "simulation.seed": 7, "simulation.self_collision": True,
               "simulation.engine": "native", "robot.name": "anymal", "simulation.control_dt": "0.004"}  # fmt: skip
    texts = [override_text(by_key[key], value) for key, value in changes.items()]
    assert "simulation.duration=2.0" in texts
    changed = overridden(scenario, texts).simulation
    assert (changed.duration, changed.seed, changed.self_collision, changed.engine) == (2.0, 7, True, "native")
    assert changed.control_dt == 0.004


def test_keys_that_the_scenario_omits_are_choices_too():
    scenario = read_scenario("zero-g")
    by_key = {field.key: field for field in form_fields(scenario)}
    contact, gentle = by_key["simulation.contact"], by_key["controller.angular_only"]
    assert contact.choices == (DEFAULT, "spring_damper", "penalty_pid", "visco_elastic", "rigid")
    assert gentle.choices == (DEFAULT, "true", "false")
    texts = [override_text(contact, "rigid"), override_text(gentle, "true")]
    changed = overridden(scenario, texts)
    assert (changed.simulation.contact, changed.controller.angular_only) == ("rigid", True)


def test_fields_have_hints_from_the_schema():
    by_key = {field.key: field for field in form_fields(read_scenario("stand-pd"))}
    assert (
        by_key["simulation.duration"].hint
        == "Simulated time [s]; default: as long as the walk of `[walk]` takes, else 5 s."
    )
    assert by_key["simulation.dt"].lower == 1e-6


def test_tables_in_tables_are_written_on_one_line():
    assert inline_toml({"a b": [1.0, 2.0], "c": {"d": "x"}}) == '{"a b" = [1.0, 2.0], c = {d = "x"}}'
    assert override_text(FormField("k", "toml", "1"), "  ") == ""
