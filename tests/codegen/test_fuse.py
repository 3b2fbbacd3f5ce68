from hypothesis import given, settings

from surefoot import ops
from surefoot.codegen.graph import fuse, graph_of
from surefoot.codegen.program import needed
from tests.compiler.examples import Residue, interpreted, polynomials, values_of

X, Y = ops.symbols("x", 4), ops.symbols("y", 4)


def operations(*outputs) -> list[str]:
    """What is left to do for some outputs."""
    graph, refs = graph_of([*X, *Y], outputs)
    instructions, _ = needed(*fuse(graph.nodes, refs))
    return sorted(op for op, _ in instructions if op not in ("input", "const"))


@settings(deadline=None, max_examples=200, derandomize=True)
@given(polynomials())
def test_fused_instructions_have_the_same_values(code):
    graph, refs = graph_of(list(X), values_of(code, X)[-1::-4])
    wanted = [ref for ref in refs if graph.value(ref) is None]
    point = [Residue(2**40 + 7), Residue(3**25), Residue(-(5**20)), Residue(7**15)]
    before = interpreted(graph.nodes, point)
    instructions, roots = fuse(graph.nodes, wanted)
    after = interpreted(instructions, point)
    for ref, root in zip(wanted, roots, strict=True):
        value = before[ref >> 1]
        assert after[root].value == (-value if ref & 1 else value).value
    kept = lambda code: sum(op not in ("input", "const") for op, _ in code)  # noqa: E731
    assert kept(needed(instructions, roots)[0]) <= kept(needed(*unfused(graph.nodes, wanted))[0])


def unfused(nodes, refs):
    """Outputs with their signs computed, nothing else done."""
    out, roots = list(nodes), []
    for ref in refs:
        if ref & 1:
            out.append(("neg", (ref >> 1,)))
        roots.append(len(out) - 1 if ref & 1 else ref >> 1)
    return out, roots


def test_an_inner_product_is_a_product_and_fused_steps():
    assert operations(X @ Y) == ["fma", "fma", "fma", "mul"]


def test_differences():
    assert operations(X[0] * Y[0] - Y[1]) == ["fms"]
    assert operations(Y[1] - X[0] * Y[0]) == ["fnma"]
    assert operations(X[0] * Y[0] - X[1] * Y[1]) == ["fnma", "mul"]


def test_products_that_are_needed_stay():
    product = X[0] * Y[0]
    assert operations(product, product + Y[1]) == ["add", "mul"]
    assert operations(ops.sin(product) + product) == ["add", "mul", "sin"]


def test_products_of_many_sums_dissolve():
    product = X[0] * Y[0]
    assert operations(product + X[1], product + X[2], product - X[3]) == ["fma", "fma", "fms"]


def test_twice_a_product():
    product = X[0] * Y[0]
    assert operations(product + product) == ["add", "mul"]
