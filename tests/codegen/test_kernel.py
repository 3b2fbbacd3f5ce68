"""One call for single states and batches: shapes, types, outputs, refusals, fixed arrays, tiles."""

import gc
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot import ops
from surefoot.codegen.batch import aligned_empty
from surefoot.compiler import compile_robot
from surefoot.dynamics import kinetic_energy, rnea
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from tests.compiler.examples import kernel_of


def row(states, k):
    return states.q[k], states.v[k], states.a[k]


def rows(states, n=None):
    return states.q[:n], states.v[:n], states.a[:n]


# --- shapes and types


def test_one_state_and_batches_have_the_same_bits(arm, of_arm):
    batch = arm.rnea(*rows(of_arm))
    assert batch.shape == (37, 9)
    for k in range(37):
        assert (arm.rnea(*row(of_arm, k)) == batch[k]).all()
    assert_allclose(batch[5], rnea(arm.robot.tree, *row(of_arm, 5)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 37])
def test_batches_of_any_length(arm, of_arm, n):
    assert (arm.rnea(*rows(of_arm, n)) == arm.rnea(*rows(of_arm))[:n]).all()
    energy = arm.energy(of_arm.q[:n], of_arm.v[:n])
    assert energy.kinetic.shape == energy.potential.shape == (n,)
    assert arm.rnea(*rows(of_arm, n)).shape == (n, 9)


def test_single_arguments_are_repeated(arm, of_arm):
    q, v, a = rows(of_arm)
    for given in ((q, v[3], a[4]), (q[2], v, a), (q[1], v[0], a)):
        whole = [np.broadcast_to(x, (37, 9)).copy() for x in given]
        assert (arm.rnea(*given) == arm.rnea(*whole)).all()
    assert arm.rnea(q[0], v[:0], a[0]).shape == (0, 9)


def test_arrays_that_are_not_plain_give_the_same(arm, of_arm):
    """Strided, reversed, transposed, read-only, of other types, of a subclass, lists, in foreign byte order."""
    q, v, a = rows(of_arm)
    right = arm.rnea(q, v, a)
    wide = np.repeat(q, 2, axis=1)
    others = [
        wide[:, ::2], q[::-1].copy()[::-1], np.asfortranarray(q), q.tolist(), q.astype(">f8"), q.astype(np.longdouble),
        q.view(np.recarray), list(q),
    ]  # fmt: skip
    fixed = q.copy()
    fixed.flags.writeable = False
    shifted = np.frombuffer(b"x" + q.tobytes(), offset=1).reshape(q.shape)
    for other in [*others, fixed, shifted]:
        assert (arm.rnea(other, v, a) == right).all()
        assert (arm.rnea(other[0], v[0], a[0]) == right[0]).all()


def test_whole_numbers_and_float32_are_converted(arm):
    q = np.arange(9) % 3
    right = arm.com(q.astype(float))
    for kind in (int, np.int8, np.uint16, bool, np.float32, np.float16):
        values = q.astype(kind)
        assert (arm.com(values) == arm.com(values.astype(float))).all()
        assert arm.com(values).dtype == np.float64
    assert (arm.com([0, 1, 2] * 3) == right).all()


def test_inputs_by_name(arm, of_arm):
    q, v, a = rows(of_arm)
    right = arm.rnea(q, v, a)
    assert (arm.rnea(a=a, q=q, v=v) == right).all()
    assert (arm.rnea(q, v, a=a) == right).all()
    assert (arm.rnea(q, v, a, None) == right).all()
    assert (arm.rnea(q, v, a, external=None) == right).all()


def test_external_wrenches(arm, of_arm):
    q, v, a, _, F = of_arm
    batch = arm.rnea(q, v, a, external=F)
    assert (arm.rnea(q, v, a, F) == batch).all()
    assert (arm.rnea(q[3], v[3], a[3], F[3]) == batch[3]).all()
    assert (arm.rnea(q, v, a, external=F[2])[2] == batch[2]).all()  # one wrench for all
    assert_allclose(batch[6], rnea(arm.robot.tree, q[6], v[6], a[6], F[6]), rtol=1e-12, atol=1e-12)
    assert np.abs(batch - arm.rnea(q, v, a)).max() > 0.1


