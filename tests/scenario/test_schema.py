import pytest

from surefoot.errors import ScenarioError, UnknownNameError
from surefoot.scenario import describe, names, read_scenario


def write(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(text)
    return path


def test_built_in_scenarios_are_sound():
    assert "stand" in names()
    for name in names():
        scenario = read_scenario(name)
        assert scenario.name == name
        assert describe(name) == scenario.description != ""


def test_unknown_scenario_gets_a_hint():
    with pytest.raises(UnknownNameError, match="stand"):
        read_scenario("stnad")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[simulation]\ndurration = 3.0", "duration"),
        ("[simulation]\nduration = -1.0", "simulation.duration"),
        ("[simulation]\nduration = nan", "simulation.duration"),
        ("[robot]\nbase = 'flying'", "robot.base"),
        ("[[events]]\nkind = 'push'\nforse = 3", "force|speed|known"),
        ("[[events]]\ndirection = [0.0, 0.0, 0.0]", "direction"),
        ("[[world.ground]]\nkind = 'box'\nsteps = 3", "steps"),
        ("[[world.ground]]\nkind = 'stairs'\nsteps = 3\nrise = 0.1", "run"),
    ],
)
def test_errors_name_file_line_and_key(tmp_path, line, message):
    path = write(tmp_path, f"name = 'x'\n{line}\n")
    with pytest.raises(ScenarioError, match=message) as caught:
        read_scenario(path)
    assert caught.value.file == str(path)
    assert caught.value.line in (2, 3, 4)


def test_name_is_fit_for_a_folder(tmp_path):
    with pytest.raises(ScenarioError, match="name"):
        read_scenario(write(tmp_path, 'name = "../up"\n'))
