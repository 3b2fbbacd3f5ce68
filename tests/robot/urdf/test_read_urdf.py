"""URDF: our scan against Pinocchio's reader, our own links as a second reading, every kind of defect with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import FileFormatError, MissingMeshError, ModelError, SurefootError
from surefoot.robot import zoo
from surefoot.robot.build.model import build_model
from surefoot.robot.loading import load
from surefoot.robot.urdf.read import urdf_links
from surefoot.robot.urdf.scan import UrdfDocument, scan_urdf
from surefoot.robot.xml_guard import read_xml
from tests.robot.sample_files import ARM_URDF, write

SOME_ROBOTS = ("g1", "talos", "anymal", "panda", "baxter", "tiago", "double_pendulum_continuous", "pr2", "hextilt")


def scan_file(path: str | Path) -> UrdfDocument:
    return scan_urdf(read_xml(path), str(path))


def load_text(folder: Path, text: str | bytes, **options):
    return load(write(folder, "arm.urdf", text), **options)


def test_numbers_of_the_file_are_the_numbers_of_the_robot(tmp_path):
    robot = load_text(tmp_path, ARM_URDF)
    assert robot.joint_names == ("shoulder", "elbow", "rail")
    assert robot.tree.kinds == ("revolute", "continuous", "prismatic")
    assert robot.mass == pytest.approx(2.5 + 1.5 + 0.7, abs=1e-15)
    np.testing.assert_allclose(robot.tree.axes, [[0, 1, 0], [0, 0.6, 0.8], [1, 0, 0]], atol=1e-15)
    assert robot.limits.lower[0] == -1.5
    assert robot.limits.upper[0] == 2.0
    assert robot.limits.effort[[0, 2]].tolist() == [50.0, 20.0]
    assert robot.drives[0].dry_friction == 0.2
    assert robot.drives[0].viscous_friction == 0.1
    assert "tip" in robot.link_names
    assert robot.base == "fixed"


@pytest.mark.parametrize("name", SOME_ROBOTS)
def test_model_is_what_pinocchio_reads_from_the_file(name):
    robot = zoo.load(name)
    root = pin.JointModelFreeFlyer() if robot.base == "floating" else None
    oracle = pin.buildModelFromUrdf(robot.source, root) if root else pin.buildModelFromUrdf(robot.source)
    assert list(robot.model.names) == list(oracle.names)
    for mine, theirs in zip(robot.model.inertias, oracle.inertias, strict=True):
        assert mine.isApprox(theirs, 1e-14)
    for mine, theirs in zip(robot.model.jointPlacements, oracle.jointPlacements, strict=True):
        assert mine.isApprox(theirs, 1e-14)


@pytest.mark.parametrize("name", SOME_ROBOTS)
def test_our_own_links_give_the_same_model(name, rng):
    """A second, independent reading of the file: joint order, limits and mass matrix agree with Pinocchio's."""
    robot = zoo.load(name, mimic="free")
    second = build_model(name, urdf_links(scan_file(robot.source)), robot.base)
    assert list(second.names) == list(robot.model.names)
    v = rng.uniform(-1, 1, robot.nv)
    q = pin.integrate(robot.model, pin.neutral(robot.model), v)
    M = [np.triu(pin.crba(m, m.createData(), q)) for m in (robot.model, second)]
    np.testing.assert_allclose(M[0] - np.diag(robot.tree.armature), M[1], atol=1e-9)
    np.testing.assert_allclose(second.lowerPositionLimit[7:], robot.model.lowerPositionLimit[7:], atol=1e-12)