def test_float32_kernels(of_arm, arm):
    single = compile_robot(arm.robot, dtype="float32")
    q, v, a = rows(of_arm)
    found = single.rnea(q, v, a)
    assert found.dtype == np.float32
    assert (single.rnea(*(x.astype(np.float32) for x in (q, v, a))) == found).all()
    assert (single.rnea(q[4], v[4], a[4]) == found[4]).all()
    assert_allclose(found, arm.rnea(q, v, a), atol=1e-4 * np.abs(found).max())
    with pytest.raises(ShapeError, match="float64"):
        single.rnea.bind(q[0], v[0], a[0], np.empty(9))
    with pytest.raises(ShapeError, match="out"):
        single.rnea(q, v, a, out=np.empty((37, 9)))


def test_functions_without_inputs_and_with_scalars(rng):
    assert (kernel_of(lambda: np.arange(6.0).reshape(2, 3))() == np.arange(6.0).reshape(2, 3)).all()
    scaled = kernel_of(lambda x, s: (x * s, s), (3,), ())
    x = rng.standard_normal((11, 3))
    for _ in range(2):  # the second time through the native entry
        one = scaled(x[0], np.array(2.0))
        assert (one[0] == 2.0 * x[0]).all()
        assert one[1].shape == ()
        many = scaled(x, np.arange(11.0))
        assert (many[0] == np.arange(11.0)[:, None] * x).all()
        assert (many[1] == np.arange(11.0)).all()
    first = kernel_of(lambda s, x: x + s, (), (3,))
    for _ in range(2):
        assert (first(np.array(1.0), x[0]) == x[0] + 1.0).all()
        assert (first(np.ones(11), x) == x + 1.0).all()
    assert (first(1.0, x[0]) == x[0] + 1.0).all()


def test_results_of_many_axes(rng):
    shape = (1, 2, 1, 1, 3, 1, 1, 1, 2, 1)
    kernel = kernel_of(lambda x: (x * 2.0).reshape(shape), (12,))
    x = rng.standard_normal((5, 12))
    for _ in range(2):
        assert (kernel(x[0]) == (2.0 * x[0]).reshape(shape)).all()
        assert (kernel(x) == (2.0 * x).reshape(5, *shape)).all()


# --- outputs


def test_out_is_written_and_returned(arm, of_arm):
    q, v, a = rows(of_arm)
    out, one = np.empty((37, 9)), np.empty(9)
    assert arm.rnea(q, v, a, out=out) is out
    assert (out == arm.rnea(q, v, a)).all()
    assert arm.rnea(q[1], v[1], a[1], out=one) is one
    assert (one == out[1]).all()
    kinetic, potential = np.empty(37), np.empty(37)
    found = arm.energy(q, v, out=[kinetic, potential])
    assert found.kinetic is kinetic
    assert (potential == arm.energy(q, v).potential).all()
    again = arm.energy(q, v, out=found)
    assert again.potential is potential


def test_out_may_be_an_input(arm, of_arm):
    q, v, a = rows(of_arm)
    right = arm.rnea(q, v, a)
    for threads in (1, 2):
        both = a.copy()
        assert (arm.rnea(q, v, both, out=both, threads=threads) == right).all()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: np.full((37, 8), 7.0),
        lambda: np.full((36, 9), 7.0),
        lambda: np.full(9, 7.0),
        lambda: np.full((37, 9), 7.0, np.float32),
        lambda: np.full((9, 37), 7.0).T,
        lambda: np.full((37, 18), 7.0)[:, ::2],
        lambda: np.full((37, 9), 7.0, ">f8"),
        lambda: [np.full((37, 9), 7.0), np.full((37, 9), 7.0)],
        lambda: [[7.0] * 9] * 37,
        lambda: 7.0,
    ],
)
def test_an_out_that_does_not_fit_is_refused_and_left_alone(arm, of_arm, wrong):
    out = wrong()
    with pytest.raises(ShapeError, match="out"):
        arm.rnea(*rows(of_arm), out=out)
    assert all((np.asarray(x) == 7.0).all() for x in (out if isinstance(out, list) else [out]))


def test_an_out_that_must_not_be_written_is_refused(arm, of_arm):
    out = np.full((37, 9), 7.0)
    out.flags.writeable = False
    with pytest.raises(ShapeError, match="out"):
        arm.rnea(*rows(of_arm), out=out)
    with pytest.raises(ShapeError, match="out"):
        arm.energy(of_arm.q, of_arm.v, out=[np.empty(37)])
    assert (out == 7.0).all()


