import pytest

from surefoot.collision import CollisionModel, shipped_srdf
from surefoot.collision.selection import disabled_in_srdf
from surefoot.errors import FileFormatError, UnknownNameError

from .examples import capsules, robot_named


def test_shipped_files_are_found_and_read():
    found = disabled_in_srdf(shipped_srdf(robot_named("panda")))
    assert found[frozenset(("panda_link5", "panda_link6"))] == "Adjacent"
    assert len(found) == 35


def test_disabled_pairs_are_not_looked_at():
    robot = robot_named("panda")
    file = shipped_srdf(robot)
    model = CollisionModel(robot, volumes=capsules(robot), srdf=file)
    disabled = disabled_in_srdf(file)
    assert not {frozenset(pair) for pair in model.link_pairs} & set(disabled)
    assert model.pruning.counts()["srdf"] > 0


def test_there_is_none_for_every_robot():
    with pytest.raises(UnknownNameError, match="no SRDF file is shipped for `g1`"):
        shipped_srdf(robot_named("g1"))


def test_a_pair_needs_two_links(tmp_path):
    file = tmp_path / "half.srdf"
    file.write_text('<robot name="x">\n<disable_collisions link1="a"/>\n</robot>')
    with pytest.raises(FileFormatError, match="fewer than two links") as error:
        disabled_in_srdf(file)
    assert error.value.line == 2
