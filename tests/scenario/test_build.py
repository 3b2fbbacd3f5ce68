import numpy as np
from numpy.testing import assert_allclose

from surefoot.robot.load import load
from surefoot.scenario import read_scenario
from surefoot.scenario.build import build_push, build_world
from surefoot.scenario.overrides import overridden
from surefoot.scenario.schema import PushTable, WorldTable

STAND = read_scenario("stand")


def test_push_is_scaled_by_the_mass():
    for name in ("solo12", "hyq"):
        robot = load(name)
        push = build_push(STAND.events[0], robot)
        assert_allclose(np.linalg.norm(push.wrench[:3]) * push.duration, 0.1 * robot.mass)
        assert_allclose(push.wrench[0], push.wrench[1])
        assert push.link == robot.tree.body_names[0]


def test_impulse_and_link_can_be_given():
    push = build_push(PushTable(impulse=3.0, duration=0.2, link="elbow", direction=(0.0, 0.0, -2.0)), load("panda"))
    assert_allclose(push.wrench, [0.0, 0.0, -15.0, 0.0, 0.0, 0.0])
    assert push.link == "elbow"


def test_ground_only_where_robots_stand():
    assert len(build_world(WorldTable(), load("anymal")).ground) == 1
    assert len(build_world(WorldTable(), load("biped")).ground) == 1
    assert build_world(WorldTable(), load("panda")).ground == ()


def test_pieces_of_ground():
    text = ('world.ground=[{kind="plane", point=[0,0,-0.1]},'
            '{kind="stairs", steps=3, rise=0.1, run=0.3, start=[1,0,0]},'
            '{kind="box", size=[1,2,0.4], position=[-3,0,0.2], yaw=1.5707963267948966, friction=0.2},'
            '{kind="height_field", heights=[[0,0.5],[0.5,1.0]], cell=1.0, origin=[5,5,0]}]')  # fmt: skip
    world = build_world(overridden(STAND, [text]).world, load("anymal"))
    for x, y, height in ((0, 0, -0.1), (1.5, 0, 0.2), (-3.9, 0, 0.4), (-3, 0.9, -0.1), (5.5, 5.5, 0.5)):
        assert_allclose(world.height(x, y), height, atol=1e-12)
    assert world.friction_at(-3.0, 0.0) == 0.2
    assert world.friction_at(0.0, 0.0) == 0.7
