"""SDF against MuJoCo: the same mechanism written twice; and `cassie`."""

import mujoco
import numpy as np
import pytest

from surefoot.dynamics import crba, own_constraints
from surefoot.errors import ModelError, NotSupportedError, SurefootError
from surefoot.robot import load

INERTIAL = (
    "<inertial><pose>0.1 0 0.02 0.3 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz>"
    "</inertia></inertial>"
)
MJ_INERTIAL = '<inertial pos="0.1 0 0.02" euler="0.3 0 0" mass="2" diaginertia="0.1 0.2 0.15"/>'
SDF = """<sdf version="1.7"><model name="two">
<link name="base">{i}<collision name="c"><geometry><box><size>0.2 0.3 0.4</size></box></geometry></collision></link>
<link name="arm"><pose relative_to="base">0 0 0.5 0 0.4 0</pose>{i}</link>
<link name="hand"><pose relative_to="arm">0.3 0 0 0 0 0.2</pose>{i}</link>
<joint name="shoulder" type="revolute"><parent>base</parent><child>arm</child><pose>0 0 -0.1 0 0 0</pose>
<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>7</effort></limit>
<dynamics><damping>0.3</damping><spring_stiffness>4</spring_stiffness><spring_reference>0.2</spring_reference>
</dynamics></axis></joint>
<joint name="slide" type="prismatic"><parent>arm</parent><child>hand</child><axis>
<xyz expressed_in="__model__">1 0 0</xyz></axis></joint>{more}</model></sdf>"""
MJCF = f"""<mujoco><compiler angle="radian"/><worldbody><body name="base">{MJ_INERTIAL}
<body name="arm" pos="0 0 0.5" euler="0 0.4 0">{MJ_INERTIAL}
<joint name="shoulder" pos="0 0 -0.1" axis="0 1 0" damping="0.3" stiffness="4" springref="0.2"/>
<body name="hand" pos="0.3 0 0" euler="0 0 0.2">{MJ_INERTIAL}<joint name="slide" type="slide" axis="AXIS"/>
</body></body></body></worldbody></mujoco>"""


def write(folder, more="", text=SDF):
    path = folder / "model.sdf"
    path.write_text(text.format(i=INERTIAL, more=more))
    return path


def test_it_is_the_same_mechanism_as_in_mujoco(tmp_path):
    robot = load(write(tmp_path), base="fixed")
    T = robot.placements(robot.neutral)
    axis = T["hand"][:3, :3].T @ [1.0, 0.0, 0.0]
    (tmp_path / "two.xml").write_text(MJCF.replace("AXIS", " ".join(map(str, axis))))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "two.xml"))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for _ in range(3):
        data.qpos[:], data.qvel[:] = rng.uniform(-1, 1, (2, 2))
        mujoco.mj_forward(model, data)
        placed = robot.placements(data.qpos)
        for name in ("arm", "hand"):
            np.testing.assert_allclose(placed[name][:3, 3], data.body(name).xpos, atol=1e-12)
            np.testing.assert_allclose(placed[name][:3, :3], data.body(name).xmat.reshape(3, 3), atol=1e-12)
        M = np.zeros((2, 2))
        mujoco.mj_fullM(model, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, M)
        np.testing.assert_allclose(crba(robot.tree, data.qpos), M, atol=1e-12)
        np.testing.assert_allclose(robot.passive_forces(data.qpos, data.qvel), data.qfrc_passive, atol=1e-12)
    assert (robot.limits.lower[0], robot.limits.upper[0], robot.limits.effort[0]) == (-1.0, 2.0, 7.0)


def test_a_model_floats_unless_something_ties_it_to_the_world(tmp_path):
    assert load(write(tmp_path)).base == "floating"
    anchor = '<joint name="anchor" type="fixed"><parent>world</parent><child>base</child></joint>'
    assert load(write(tmp_path, anchor)).base == "fixed"
    assert load(write(tmp_path, "<static>1</static>")).base == "fixed"


@pytest.mark.parametrize(("kind", "size"), [("revolute", 5), ("ball", 3), ("fixed", 6), ("prismatic", 5)])
def test_a_second_joint_on_a_link_closes_a_chain(tmp_path, kind, size):
    loop = f'<joint name="loop" type="{kind}"><parent>base</parent><child>hand</child></joint>'
    robot = load(write(tmp_path, loop), base="fixed")
    assert [item.size for item in robot.loops] == [size]
    constraints = own_constraints(robot)
    np.testing.assert_allclose(constraints.residual(robot.tree, robot.home), 0.0, atol=1e-12)
    if kind == "ball":
        assert np.abs(constraints.residual(robot.tree, np.add(robot.home, (0.1, 0.0)))).max() > 0.01


def test_gearboxes_are_couplings(tmp_path):
    more = f"""<link name="motor">{INERTIAL}</link><joint name="turn" type="revolute"><parent>base</parent>
    <child>motor</child><axis><xyz>0 1 0</xyz></axis></joint><joint name="gear" type="gearbox"><parent>motor</parent>
    <child>arm</child><gearbox_reference_body>base</gearbox_reference_body><gearbox_ratio>0.04</gearbox_ratio>
    <axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>"""
    (tie,) = load(write(tmp_path, more)).couplings
    assert (tie.joint, tie.source, tie.ratio) == ("turn", "shoulder", -25.0)


@pytest.mark.parametrize(
    ("more", "kind", "words"),
    [
        ('<joint name="j" type="revolute2"><parent>arm</parent><child>hand</child></joint>', NotSupportedError,
         "revolute2"),
        ('<joint name="j" type="fixed"><parent>arm</parent><child>leg</child></joint>', SurefootError, "leg"),
        ('<frame name="f"><pose relative_to="f"/></frame><link name="l"><pose relative_to="f"/></link>'
         '<joint name="j" type="fixed"><parent>arm</parent><child>l</child></joint>', ModelError, "cycle"),
        ('<link name="l"><inertial><mass>much</mass></inertial></link><joint name="j" type="fixed"><parent>arm</parent>'
         "<child>l</child></joint>", SurefootError, "mass"),
    ],
)  # fmt: skip
def test_defects_are_named(tmp_path, more, kind, words):
    with pytest.raises(kind, match=words) as caught:
        load(write(tmp_path, more))
    assert "model.sdf" in caught.value.place


def test_cassie():
    """Mass, springs and closed chains of the file, read from it here by hand."""
    robot = load("cassie")
    assert robot.base == "floating"
    assert robot.mass == pytest.approx(34.985552, abs=1e-9)
    assert len(robot.springs) == 4
    assert len(robot.couplings) == 10
    assert sum(loop.size == 3 for loop in robot.loops) == 2
    constraints = own_constraints(robot)
    ties = [part for part in constraints.parts if part.name in {loop.name for loop in robot.loops}]
    for part in ties:
        np.testing.assert_allclose(part.residual(robot.tree, robot.home), 0.0, atol=1e-9)
