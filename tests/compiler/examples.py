"""Random expressions, their values by other means, small kernels, and robots with states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from hypothesis import strategies as st

from surefoot import ops
from surefoot.codegen.artifact import Recipe, make
from surefoot.codegen.batch import BatchRunner
from surefoot.codegen.build import Build
from surefoot.codegen.kernel import Kernel
from surefoot.codegen.program import Program, trace
from surefoot.robot import Robot
from tests.dynamics.examples import armed
from tests.kinematics.examples import robot_named as named

Code = Sequence[tuple[str, int, int, int]]  # operation, and where its arguments are among all values so far
CONSTANTS = (0.0, 1.0, -1.0, 0.5)
PRIME = 2**61 - 1

# --- polynomials: exact in a finite field, so that any mistake in a rewriting shows

RING: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "neg": lambda a, *_: -a,
}

# --- all operations, each bounded by one and with a slope of about one, so that rounding errors stay small

BOUNDED: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, _: 0.5 * (a + b),
    "sub": lambda a, b, _: 0.5 * a - b * 0.5,
    "mul": lambda a, b, _: a * b,
    "fms": lambda a, b, c: (a * b - c) * 0.5,
    "div": lambda a, b, _: a / (1.0 + b * b),
    "divided": lambda a, *_: 1.0 / (2.0 - a),
    "neg": lambda a, *_: -a,
    "sin": lambda a, *_: ops.sin(a),
    "cos": lambda a, b, _: ops.cos(a - b),
    "both": lambda a, b, _: ops.sin(3.0 * a) * ops.cos(3.0 * a),
    "tan": lambda a, *_: ops.tan(0.75 * a),
    "exp": lambda a, *_: ops.exp(a - 1.0),
    "log": lambda a, *_: ops.log(1.5 + 0.5 * a),
    "sqrt": lambda a, *_: ops.sqrt(0.75 + 0.25 * a),
    "abs": lambda a, *_: ops.absolute(a),
    "acos": lambda a, *_: 0.3 * ops.arccos(0.9 * a),
    "atan2": lambda a, b, _: 0.3 * ops.arctan2(a - 0.5, 0.25 * b - 1.0),
    "pow": lambda a, b, _: 0.4 * (1.5 + 0.5 * a) ** (b + 0.25),
    "min": lambda a, b, _: ops.minimum(a, b),
    "max": lambda a, b, _: ops.maximum(a, -b),
}
# Conditions compare inputs with numbers: what is computed may be off by a rounding.
CONDITIONS: dict[str, Callable[..., Any]] = {
    "lt": ops.less,
    "le": lambda x, y: x >= y,
}


def polynomials() -> st.SearchStrategy[Code]:
    """Codes of polynomials: small ones, in which a mistake is easy to see, and large ones, which find it."""
    place = st.integers(0, 10**6)
    small = st.lists(st.tuples(st.sampled_from(sorted(RING)), place, place, place), min_size=1, max_size=20)
    return small | st.integers(0, 10**6).map(lambda seed: random_code(seed, 60, sorted(RING)))


def random_code(seed: int, size: int, names: Sequence[str] = (*BOUNDED, "lt", "le")) -> Code:
    """A code with every operation about equally often; arguments are rather young values."""
    rng = np.random.default_rng(seed)
    picks = [names[k % len(names)] for k in rng.permutation(size)]
    reach = rng.geometric(0.1, size=(size, 3)) - 1
    return [(op, *(int(x) for x in row)) for op, row in zip(picks, reach, strict=True)]


def values_of(
    code: Code, inputs: Sequence[Any], number: Callable[[float], Any] = float, table: Mapping[str, Any] = RING
) -> list[Any]:
    """All values that a code computes; places count from the youngest value."""
    values = [*(number(x) for x in CONSTANTS), *inputs]
    start = len(values)
    for op, *places in code:
        args = [values[-1 - place % len(values)] for place in places]
        if op in CONDITIONS:
            x, y = inputs[places[0] % len(inputs)], inputs[places[1] % len(inputs)]
            values.append(ops.where(CONDITIONS[op](x, 0.25 if x is y else y), args[1], args[2]))
        else:
            values.append(table[op](*args))
    return values[start:]


class Residue:
    """A number of the finite field."""

    def __init__(self, value: int | float) -> None:
        exact = Fraction(value)
        self.value = exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME

    def __add__(self, other: Residue) -> Residue:
        return Residue(self.value + other.value)

    def __sub__(self, other: Residue) -> Residue:
        return Residue(self.value - other.value)

    def __mul__(self, other: Residue) -> Residue:
        return Residue(self.value * other.value)

    def __neg__(self) -> Residue:
        return Residue(-self.value)


INTERPRETED: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "neg": lambda a: -a,
    "fma": lambda a, b, c: a * b + c, "fms": lambda a, b, c: a * b - c, "fnma": lambda a, b, c: c - a * b,
}  # fmt: skip


def interpreted(instructions: Sequence[tuple[str, tuple[Any, ...]]], inputs: Sequence[Residue]) -> list[Residue]:
    """The value of every instruction; an argument that comes too late is an error."""
    values: list[Residue] = []
    for op, args in instructions:
        if op == "input":
            values.append(inputs[args[0]])
        elif op == "const":
            values.append(Residue(args[0]))
        else:
            assert all(0 <= x < len(values) for x in args)
            values.append(INTERPRETED[op](*(values[x] for x in args)))
    return values


def outputs_of(program: Program, inputs: Sequence[Residue]) -> list[int]:
    """The entries of all outputs, in row order."""
    values = interpreted(program.instructions, inputs)
    slots = [values[i].value for i in program.slots]
    entries = [entry for layout in program.layout for entry in layout]
    return [slots[x] if x >= 0 else Residue(program.numbers[-1 - x]).value for x in entries]


# --- kernels


def recipe_of(function: Callable[..., Any], *shapes: tuple[int, ...], name: str = "example") -> Recipe:
    """The recipe of a function of arrays of these shapes."""

    def program() -> Program:
        inputs = [ops.symbols(f"x{k}", shape) for k, shape in enumerate(shapes)]
        found = function(*inputs)
        return trace(inputs, list(found) if isinstance(found, tuple) else [ops.array(found)])

    names = tuple(f"x{k}" for k in range(len(shapes)))
    return Recipe(name, "nobody", names, (), shapes, program)


def kernel_of(function: Callable[..., Any], *shapes: tuple[int, ...], **options: Any) -> Kernel:
    """The kernel of a function of arrays of these shapes."""
    return Kernel(recipe_of(function, *shapes), **options)


def runner_of(function: Callable[..., Any], build: Build, *shapes: tuple[int, ...]) -> BatchRunner:
    """A build of the kernel of a function of arrays of these shapes."""
    return BatchRunner(make(recipe_of(function, *shapes), build), ())


def run(runner: BatchRunner, *inputs: np.ndarray, threads: int = 1) -> list[np.ndarray]:
    """The outputs (n, …) of rows (n, …)."""
    outputs = [np.empty((len(inputs[0]), *shape), inputs[0].dtype) for shape in runner.artifact.output_shapes]
    runner.rows(inputs, outputs, len(inputs[0]), threads)
    return outputs


# --- robots


class States(NamedTuple):
    """Rows of q, v, a, tau, and wrenches on all bodies."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    external: np.ndarray


@lru_cache(maxsize=16)
def robot_named(name: str, mimic: str = "coupling") -> Robot:
    """A robot of the zoo, or "all kinds": a floating tree with joints of every kind and drives with inertia."""
    return armed() if name == "all kinds" else named(name, mimic)


def states(robot: Robot, n: int, seed: int = 0) -> States:
    """Random states."""
    rng = np.random.default_rng(seed)
    moves = rng.uniform(-1.5, 1.5, (n, robot.nv))
    q = np.array([pin.integrate(robot.model, np.array(robot.neutral), move) for move in moves])
    v, a, tau = rng.standard_normal((3, n, robot.nv))
    return States(q, v, a, tau, rng.standard_normal((n, robot.tree.n, 6)))


__all__ = [
    "BOUNDED",
    "INTERPRETED",
    "PRIME",
    "Residue",
    "States",
    "interpreted",
    "kernel_of",
    "outputs_of",
    "polynomials",
    "random_code",
    "recipe_of",
    "robot_named",
    "run",
    "runner_of",
    "states",
    "values_of",
]