DEFECTS = {
    "mass is a word": ('mass value="2.5"', 'mass value="abc"', "`value` of <mass> is `abc`"),
    "mass is nan": ('mass value="2.5"', 'mass value="nan"', "expected a finite number"),
    "mass overflows": ('mass value="2.5"', 'mass value="1e999"', "expected a finite number"),
    "mass is negative": ('mass value="2.5"', 'mass value="-2.5"', "negative mass"),
    "mass is missing": ('<mass value="2.5"/>', "", "<inertial> has no <mass>"),
    "inertia lacks an entry": ('iyz="0" izz="0.025"', 'izz="0.025"', "<inertia> has no `iyz`"),
    "two numbers for three": ('xyz="0 0 0.4"', 'xyz="0 0"', "expected 3 finite numbers"),
    "number with a tail": ('xyz="0 0 0.4"', 'xyz="0 0 0.4m"', "expected 3 finite numbers"),
    "tag is misspelt": ("<inertial>\n      <origin xyz=\"0.1", "<inertal>\n      <origin xyz=\"0.1", "mismatched"),
    "attribute is misspelt": ('<origin xyz="0 0 0.4"/>', '<origin xzy="0 0 0.4"/>', "did you mean `xyz`?"),
    "unknown joint type": ('type="prismatic"', 'type="prismatik"', "did you mean `prismatic`?"),
    "dangling parent": ('<parent link="lower"/>', '<parent link="lowr"/>', "did you mean `lower`?"),
    "link name repeats": ('link name="tip"', 'link name="slider"', "repeats"),
    "joint name repeats": ('name="rail"', 'name="elbow"', "repeats"),
    "two parents": ('<child link="tip"/>', '<child link="upper"/>', "child of two joints"),
    "limits in the wrong order": ('lower="-1.5"', 'lower="2.5"', "lower limit 2.5 > upper 2"),
    "no limits": ('<limit lower="-0.2" upper="0.3" effort="20" velocity="0.5"/>', "", "has no <limit>"),
    "axis without direction": ('axis xyz="0 1 0"', 'axis xyz="0 0 0"', "no direction"),
    "inertial twice": ("<mass value=\"0.7\"/>", "<mass value=\"0.7\"/><mass value=\"0.8\"/>", "holds <mass> twice"),
    "xacro": ('<link name="tip"/>', '<link name="tip"/><xacro:leg/>', "expand xacro first"),
}  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS, ids=DEFECTS)
def test_defects_are_refused_with_file_and_line(tmp_path, defect):
    old, new, message = DEFECTS[defect]
    assert ARM_URDF.count(old) >= 1
    text = ARM_URDF.replace(old, new, 1)
    with pytest.raises(SurefootError) as caught:
        load_text(tmp_path, text)
    assert message in str(caught.value)
    assert caught.value.file.endswith("arm.urdf")
    changed = next(
        i for i, (a, b) in enumerate(zip(text.splitlines(), ARM_URDF.splitlines(), strict=False), 1) if a != b
    )
    named = [caught.value.line, *(int(key.split()[1]) for key in caught.value.evidence if key.startswith("line "))]
    assert min(abs(line - changed) for line in named) <= 8, f"lines {named}, changed {changed}"


def test_a_cycle_is_named(tmp_path):
    text = ARM_URDF.replace('<parent link="base"/>', '<parent link="slider"/>')
    with pytest.raises(ModelError, match="cycle"):
        load_text(tmp_path, text)


def test_every_defect_is_listed_at_once(tmp_path):
    text = ARM_URDF.replace('mass value="2.5"', 'mass value="abc"').replace('mass value="0.7"', 'mass value="x"')
    document = scan_file(write(tmp_path, "arm.urdf", text))
    assert len(document.errors) == 2
    assert document.errors[0].line < document.errors[1].line


def test_entities_and_bombs_are_refused(tmp_path):
    bomb = '<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaa">' + "".join(
        f'<!ENTITY a{i} "{"&a" + str(i - 1) + ";" if i else "&a;"}{"&a;" * 9}">' for i in range(9)
    )
    with pytest.raises(FileFormatError, match="not allowed"):
        load_text(tmp_path, bomb + "]><robot name='r'>&a8;</robot>")
    external = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r"><link name="&x;"/></robot>'
    with pytest.raises(FileFormatError, match="not allowed"):
        load_text(tmp_path, external)


def test_a_large_file_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "big.urdf"
    with path.open("wb") as stream:
        stream.write(b"<robot name='r'>")
        stream.truncate(100 * 2**20)
    with pytest.raises(FileFormatError, match="larger than"):
        load(path)


def test_deep_nesting_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="nested"):
        load_text(tmp_path, "<robot name='r'>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>")


def test_missing_meshes_are_named(tmp_path):
    text = ARM_URDF.replace('<cylinder radius="0.05" length="0.4"/>', '<mesh filename="package://nowhere/arm.stl"/>')
    with pytest.raises(MissingMeshError) as caught:
        load_text(tmp_path, text, meshes="require")
    assert "package://nowhere/arm.stl" in str(caught.value)
    assert any("arm.stl" in note.message for note in load_text(tmp_path, text).notes)
    assert not any("arm.stl" in note.message for note in load_text(tmp_path, text, meshes="skip").notes)


