"""MJCF files that must be refused, with their place, and damaged ones."""

import warnings

import numpy as np
import pytest

from surefoot.errors import FileFormatError, ModelError, SurefootError
from surefoot.robot.loading import load
from surefoot.robot.mjcf.guard import MAX_COPIES
from surefoot.robot.mjcf.read import mjcf_links
from tests.robot.mjcf_files import DEFAULTS, INERTIAL, TWO, assert_same_as_mujoco, whole, write


@pytest.mark.parametrize(
    "attribute",
    ['mass="abc"', 'mass="1 2"', 'mass="1.0abc"', 'mass=""', 'mass="nan"', 'mass="inf"', 'mass="-INFINITY"',
     'mass="1e400"', 'mass="1,0"', 'pos="0 0"', 'pos="0 0 0 0"', 'pos="0 nan 0"', 'type="foo"', 'mass="-1"',
     'unknown="1"', 'contype="1.5"', 'friction="-1"', 'mass="1e200"', 'pos="1e50 0 0"', 'quat="0 0 0 0"'],
)  # fmt: skip
def test_bad_numbers_are_refused_with_their_place(tmp_path, attribute):
    geom = f'<geom size="0.1" {attribute}/>'
    path = write(tmp_path, f'<body name="a"><joint/>\n{geom}</body>')
    with pytest.raises((FileFormatError, ModelError)) as caught:
        load(path)
    assert caught.value.file == str(path)
    assert caught.value.line == 5 or caught.value.message.startswith("`")


def test_place_of_an_error_in_an_included_file(tmp_path):
    path = write(tmp_path, '<body name="a"><joint/><geom size="1" name="nan"/><include file="part.xml"/></body>')
    for value in ("x", "nan", "1e999", "-1"):
        (tmp_path / "part.xml").write_text(f'<mujocoinclude>\n\n<geom name="g" size="{value}"/></mujocoinclude>')
        with pytest.raises((FileFormatError, ModelError)) as caught:
            load(path)
        assert caught.value.place == f"{tmp_path / 'part.xml'}:3"


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<worldbody><include file="robot.xml"/></worldbody>', "includes itself"),
        ('<worldbody><include file="gone.xml"/></worldbody>', "gone.xml"),
        (f'<worldbody><replicate count="{MAX_COPIES + 1}"><geom size="1"/></replicate></worldbody>', "copies"),
        ('<worldbody><replicate count="9"><replicate count="9"><replicate count="99"><body/></replicate></replicate>'
         "</replicate></worldbody>", "bodies"),
        ('<worldbody><flexcomp name="f" type="grid" count="99 99 99"/></worldbody>', "copies"),
        ('<worldbody><replicate count="-1"><geom size="1"/></replicate></worldbody>', "count"),
        ('<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>', "height field"),
        ('<asset><hfield name="h" nrow="-3" ncol="2" size="1 1 1 1"/></asset>', "height field"),
        ('<worldbody><body name="a"><joint range="2 1"/><geom size="1"/></body></worldbody>', "above upper limit"),
        ('<worldbody><body name="a"><joint/></body></worldbody>', "cannot compile"),
    ],
)  # fmt: skip
def test_files_that_would_hang_or_mislead(tmp_path, inside, words):
    with pytest.raises((FileFormatError, ModelError), match=words):
        load(whole(tmp_path, inside))


def test_files_that_include_others_many_times_are_read_once(tmp_path):
    """Nine files that include the next one nine times: 9⁹ elements; without a bound it took hours to count them."""
    for i in range(9):
        (tmp_path / f"{i}.xml").write_text("<mujoco>" + f'<include file="{i + 1}.xml"/>' * 9 + "</mujoco>")
    (tmp_path / "9.xml").write_text("<mujoco><worldbody/></mujoco>")
    with pytest.raises(FileFormatError, match="more than 10000 elements"):
        load(tmp_path / "0.xml")