def test_results_are_fresh_arrays(arm, of_arm):
    first = arm.rnea(*row(of_arm, 0))
    copy = first.copy()
    second = arm.rnea(*row(of_arm, 1))
    assert (first == copy).all()
    assert not np.shares_memory(first, second)
    assert first.flags.owndata
    assert first.flags.writeable
    assert type(first) is np.ndarray


# --- refusals


@pytest.mark.parametrize(
    ("shape", "name"),
    [((8,), "q"), ((10,), "q"), ((3, 8), "q"), ((2, 3, 9), "q"), ((), "q"), ((9, 1), "q"), ((0,), "q")],
)
def test_wrong_shapes_are_named(arm, shape, name):
    with pytest.raises(ShapeError, match=f"`{name}`") as caught:
        arm.rnea(np.zeros(shape), np.zeros(9), np.zeros(9))
    assert "(9,)" in str(caught.value.evidence["expected"])


def test_batches_of_different_lengths_are_refused(arm, of_arm):
    with pytest.raises(ShapeError, match="different lengths") as caught:
        arm.rnea(of_arm.q, of_arm.v[:36], of_arm.a)
    assert caught.value.evidence == {"q": 37, "v": 36, "a": 37}


@pytest.mark.parametrize(
    "wrong", [np.zeros(9) + 1j, ["1.0"] * 9, [None] * 9, [[1.0], [1.0, 2.0]], "text", {}, object()]
)
def test_what_is_no_array_of_real_numbers_is_refused(arm, wrong):
    with pytest.raises(ShapeError, match="`v` is not an array"):
        arm.nonlinear_effects(np.zeros(9), wrong)


def test_arguments_are_named(arm, of_arm):
    q, v, a = row(of_arm, 0)
    with pytest.raises(ShapeError, match="needs `a`"):
        arm.rnea(q, v)
    with pytest.raises(ShapeError, match="5 arguments"):
        arm.rnea(q, v, a, None, 1.0)
    with pytest.raises(UnknownNameError, match="`wrenches`"):
        arm.rnea(q, v, a, wrenches=None)
    with pytest.raises(UnknownNameError, match=r"`treads`.*`threads`"):
        arm.rnea(q, v, a, treads=2)
    with pytest.raises(ShapeError, match="`q` twice"):
        arm.rnea(q, v, a, q=q)
    with pytest.raises(ShapeError, match="threads"):
        arm.rnea(of_arm.q, of_arm.v, of_arm.a, threads=0)


def test_numbers_that_are_not_finite(arm, of_arm):
    """Refused on request, with their place; else they go through, into their own row only."""
    q, v, a = (x.copy() for x in rows(of_arm))
    right = arm.rnea(q, v, a)
    v[11, 4], a[20, 0] = np.nan, np.inf
    with pytest.raises(ShapeError, match="`v` is not finite") as caught:
        arm.rnea(q, v, a, check_finite=True)
    assert caught.value.evidence["index"] == (11, 4)
    with pytest.raises(ShapeError, match="`a` is not finite"):
        arm.rnea(q[20], v[20], a[20], check_finite=True)
    found = arm.rnea(q, v, a)
    clean = np.delete(np.arange(37), [11, 20])
    assert (found[clean] == right[clean]).all()
    assert not np.isfinite(found[[11, 20]]).all(axis=1).any()
    assert np.isnan(arm.rnea(q[11], v[11], a[11])).any()
    q[0] = np.nan
    assert np.isnan(arm.com(q[0])).all()
    assert (arm.rnea(*rows(of_arm), check_finite=True) == right).all()


