import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError
from surefoot.geometry import Sphere
from surefoot.robot import ContactSurface, Geometry, Joint, Link, Robot, placement
from surefoot.robot.loading import load
from surefoot.scenario import build_world, read_scenario
from surefoot.scenario.build import build_simulation
from surefoot.scenario.build import simulation as build
from surefoot.scenario.build.events import build_event
from surefoot.scenario.catalogue import overridden
from surefoot.scenario.schema import EventTable, GroundTable, WorldTable

STAND = read_scenario("stand-pd")


def test_push_is_scaled_by_the_mass():
    for name in ("solo12", "hyq"):
        robot = load(name)
        push = build_event(EventTable(), robot, robot.home)
        assert_allclose(np.linalg.norm(push.wrench[:3]) * push.duration, 0.1 * robot.mass)
        assert_allclose(push.wrench[0], push.wrench[1])
        assert push.link == robot.tree.body_names[0]


def test_impulse_and_link_can_be_given():
    table = EventTable(impulse=3.0, duration=0.2, link="elbow", direction=(0.0, 0.0, -2.0))
    push = build_event(table, load("panda"), load("panda").home)
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


@pytest.mark.parametrize("base", ["planar", "fixed"])
def test_no_ground_where_a_base_that_cannot_rise_is_inside_it(base, monkeypatch):
    """Height of the soles decides: 4 mm inside is tolerated, 6 mm is not."""

    def stick(depth):
        joint = Joint("j", "revolute", placement((0.0, 0.0, 0.5 - depth)), axis=(0.0, 1.0, 0.0))
        foot = Geometry("foot", "leg", Sphere(0.05), placement((0.0, 0.0, -0.45)))
        leg = Link("leg", "root", joint, mass=1.0, inertia=0.1 * np.eye(3), collisions=(foot,))
        sole = ContactSurface("sole", "leg", "point", placement((0.0, 0.0, -0.5)), radius=0.05)
        root = Link("root", mass=1.0, inertia=0.1 * np.eye(3))
        robot = Robot.from_tree("stick", [root, leg], base, contacts=(sole,))
        return robot.replace(home=robot.neutral)

    def simulation(depth):
        monkeypatch.setattr(build, "load", lambda name, **options: stick(depth))
        return build_simulation(overridden(STAND, ["events=[]"]))

    assert len(build_world(WorldTable(), stick(0.004)).ground) == 1
    assert build_world(WorldTable(), stick(0.006)).ground == ()
    assert simulation(0.004).notes == ()
    assert simulation(0.2).notes == ("no ground: at home the robot would be 0.2 m inside it",)
    assert len(build_world(WorldTable(ground=[GroundTable(kind="plane")]), stick(0.2)).ground) == 1


@pytest.mark.parametrize("base", ["planar", "fixed"])
def test_held_talos_does_not_start_inside_the_ground(base):
    simulation = build_simulation(overridden(STAND, ["robot.name=talos", f"robot.base={base}"]))
    data = simulation.engine.data
    assert data.contact.dist.min(initial=0.0) > -0.005


def test_options_go_to_the_engine_that_has_them():
    stand = overridden(STAND, ["simulation.convex_pieces=true"])
    assert build._settings(stand).options == {"convex_pieces": True}
    assert build._settings(STAND).options == {}
    with pytest.raises(NotSupportedError, match="engine `mujoco`"):
        build._settings(overridden(stand, ['simulation.engine="native"']))
    with pytest.raises(NotSupportedError, match="engine `native`"):
        build._settings(overridden(STAND, ['simulation.contact="rigid"']))
