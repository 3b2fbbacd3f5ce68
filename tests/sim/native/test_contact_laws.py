import numpy as np
import pytest

from surefoot import ops
from surefoot.codegen.program import trace
from surefoot.errors import ShapeError, UnknownNameError
from surefoot.sim.native.contact_laws import PenaltyPid, Rigid, SpringDamper, ViscoElastic, law_of
from surefoot.sim.native.touch import FREE, SLIDES, STICKS, Anchored, LinkTouch, Regularised

from ..native_examples import SCALE, some_touch

LAWS = [
    SpringDamper(),
    SpringDamper(friction=Regularised()),
    ViscoElastic(),
    ViscoElastic(exponent=1.2, friction=Regularised()),
    PenaltyPid(),
    PenaltyPid(friction=Anchored()),
]
NAMES = ("normal", "along", "normal_gain", "along_gain", "kept", "mode", "integral")
FIELDS = ("depth", "rate", "stretch", "slide", "friction", "integral")


def one(depth, rate=0.0, stretch=0.0, slide=0.0, friction=0.5, integral=0.0):
    along = np.array([[1.0, 0.0, 0.0]])
    return LinkTouch(
        np.array([depth]), np.array([rate]), stretch * along, slide * along, np.array([friction]), integral
    )


def evaluate(program, values):
    """The program on numbers, by the reference of its operations."""
    done = []
    table = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "sqrt": np.sqrt,
        "exp": np.exp, "log": np.log, "max": np.maximum, "min": np.minimum, "abs": np.abs,
        "lt": lambda a, b: float(a < b), "le": lambda a, b: float(a <= b), "select": lambda c, a, b: a if c else b,
        "fma": lambda a, b, c: a * b + c, "fms": lambda a, b, c: a * b - c, "fnma": lambda a, b, c: c - a * b,
    }  # fmt: skip
    for op, args in program.instructions:
        if op in ("input", "const"):
            done.append(values[args[0]] if op == "input" else args[0])
        else:
            done.append(float(table[op](*(done[k] for k in args))))
    slots = [done[k] for k in program.slots]
    return [np.array([slots[k] if k >= 0 else program.numbers[-1 - k] for k in rows]) for rows in program.layout]


@pytest.mark.parametrize("ahead", [0.0, 1e-3])
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_trace_gives_the_same_numbers(law, ahead):
    fitted, rng = law.fitted(SCALE), np.random.default_rng(4)
    samples = [some_touch(rng) for _ in range(20)]
    inputs = [ops.symbols(name, np.shape(getattr(samples[0], name)) or 1) for name in FIELDS]
    symbolic = LinkTouch(*inputs[:5], integral=inputs[5][0])
    answer = fitted.respond(symbolic, 1e-3, ahead)
    program = trace(inputs, [np.asarray(getattr(answer, name)) for name in NAMES])
    for touch in samples:
        values = np.concatenate([np.ravel(getattr(touch, name)) for name in FIELDS])
        direct = fitted.respond(touch, 1e-3, ahead)
        for found, name in zip(evaluate(program, values), NAMES, strict=True):
            np.testing.assert_allclose(found, np.ravel(getattr(direct, name)), rtol=1e-12, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_never_pulls_never_acts_from_above_and_keeps_the_cone(law):
    fitted, rng = law.fitted(SCALE), np.random.default_rng(5)
    for _ in range(200):
        touch = some_touch(rng)
        found = fitted.respond(touch, 1e-3, 1e-3)
        above = touch.depth <= 0.0
        assert (found.normal >= 0.0).all()
        assert (found.normal[above] == 0.0).all()
        assert (found.along[above] == 0.0).all()
        assert (found.normal_gain >= 0.0).all()
        assert (found.along_gain >= 0.0).all()
        assert (np.linalg.norm(found.along, axis=1) <= touch.friction * found.normal * (1.0 + 1e-12)).all()
        assert (found.mode[found.normal == 0.0] == FREE).all()


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_gains_are_the_slopes_of_the_force(law):
    """The force after the point was accelerated for a step is f − gain · a to first order; exactly for linear laws."""
    fitted, h, a = law.fitted(SCALE), 1e-3, 1e-3
    touch = one(2e-3, 0.01, integral=0.003)
    start = fitted.respond(touch, h, h)
    moved = fitted.respond(one(2e-3 + h * (0.01 - h * a), 0.01 - h * a, integral=0.003), h, 0.0)
    now = start.normal - start.normal_gain * a
    tolerance = 1e-12 if not isinstance(law, ViscoElastic) else 1e-4
    np.testing.assert_allclose(moved.normal, now, rtol=tolerance)


def test_spring_and_damper_by_hand():
    law = SpringDamper(1e4, 100.0, Anchored(2e4, 50.0, 1.0))
    found = law.respond(one(1e-3, 0.01, stretch=1e-4, slide=0.01), 1e-3, 0.0)
    np.testing.assert_allclose(found.normal, [10.0 + 1.0])
    np.testing.assert_allclose(found.along, [[-2.0 - 0.5, 0.0, 0.0]])
    assert found.mode == STICKS
    assert found.kept == 1.0


def test_an_anchor_follows_when_it_slides():
    """The force is at the limit, against the stretch, and the stretch that stays carries the limit."""
    law = SpringDamper(1e4, 0.0, Anchored(2e4, 0.0, 1.0))
    found = law.respond(one(1e-3, stretch=1e-3), 1e-3, 0.0)
    np.testing.assert_allclose(found.along, [[-5.0, 0.0, 0.0]])
    np.testing.assert_allclose(2e4 * found.kept * 1e-3, 5.0)
    assert found.mode == SLIDES


def test_hunt_and_crossley_by_hand_and_in_a_bounce():
    law = ViscoElastic(1e6, 1.5, 2.0, Anchored(1e4, 0.0, 1.0))
    found = law.respond(one(4e-3, 0.1), 1e-3, 0.0)
    np.testing.assert_allclose(found.normal, [1e6 * 4e-3**1.5 * 1.2])
    speed, depth, v, h = 0.02, 0.0, 0.02, 1e-5  # a mass of 1 kg without weight meets the ground
    while depth >= 0.0:
        push = law.respond(one(max(depth, 1e-15), v), h, 0.0).normal[0]
        v -= h * push
        depth += h * v
    assert -v / speed == pytest.approx(1.0 - 2.0 / 3.0 * 2.0 * speed, abs=1e-3)


@pytest.mark.parametrize("law", [SpringDamper(), ViscoElastic()], ids=str)
def test_the_force_without_speed_is_the_slope_of_the_stored_energy(law):
    fitted, d = law.fitted(SCALE), 1e-7
    slope = (fitted.stored(one(2e-3 + d)) - fitted.stored(one(2e-3 - d))) / (2.0 * d)
    assert fitted.respond(one(2e-3), 1e-3, 0.0).normal[0] == pytest.approx(slope, rel=1e-6)
    slope = (fitted.stored(one(2e-3, stretch=1e-6 + d)) - fitted.stored(one(2e-3, stretch=1e-6 - d))) / (2.0 * d)
    assert fitted.respond(one(2e-3, stretch=1e-6), 1e-3, 0.0).along[0, 0] == pytest.approx(-slope, rel=1e-6)


def test_the_integral_is_that_of_the_source_at_its_period_and_does_not_depend_on_the_step():
    law = PenaltyPid().fitted(SCALE)
    assert law.respond(one(2e-3, integral=0.01), law.period, 0.0).integral == pytest.approx(0.9 * 0.01 + 2e-3)
    ends = []
    for steps in (10, 1000):
        memory = 0.0
        for _ in range(steps):
            memory = law.respond(one(2e-3, integral=memory), 0.1 / steps, 0.0).integral
        ends.append(memory)
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)