@pytest.mark.parametrize("wrong", [0.0, 2.0, 1.0 + 3e-6, np.nan, np.inf])
@pytest.mark.parametrize("k", [0, 7, 8, 36])
def test_quaternions_that_are_not_of_unit_length_are_named(walker, of_walker, k, wrong):
    q = of_walker.q.copy()
    q[k, 3:7] *= wrong
    for threads in (1, 2):
        with pytest.raises(ShapeError) as caught:
            walker.com(q, threads=threads)
        assert caught.value.evidence["row"] == k
    with pytest.raises(ShapeError):
        walker.com(q[k])
    with pytest.raises(ShapeError) as caught:
        walker.com.tiled(walker.com.to_tiles(q))
    assert caught.value.evidence["row"] == k
    assert (walker.com(q[k - 1]) == walker.com(of_walker.q[k - 1])).all()
    q[k] = of_walker.q[k]
    q[k, 3:7] *= 1.0 + 5e-7  # well within rounding of files
    assert_allclose(walker.com(q), walker.com(of_walker.q), atol=1e-5)


def test_kernels_do_not_travel(arm):
    with pytest.raises(NotSupportedError, match="pickled"):
        pickle.dumps(arm.rnea)
    assert repr(arm.rnea) == "Kernel(rnea(q, v, a) of panda, float64)"


# --- fixed arrays


def test_bound_arrays_are_read_at_every_call(arm, of_arm):
    q, v, a = (x.copy() for x in row(of_arm, 0))
    tau = np.zeros(9)
    call = arm.rnea.bind(q, v, a, tau)
    for k in range(5):
        q[:], v[:], a[:] = row(of_arm, k)
        assert call() is None
        assert (tau == arm.rnea(*row(of_arm, k))).all()


def test_bound_outputs_may_be_inputs(arm, of_arm):
    q, v, a = (x.copy() for x in row(of_arm, 0))
    right = arm.rnea(q, v, a)
    arm.rnea.bind(q, v, a, a)()
    assert (a == right).all()


def test_bound_arrays_stay_alive(arm, of_arm):
    """With the kernel set, too, after everybody else has let go of them."""
    kernels = compile_robot(arm.robot)
    buffers = [x.copy() for x in row(of_arm, 3)]
    tau = np.zeros(9)
    call = kernels.rnea.bind(*buffers, tau)
    right = arm.rnea(*row(of_arm, 3))
    del kernels, buffers
    gc.collect()
    trash = [np.full(9, np.nan) for _ in range(1000)]  # would take the memory if it were free
    call()
    assert (tau == right).all()
    del trash


def test_several_outputs_can_be_bound(arm, of_arm):
    kinetic, potential = np.zeros(()), np.zeros(())
    arm.energy.bind(of_arm.q[2].copy(), of_arm.v[2].copy(), kinetic, potential)()
    assert_allclose(kinetic, kinetic_energy(arm.robot.tree, of_arm.q[2], of_arm.v[2]), rtol=1e-12)
    assert potential == arm.energy(of_arm.q[2], of_arm.v[2]).potential


@pytest.mark.parametrize(
    ("place", "wrong"),
    [(0, np.zeros(8)), (1, np.zeros(9, np.float32)), (2, np.zeros(18)[::2]), (3, np.zeros((1, 9))), (3, [0.0] * 9)],
)
def test_arrays_that_cannot_be_bound_are_refused(arm, place, wrong):
    arrays = [np.zeros(9) for _ in range(4)]
    arrays[place] = wrong
    with pytest.raises(ShapeError, match="bound"):
        arm.rnea.bind(*arrays)
    with pytest.raises(ShapeError, match="bound"):
        arm.rnea.bind(*arrays[:3])
    constant = np.zeros(9)
    constant.flags.writeable = False
    with pytest.raises(ShapeError, match="bound"):
        arm.rnea.bind(np.zeros(9), np.zeros(9), np.zeros(9), constant)


# --- tiles


