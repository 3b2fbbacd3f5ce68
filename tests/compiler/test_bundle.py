"""Words of a bundle, against the kernels and functions that they stand for."""

import numpy as np
import pinocchio as pin
import pytest

from surefoot.compiler import compile_robot
from surefoot.compiler.kernel_set import SYMBOLS, WORDS
from surefoot.compiler.quantities import FRAME_QUANTITIES
from surefoot.errors import ModelError, NotSupportedError, UnknownNameError
from surefoot.kinematics import REFERENCES
from surefoot.kinematics.frames import frame_of
from surefoot.robot.loading import load
from tests.kinematics.examples import assert_same

from .examples import States


def given(quantity, states: States, k: int):
    return [getattr(states, name)[k] for name in quantity.inputs]


def test_every_word_of_the_robot(arm, of_arm):
    step = arm.bundle(list(WORDS))
    found = step(of_arm.q, of_arm.v, of_arm.a, of_arm.tau)
    assert list(found) == list(WORDS)
    single = step(of_arm.q[4], of_arm.v[4], of_arm.a[4], of_arm.tau[4])
    M = found["crba"][4]
    for name, word in WORDS.items():
        assert (single[name] == found[name][4]).all()
        right = np.asarray(word.function(arm.robot.tree, *given(word, of_arm, 4)), dtype=float)
        assert_same(single[name], right, 20 * 2.3e-16 * np.linalg.cond(M) if word.inverts else 1e-12)


def test_symbols_mean_the_same_as_names(walker, of_walker):
    frames = {f"{name}:FL_FOOT": f"{symbol}:FL_FOOT" for name, symbol in SYMBOLS.items() if name.startswith("frame_")}
    pairs = frames | {symbol: name for symbol, name in SYMBOLS.items() if name in WORDS}
    state = (of_walker.q, of_walker.v, of_walker.a, of_walker.tau)
    one, other = walker.bundle(list(pairs))(*state), walker.bundle(list(pairs.values()))(*state)
    for symbol, name in pairs.items():
        assert (one[symbol] == other[name]).all()


def test_every_word_of_a_frame(walker, of_walker):
    frame = frame_of(walker.robot, "FL_FOOT")
    names = [
        f"{word}:FL_FOOT@{reference}"
        for word in [word for word, x in FRAME_QUANTITIES.items() if len(x.outputs) < 2]
        for reference in REFERENCES
    ]
    step = walker.bundle(names)
    found = step(of_walker.q, of_walker.v, of_walker.a)
    for name in names:
        word, reference = name.split(":")[0], name.split("@")[1]
        quantity = FRAME_QUANTITIES[word]
        extra = (reference,) if quantity.reference else ()
        for k in (0, 36):
            right = quantity.function(walker.robot.tree, frame, *given(quantity, of_walker, k), *extra)
            assert_same(found[name][k], right)


def test_the_usual_reference_is_world_aligned(walker, of_walker):
    found = walker.bundle(["J:FL_FOOT", "J:FL_FOOT@local_world_aligned", "J:FL_FOOT@local"])(of_walker.q)
    assert (found["J:FL_FOOT"] == found["J:FL_FOOT@local_world_aligned"]).all()
    assert np.abs(found["J:FL_FOOT"] - found["J:FL_FOOT@local"]).max() > 0.1
    assert (found["J:FL_FOOT"] == walker.jacobian(of_walker.q, "FL_FOOT")).all()


def test_a_contact_surface_that_is_called_like_its_link_has_a_word_of_its_own():
    """Against Pinocchio, with the surface as an operational frame."""
    robot, name = load("g1"), "left_ankle_roll_link"
    k, surface, model = compile_robot(robot), robot.contacts[name], robot.model.copy()
    link = model.frames[model.getFrameId(name)]
    place = link.placement * pin.SE3(surface.placement)
    sole = model.addFrame(pin.Frame("sole", link.parentJoint, place, pin.FrameType.OP_FRAME))
    rng = np.random.default_rng(5)
    q, v = pin.randomConfiguration(model, -np.ones(robot.nq), np.ones(robot.nq)), rng.normal(size=robot.nv)
    words = ["T:contact " + name, "J:contact " + name, "J:contact " + name + "@local", "Jdv:contact " + name]
    found = k.bundle([*words, "T:" + name])(q, v)
    data, aligned = model.createData(), pin.LOCAL_WORLD_ALIGNED
    pin.forwardKinematics(model, data, q, v, 0.0 * v)
    pin.updateFramePlacements(model, data)
    right = [data.oMf[sole].homogeneous, pin.computeFrameJacobian(model, data, q, sole, aligned).copy()]
    right += [pin.computeFrameJacobian(model, data, q, sole, pin.LOCAL)]
    right += [pin.getFrameClassicalAcceleration(model, data, sole, aligned).vector]
    for word, value in zip(words, right, strict=True):
        np.testing.assert_allclose(found[word], value, atol=1e-10)
    assert np.linalg.norm((found[words[0]] - found["T:" + name])[:3, 3]) > 0.03
    assert (found[words[1]] == k.jacobian(q, "contact " + name)).all()
    assert (found[words[0]] == k.frames(q, ["contact " + name])[0]).all()


def test_a_bundle_takes_what_its_words_need(arm, of_arm):
    """And shares what they have in common."""
    assert arm.bundle(["M", "com"]).recipe.inputs == ("q",)
    assert arm.bundle(["a", "h"]).recipe.inputs == ("q", "v", "tau")
    assert arm.bundle(["tau", "a"]).recipe.inputs == ("q", "v", "a", "tau")
    assert arm.bundle(("M", "com")) is arm.bundle(["M", "com"])
    parts = sum(arm.bundle([word]).artifact.operations for word in ("M", "h", "com", "Jcom"))
    assert arm.bundle(["M", "h", "com", "Jcom"]).artifact.operations < parts


def test_one_word_is_a_dictionary_too(arm, of_arm):
    for _ in range(2):
        assert (arm.bundle(["com"])(of_arm.q)["com"] == arm.com(of_arm.q)).all()
        assert (arm.bundle(["com"])(of_arm.q[0])["com"] == arm.com(of_arm.q[0])).all()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("Mass", "`Mass`"),
        ("J:FL_FOT", "FL_FOOT"),
        ("Q:FL_FOOT", "`Q`"),
        ("J:FL_FOOT@worl", "`world`"),
        ("J:", "frame"),
        ("J:contact FL_FOT", "contact surface"),
    ],
)
def test_words_that_there_are_not(walker, word, said):
    with pytest.raises(UnknownNameError, match=said):
        walker.bundle(["M", word])


def test_what_cannot_be_bundled_is_refused():
    romeo = compile_robot(load("romeo"))
    for word in ("Minv", "a"):
        with pytest.raises(ModelError, match="singular"):
            romeo.bundle(["com", word]).prepare("single")
    with pytest.raises(NotSupportedError, match="nothing"):
        romeo.bundle([])


def test_too_many_words_are_refused(arm, of_arm):
    names = [f"T:{name}@{reference}" for name in arm.robot.frame_names[:12] for reference in REFERENCES]
    with pytest.raises(NotSupportedError, match="32"):
        arm.bundle(names)(of_arm.q)