@pytest.mark.parametrize(("count", "depth"), [(6, 5.45e-3), (5, 6.54e-3), (4, 8.175e-3), (3, 10.9e-3)])
def test_rest_depth_of_the_penalty_pid(count, depth):
    """n feet carry the weight at g/(300 n), each on a link of its own."""
    law = PenaltyPid().fitted(SCALE)
    d = 9.81 / (300.0 * count)
    assert d == pytest.approx(depth, rel=1e-3)
    assert count * law.respond(one(d, integral=10.0 * d), 1e-3, 0.0).normal[0] == pytest.approx(2.0 * 9.81)


def test_points_of_one_link_share_the_force():
    law = PenaltyPid().fitted(SCALE)
    many = LinkTouch(np.full(3, 1e-3), np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)), np.ones(3), 0.01)
    assert law.respond(many, 1e-3, 0.0).normal.sum() == pytest.approx(
        law.respond(one(1e-3, integral=0.01), 1e-3, 0.0).normal[0]
    )


def test_fitted_numbers():
    law = SpringDamper().fitted(SCALE)
    assert law.stiffness == pytest.approx(2.0 * 9.81 / 4 / 1e-3)
    assert SpringDamper(5.0, 6.0).fitted(SCALE).stiffness == 5.0
    bounded = SpringDamper().fitted(SCALE._replace(explicit=True, lightest=1e-3))
    assert bounded.stiffness < 1e-3 / 1e-3**2
    assert bounded.damping < 1e-3 / 1e-3
    rest = ViscoElastic().fitted(SCALE).respond(one(1e-3), 1e-3, 0.0).normal[0]
    assert rest == pytest.approx(2.0 * 9.81 / 4)


def test_laws_by_name_and_bad_numbers():
    assert law_of("rigid") == Rigid()
    assert law_of("penalty_pid") == PenaltyPid()
    with pytest.raises(UnknownNameError, match="spring_damper"):
        law_of("spring_damperr")
    for wrong in (SpringDamper(-1.0), ViscoElastic(loss=np.nan), SpringDamper(friction=Anchored(damping=-1.0))):
        with pytest.raises(ShapeError):
            law_of(wrong)
    with pytest.raises(ShapeError, match="missing"):
        SpringDamper().respond(one(1e-3), 1e-3, 0.0)