def test_meshes_are_found_relative_and_by_package(tmp_path):
    corners = "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    triangle = f"solid t\nfacet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\nendsolid t\n".encode()
    (tmp_path / "my_robot" / "urdf").mkdir(parents=True)
    (tmp_path / "my_robot" / "meshes").mkdir()
    (tmp_path / "my_robot" / "meshes" / "arm.stl").write_bytes(triangle)
    for name in ("../meshes/arm.stl", "package://my_robot/meshes/arm.stl"):
        text = ARM_URDF.replace('<cylinder radius="0.05" length="0.4"/>', f'<mesh filename="{name}" scale="2 2 2"/>')
        robot = load_text(tmp_path / "my_robot" / "urdf", text, meshes="require")
        assert robot.collisions[0].shape.vertices().max() == 2.0


@pytest.mark.parametrize("scale", ["0 0 0", "1 0 1"])
def test_a_mesh_without_extent_is_named(tmp_path, scale):
    (tmp_path / "a.stl").write_bytes(bytes(84))
    shape = f'<collision><geometry><mesh filename="a.stl" scale="{scale}"/></geometry></collision>'
    with pytest.raises(SurefootError, match="a mesh has scale") as caught:
        load_text(tmp_path, f'<robot name="r">\n<link name="a">{shape}</link></robot>')
    assert caught.value.line == 2


def test_mimic_modes(tmp_path):
    text = ARM_URDF.replace(
        '<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><mimic joint="shoulder" multiplier="0.1" offset="0.02"/>'
    )
    coupled = load_text(tmp_path, text)
    assert (coupled.nv, coupled.nu) == (3, 2)
    assert [(c.joint, c.source, c.ratio, c.offset) for c in coupled.couplings] == [("rail", "shoulder", 0.1, 0.02)]
    reduced = load_text(tmp_path, text, mimic="reduce")
    assert (reduced.nv, reduced.nu, reduced.couplings) == (2, 2, ())
    q = reduced.q_of({"shoulder": 0.7, "elbow": 0.3})
    full = coupled.q_of({"shoulder": 0.7, "elbow": 0.3, "rail": 0.02 + 0.1 * 0.7})
    np.testing.assert_allclose(reduced.placements(q)["tip"], coupled.placements(full)["tip"], atol=1e-14)
    free = load_text(tmp_path, text, mimic="free")
    assert (free.nv, free.nu, free.couplings) == (3, 3, ())


def test_latin_and_utf16_names_survive(tmp_path):
    text = ARM_URDF.replace('name="tip"', 'name="spitzé"').replace('link="tip"', 'link="spitzé"')
    latin = text.replace('<?xml version="1.0"?>', '<?xml version="1.0" encoding="ISO-8859-1"?>').encode("latin-1")
    assert "spitzé" in load_text(tmp_path, latin).link_names
    utf16 = text.replace('<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-16"?>').encode("utf-16")
    assert "spitzé" in load_text(tmp_path, utf16).link_names


@pytest.mark.parametrize(("base", "nq", "nv"), [("fixed", 4, 3), ("planar", 8, 6), ("floating", 11, 9)])
def test_bases(tmp_path, base, nq, nv):
    robot = load_text(tmp_path, ARM_URDF, base=base)
    assert (robot.nq, robot.nv, robot.base, robot.nu) == (nq, nv, base, 3)


def test_wrong_names_are_answered_with_the_nearest():
    with pytest.raises(SurefootError, match="did you mean `anymal`"):
        load("anymall")
    with pytest.raises(SurefootError, match="no base"):
        load("anymal", base="floatin")
    with pytest.raises(SurefootError, match="no mimic mode"):
        load("anymal", mimic="reduced")


def test_too_many_links_are_refused_at_once(tmp_path):
    links = "".join(f'<link name="l{i}"/>' for i in range(20_000))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>' for i in range(19_999)
    )
    with pytest.raises(ModelError, match="more than the 2000"):
        load_text(tmp_path, f'<robot name="r">{links}{joints}</robot>')
