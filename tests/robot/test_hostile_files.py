"""Robot files that ask for too much or hold what nobody expects: a named error in a moment, or a robot."""

import time

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import FileFormatError, ModelError, ScenarioError, SurefootError

LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    "{}</link>"
)
JOINT = (
    '<joint name="{}" type="revolute"><parent link="base"/><child link="a"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
)


def urdf(geometry: str = "", joint: str = "j") -> str:
    shape = f"<collision><geometry>{geometry}</geometry></collision>" if geometry else ""
    return f'<robot name="r">{LINK.format("base", "")}{LINK.format("a", shape)}{JOINT.format(joint)}</robot>'


def mjcf(body: str = "", inner: str = "", head: str = "") -> str:
    shape = '<body name="a"><joint name="j"/><geom name="g" size="1"/>'
    return f"<mujoco>{head}<worldbody>{shape}{body}</body></worldbody>{inner}</mujoco>"


def mesh(kind: str, params: str) -> str:
    asset = f'<asset><mesh name="m" builtin="{kind}" params="{params}"/></asset>'
    return mjcf('<geom type="mesh" mesh="m"/>', head=asset)


def load(folder, text, ending="xml"):
    path = folder / f"robot.{ending}"
    path.write_text(text)
    return sf.load(path)


@pytest.mark.parametrize(
    "text",
    [
        mesh("supersphere", "5000 1 1"), mesh("plate", "10000 10000"), mesh("supertorus", "5000 0.3 1 1"),
        mesh("wedge", "5000 5000 30 30 0.2"), mesh("cone", "1000000 0.5"),
        mjcf('<geom size="0.1"/>' * 50_000), mjcf('<site size="0.1"/>' * 50_000), mjcf("<light/>" * 20_000),
        mjcf(inner="<contact>" + '<pair geom1="g" geom2="g"/>' * 20_000 + "</contact>"),
        mjcf(inner="<sensor>" + '<jointpos joint="j"/>' * 20_000 + "</sensor>"),
    ],
    ids=["supersphere", "plate", "torus", "wedge", "cone", "geoms", "sites", "lights", "pairs", "sensors"],
)  # fmt: skip
def test_small_files_that_cost_much(text, tmp_path):
    start = time.process_time()
    with pytest.raises(FileFormatError, match=r"resolution above|more than .* elements"):
        load(tmp_path, text)
    assert time.process_time() - start < 3.0


def test_ordinary_amounts_are_read(tmp_path):
    sphere = mesh("supersphere", "40 1 1")
    assert load(tmp_path, sphere).nv == 1
    aside = "<sensor>" + '<jointpos joint="j"/>' * 300 + "</sensor>"
    assert load(tmp_path, mjcf('<site size="0.1"/>' * 300 + "<light/>" * 50, aside)).nv == 1


def test_a_flex_is_dropped_and_named(tmp_path):
    flex = '<deformable><flex name="cloth" body="a" vertex="0 0 0 1 0 0 0 1 0" element="0 1 2" dim="2"/></deformable>'
    robot = load(tmp_path, mjcf(inner=flex))
    assert any("cloth" in str(note) and "flex" in note.message for note in robot.notes)


def test_inertias_that_rounding_makes_unsymmetric(tmp_path):
    inertial = '<inertial pos="0 0 0" quat="1e-300 1 2 1" mass="1" diaginertia="1 1e9 1e9"/>'
    robot = load(tmp_path, f"<mujoco><worldbody><body><joint/>{inertial}</body></worldbody></mujoco>")
    inertia = robot.model.inertias[1].inertia
    assert (inertia == inertia.T).all()
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(inertia)), [1.0, 1e9, 1e9], rtol=1e-6)


@pytest.mark.parametrize("inside", ["<limit/>", '<mass value="1"/>', "<origin/>"])
def test_geometries_without_a_shape(inside, tmp_path):
    with pytest.raises(ModelError, match="0 shapes, expected one"):
        load(tmp_path, urdf(inside), "urdf")
    assert len(load(tmp_path, urdf(inside + '<box size="1 1 1"/>'), "urdf").collisions) == 1


def test_names_of_any_length(tmp_path):
    """A file name may have 255 bytes; that of its side file would be longer."""
    path = tmp_path / ("x" * 245 + ".urdf")
    path.write_text(urdf())
    assert sf.load(path).nv == 1
    for name in ("x" * 300 + ".urdf", "a\0b.xml"):
        with pytest.raises(FileFormatError, match="no such file"):
            sf.load(tmp_path / name)
    with pytest.raises(SurefootError, match="to include"):
        load(tmp_path, f'<mujoco><include file="{"y" * 300}.xml"/></mujoco>')


@pytest.mark.parametrize(
    "text",
    [
        "[home.joints]\nj = 1e308",
        '[contacts.f]\nframe = "a"\nkind = "rectangle"\nsize = [0.1, 0.1]\nrpy = [1e300, 1e300, 1e300]',
        '[contacts.f]\nframe = "a"\nkind = "polygon"\ncorners = [[0.0, 1e200], [1.0, 0.0], [0.0, 0.0]]',
        '[joints.j]\nkind = "universal"\naxis = [1e200, 0.0, 0.0]\nsecond_axis = [1e200, 1.0, 0.0]',
        '[loops.l]\nframe_a = "base"\nframe_b = "a"\nposition_a = [1e200, 0.0, 0.0]',
        "[drives.j]\ngear_ratio = 1e-200",
    ],
)
def test_side_files_with_absurd_numbers(text, tmp_path):
    (tmp_path / "robot.surefoot.toml").write_text(text)
    with pytest.raises(ScenarioError, match="is not between 1e-12 and 1e") as caught:
        load(tmp_path, urdf(), "urdf")
    assert caught.value.line


def test_directions_of_any_length(tmp_path):
    long = urdf().replace("<child", '<axis xyz="0 3e200 4e200"/><child')
    with pytest.raises(ModelError, match=r"too large|axis"):
        load(tmp_path, long, "urdf")
    joint = sf.robot.Joint("j", "revolute", axis=(0.0, 3e200, 4e200))
    np.testing.assert_allclose(joint.axis, [0.0, 0.6, 0.8], rtol=1e-15)
