import pytest

from surefoot.errors import ScenarioError
from surefoot.scenario import read_scenario
from surefoot.scenario.catalogue import overridden

STAND = read_scenario("stand-pd")


def test_values_are_toml_and_bare_words_are_texts():
    changed = overridden(
        STAND,
        ["simulation.duration=2", "robot.name=small-humanoid", "events.0.speed = 0.4", "world.gravity=[0, 0, -1.6]",
         "simulation.self_collision=true", 'events.0.link="pelvis"', "robot.base=floating"],
    )  # fmt: skip
    assert changed.simulation.duration == 2.0
    assert changed.robot.name == "small-humanoid"
    assert changed.events[0].speed == 0.4
    assert changed.world.gravity == (0.0, 0.0, -1.6)
    assert changed.simulation.self_collision is True
    assert changed.events[0].link == "pelvis"
    assert changed.events[0].time == STAND.events[0].time
    assert STAND.simulation.duration == 5.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("simulation.durration=2", "did you mean `duration`"),
        ("simulatoin.duration=2", "did you mean `simulation`"),
        ("simulation.duration=long", "simulation.duration"),
        ("simulation.duration", "not an override"),
        ("=3", "not an override"),
        ("events.1.speed=3", "not an index"),
        ("events.first.speed=3", "not an index"),
        ("robot.name.x=3", "is a value"),
        ("world.gravity=[0, 0", "not TOML"),
    ],
)
def test_wrong_overrides_say_what_is_wrong(text, message):
    with pytest.raises(ScenarioError, match=message):
        overridden(STAND, [text])


def test_whole_lists_can_be_given():
    assert overridden(STAND, ["events=[]"]).events == []
    ground = overridden(STAND, ['world.ground=[{kind="box", size=[1, 1, 0.1]}]']).world.ground
    assert ground[0].size == (1.0, 1.0, 0.1)
