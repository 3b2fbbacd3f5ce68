"""One algorithm text for numbers and for symbols.

Algorithms are written in plain numpy array code and call these functions where numpy alone would not do. Numbers are
float arrays; symbols are numpy *object* arrays whose entries are `Symbol`s, nodes of an expression graph (or floats,
for entries that are known). Shapes, slices, `@` and `.T` are numpy's in both cases, so the text that runs on numbers is
the text that is traced. Exact zeros and ones fold while tracing. `to_sx` and `function` hand traced arrays to CasADi.

    x = ops.symbols("x", 3)            # object array of symbols
    f = ops.function("f", [x], [R(x)]) # a CasADi function of it
"""

from surefoot.ops.derivative import gradient, rate
from surefoot.ops.functions import (
    Array,
    absolute,
    arccos,
    arctan2,
    array,
    concatenate,
    cos,
    cross,
    exp,
    eye,
    is_symbolic,
    less,
    log,
    maximum,
    minimum,
    norm,
    sin,
    solve,
    solve_symmetric,
    sqrt,
    stack,
    symbols,
    tan,
    where,
    zeros,
)
from surefoot.ops.symbol import Symbol, function, to_sx

__all__ = [
    "Array",
    "Symbol",
    "absolute",
    "arccos",
    "arctan2",
    "array",
    "concatenate",
    "cos",
    "cross",
    "exp",
    "eye",
    "function",
    "gradient",
    "is_symbolic",
    "less",
    "log",
    "maximum",
    "minimum",
    "norm",
    "rate",
    "sin",
    "solve",
    "solve_symmetric",
    "sqrt",
    "stack",
    "symbols",
    "tan",
    "to_sx",
    "where",
    "zeros",
]