def test_copies_are_counted_through_includes_and_attachments(tmp_path):
    body = f'<body name="a"><joint/>{INERTIAL}<body/><body/><body/><body/></body>'
    (tmp_path / "leg.xml").write_text(f"<mujocoinclude>{body}</mujocoinclude>")
    include = '<worldbody><replicate count="500">\n<include file="leg.xml"/></replicate></worldbody>'
    write(tmp_path, body, "part.xml")
    attach = (
        '<asset><model name="part" file="part.xml"/></asset>'
        '<worldbody><replicate count="500"><attach model="part" body="a" prefix="p"/></replicate></worldbody>'
    )
    for inside in (include, attach):
        with pytest.raises(FileFormatError, match="copies"):
            load(whole(tmp_path, inside))
        path = whole(tmp_path, inside.replace("500", "2"))
        assert_same_as_mujoco(path, load(path), np.random.default_rng(2))


def test_absurd_memory_sizes_are_not_taken_over(tmp_path):
    size = '<size nkey="1000000000" nuser_body="100000000" nuserdata="2000000000" memory="9999999999999"/>'
    assert load(whole(tmp_path, f"{size}<worldbody>{TWO}</worldbody>")).nq == 2


def test_other_roots_and_entities_are_refused(tmp_path):
    path = tmp_path / "a.xml"
    for text in ('<robot name="r"/>', '<!DOCTYPE a [<!ENTITY b "c">]><mujoco>&b;</mujoco>', "", "<mujoco>"):
        path.write_text(text)
        with pytest.raises(FileFormatError):
            mjcf_links(path)  # `load` would take the first one for a URDF file
    with pytest.raises(FileFormatError):
        load(tmp_path / "gone.xml")


def test_mujoco_writes_no_log_and_prints_nothing(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, '<body name="nan"><joint/><geom size="1" mass="1e300"/></body>')
    with pytest.raises(ModelError):
        load(path)
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()
    assert capfd.readouterr() == ("", "")


def mutate(text: str, rng: np.random.Generator) -> bytes:
    data = bytearray(text.encode())
    kind = rng.integers(4)
    if kind == 0:
        return bytes(data[: rng.integers(len(data))])
    if kind == 1:
        for _ in range(rng.integers(1, 6)):
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        return bytes(data)
    words = text.split('"')
    spot = 2 * int(rng.integers(len(words) // 2)) + 1
    wrong = ["", "abc", "true", "1e308", "-1e15", "1e-320", "nan", "0", "1 2 3", "-7", "99999999999", "a b", "home"]
    words[spot] = wrong[int(rng.integers(len(wrong)))]
    return '"'.join(words).encode()


def test_damaged_files_end_in_a_robot_or_a_clear_error(tmp_path):
    after = (
        '<equality><joint joint1="ja" joint2="jb" polycoef="0.3 -2 0 0 0"/><weld body1="a" body2="b"/></equality>'
        '<actuator><motor joint="jb" gear="3" ctrlrange="-3 2"/></actuator><keyframe><key qpos="0.1 0.2"/></keyframe>'
    )
    text = f'<mujoco model="m">{DEFAULTS}<worldbody>{TWO}</worldbody>{after}</mujoco>'
    rng = np.random.default_rng(7)
    read, places = 0, []
    for k in range(60):
        path = tmp_path / f"m{k}.xml"
        path.write_bytes(mutate(text, rng))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                robot = load(path)
        except SurefootError as error:
            places.append(error.file)
            continue
        read += 1
        numbers = [robot.home, robot.tree.masses, robot.tree.placements, robot.tree.inertias, robot.tree.armature]
        assert all(np.isfinite(values).all() for values in numbers)
    assert 0 < read < 60
    assert None not in places


@pytest.mark.parametrize("gain", ["kp", "kv"])
def test_gains_beyond_all_bounds_are_refused(tmp_path, gain):
    """Reflected through a gear they would be infinite."""
    path = tmp_path / "m.xml"
    servo = f'<actuator><position joint="jb" gear="2" {gain}="1e308"/></actuator>'
    path.write_text(f'<mujoco model="m">{DEFAULTS}<worldbody>{TWO}</worldbody>{servo}</mujoco>')
    with pytest.raises(ModelError, match="too large"):
        load(path)