@pytest.mark.parametrize("name", ["rnea", "crba", "energy"])
@pytest.mark.parametrize("n", [1, 16, 37])
def test_tiles_there_and_back(arm, of_arm, name, n):
    kernel = getattr(arm, name)
    given = [getattr(of_arm, x)[:n] for x in kernel.recipe.inputs]
    dense = kernel(*given)
    dense = dense if isinstance(dense, tuple) else (dense,)
    packed = kernel.tiled(*(kernel.to_tiles(x) for x in given))
    assert packed.shape == (-(-n // kernel.batch.width), kernel.artifact.slots, kernel.batch.width)
    for ours, theirs in zip(kernel.unpack(packed, n), dense, strict=True):
        assert (ours == theirs).all()
    out = aligned_empty(packed.shape)
    assert kernel.tiled(*(kernel.to_tiles(x) for x in given), out=out) is out
    assert (out == packed).all()
    threaded = kernel.tiled(*(kernel.to_tiles(x) for x in given), threads=2)
    assert (threaded == packed).all()


@pytest.mark.parametrize("name", ["rnea", "crba", "energy"])
@pytest.mark.parametrize("n", [1, 16, 37])
def test_packed_rows_hold_what_dense_arrays_hold(arm, of_arm, name, n):
    kernel = getattr(arm, name)
    given = [getattr(of_arm, x)[:n] for x in kernel.recipe.inputs]
    dense = kernel(*given)
    dense = dense if isinstance(dense, tuple) else (dense,)
    packed = kernel.packed(*given)
    assert packed.shape == (n, kernel.artifact.slots)
    for ours, theirs in zip(kernel.unpack(packed), dense, strict=True):
        assert (ours == theirs).all()
    out = np.full_like(packed, np.nan)
    assert kernel.packed(*given, out=out, threads=2) is out
    assert (out == packed).all()
    one = kernel.packed(*(x[-1] for x in given))
    assert (one == packed[-1]).all()


def test_packed_rows_take_wrenches(arm, of_arm):
    """The optional argument calls for another kernel, whose slots are other ones."""
    given = of_arm.q[:5], of_arm.v[:5], of_arm.a[:5]
    wrenches = np.random.default_rng(3).normal(size=(5, *arm.rnea.variants["external"].recipe.input_shapes[-1]))
    packed = arm.rnea.packed(*given, wrenches)
    assert (arm.rnea.variants["external"].unpack(packed)[0] == arm.rnea(*given, wrenches)).all()


def test_packed_rows_refuse_what_a_call_refuses(arm, walker, of_arm):
    with pytest.raises(ShapeError, match="shape"):
        arm.crba.packed(of_arm.q[:, :-1])
    with pytest.raises(ShapeError, match="out"):
        arm.crba.packed(of_arm.q, out=np.empty((len(of_arm.q), 81)))
    with pytest.raises(ShapeError, match="needs"):
        arm.rnea.packed(of_arm.q)
    with pytest.raises(ShapeError, match="length 4"):
        walker.com.packed(np.full((3, walker.com.recipe.input_shapes[0][0]), 2.0))


def test_zeros_are_not_stored(arm, of_arm):
    """The layout says where every entry of a matrix is; symmetric ones share a slot, numbers have none."""
    M, (layout,) = arm.crba(of_arm.q), arm.crba.layout
    assert (layout == layout.T).all()
    assert arm.crba.artifact.slots < 9 * 10 / 2
    for k, value in enumerate(arm.crba.numbers):
        assert (M[:, layout == -1 - k] == value).all()


def test_tiles_that_do_not_fit_are_refused(arm, of_arm):
    q, v, a = (arm.rnea.to_tiles(x) for x in rows(of_arm))
    unaligned = np.empty(q.size + 1)[1:].reshape(q.shape)
    unaligned = unaligned if unaligned.ctypes.data % 64 else np.empty(q.size + 2)[2:].reshape(q.shape)
    for wrong in (
        (),
        (q,),
        (q, v),
        (q, v, a, a),
        (q, v, a[:-1]),
        (q, v, a[:, :-1]),
        (of_arm.q, v, a),
        (unaligned, v, a),
    ):
        with pytest.raises(ShapeError, match="tile"):
            arm.rnea.tiled(*wrong)
    with pytest.raises(ShapeError, match="tile"):
        arm.rnea.tiled(q, v, a, out=np.empty((len(q), 8, q.shape[-1])))


def test_an_empty_list_of_tiles(arm):
    empty = arm.com.to_tiles(np.zeros((0, 9)))
    assert arm.com.unpack(arm.com.tiled(empty))[0].shape == (0, 3)


def test_results_of_one_output_alone_or_as_asked(rng):
    x = rng.standard_normal((9, 2))
    plain = kernel_of(lambda x: x + 1.0, (2,))
    named = kernel_of(lambda x: ops.array(x + 1.0), (2,), result=lambda y: {"y": y})
    for _ in range(2):
        for argument in (x, x[0]):
            assert (plain(argument) == argument + 1.0).all()
            assert (named(argument)["y"] == argument + 1.0).all()
