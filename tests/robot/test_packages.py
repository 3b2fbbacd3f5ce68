"""Where `package://` and `model://` lead."""

import pytest

from surefoot.robot import load
from surefoot.robot.packages import find_file

URDF = (
    '<robot name="r"><link name="a"><collision><geometry><mesh filename="package://hand_data/meshes/h.obj"/></geometry>'
    "</collision></link></robot>"
)
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def package(folder, name="hand_data"):
    """A package of that name in a folder that may be called otherwise."""
    (folder / "meshes").mkdir(parents=True)
    (folder / "package.xml").write_text(f"<package><name> {name} </name></package>")
    (folder / "meshes" / "h.obj").write_text(TETRAHEDRON)
    return folder


def description(folder):
    folder.mkdir(parents=True)
    (folder / "r.urdf").write_text(URDF)
    return folder / "r.urdf"


@pytest.mark.parametrize(
    ("urdf", "data"),
    [
        ("hand_data/urdf", "hand_data"),  # above, by its folder
        ("checkout-1/urdf", "checkout-1"),  # above, by its package.xml
        ("src/robot/urdf", "src/hand_data"),  # a neighbour by name
        ("src/robot/urdf", "src/hand-data-main"),  # a neighbour by its package.xml
    ],
)
def test_packages_above_and_beside_are_found(tmp_path, urdf, data):
    file = description(tmp_path / urdf)
    package(tmp_path / data)
    assert len(load(file).collisions) == 1


def test_package_dirs_and_the_path_of_ros(tmp_path, monkeypatch):
    file = description(tmp_path / "here")
    far = package(tmp_path / "far" / "away" / "very" / "data").parent
    assert load(file).collisions == ()
    assert len(load(file, package_dirs=[far]).collisions) == 1
    assert len(load(file, package_dirs=[far / "data"]).collisions) == 1
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{far}")
    assert len(load(file).collisions) == 1


def test_another_package_of_the_neighbours_is_not_taken(tmp_path):
    file = description(tmp_path / "src" / "robot")
    package(tmp_path / "src" / "other", name="foot_data")
    assert find_file("package://hand_data/meshes/h.obj", file) is None
    assert find_file("package://foot_data/meshes/h.obj", file) is not None
    assert find_file("package://" + 300 * "x" + "/y", file) is None
