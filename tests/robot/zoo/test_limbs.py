"""Mirror images, and what a plan makes of a base."""

import numpy as np
import pytest

from surefoot.errors import NotSupportedError
from surefoot.robot import Joint, Robot, placement
from surefoot.robot.zoo.limbs import Plan, both_sides, drives_of, flat_sole, mirrored
from surefoot.robot.zoo.solids import ball, bar, link_of
from surefoot.spatial import so3

MIRROR = np.diag([1.0, -1.0, 1.0])
rng = np.random.default_rng(5)


def crooked_limb():
    """A left limb with hinges about general axes at general places."""
    links, parent = [], "body"
    for i in range(4):
        place = placement(rng.uniform(-0.3, 0.3, 3), so3.random(rng))
        axis = (0.0, 1.0, 0.0) if i == 1 else rng.standard_normal(3)
        joint = Joint(f"left_{i}", "revolute", place, axis, lower=-0.5, upper=1.0 + i, effort=1.0, velocity=2.0)
        links.append(link_of(f"left_link{i}", parent, joint, [bar(1.0, 0.02, (0, 0, 0), rng.uniform(0.1, 0.3, 3))]))
        parent = links[-1].name
    return links


def test_mirrored_limb_moves_as_the_mirror_image():
    left = crooked_limb()
    robot = Robot.from_tree("r", [link_of("body", None, None, [ball(1.0, 0.1)]), *left, *mirrored(left)])
    for _ in range(10):
        q = rng.uniform(-1, 1, 4)
        other = q * [-1.0, 1.0, -1.0, -1.0]
        placements = robot.placements(robot.q_of({f"left_{i}": q[i] for i in range(4)}
                                                 | {f"right_{i}": other[i] for i in range(4)}))  # fmt: skip
        for i in range(4):
            a, b = placements[f"left_link{i}"], placements[f"right_link{i}"]
            np.testing.assert_allclose(b[:3, 3], MIRROR @ a[:3, 3], atol=1e-12)
            np.testing.assert_allclose(b[:3, :3], MIRROR @ a[:3, :3] @ MIRROR, atol=1e-12)


def test_limits_change_sign_except_of_pitch():
    right = mirrored(crooked_limb())
    assert [(link.joint.lower, link.joint.upper) for link in right] == [
        (-1.0, 0.5),
        (-0.5, 2.0),
        (-3.0, 0.5),
        (-4.0, 0.5),
    ]


def test_masses_and_shapes_are_mirrored():
    left = crooked_limb()
    for a, b in zip(left, mirrored(left), strict=True):
        np.testing.assert_allclose(b.com, MIRROR @ a.com)
        np.testing.assert_allclose(b.inertia, MIRROR @ a.inertia @ MIRROR)
        assert np.linalg.det(b.collisions[0].placement[:3, :3]) == pytest.approx(1.0)
        np.testing.assert_allclose(b.collisions[0].placement[:3, 3], MIRROR @ a.collisions[0].placement[:3, 3])
        assert b.collisions[0].link == b.name == a.name.replace("left", "right")


def test_postures_drives_and_soles():
    assert both_sides({"knee": 0.2}) == {"left_knee": 0.2, "right_knee": 0.2}
    assert [drive.joint for drive in drives_of(crooked_limb(), frozenset({"left_2"}))] == ["left_0", "left_1", "left_3"]
    sole = flat_sole("foot", (-0.1, 0.2), (-0.05, 0.05), -0.3)
    assert (sole.kind, len(sole.corners), sole.placement[2, 3]) == ("rectangle", 4, -0.3)
    area = 0.5 * np.linalg.norm(np.cross(sole.corners[1] - sole.corners[0], sole.corners[2] - sole.corners[0]))
    assert area == pytest.approx(0.5 * 0.3 * 0.1)


def test_base_of_a_plan():
    free = Plan("free", (link_of("body", None, None, [ball(1.0, 0.1)]),), "floating")
    assert (free.robot().nv, free.robot("planar").nv, free.robot("fixed").nv) == (6, 3, 0)
    held = Plan("held", (link_of("body", None, Joint("j", "revolute"), [ball(1.0, 0.1)]),))
    assert held.robot("fixed").nv == 1
    with pytest.raises(NotSupportedError) as caught:
        held.robot("floating")
    assert "fixed" in caught.value.next_step
