"""FATROP's C interface in CasADi's wheel, as `ctypes` sees it (fatrop/ocp/OCPCInterface.h, blasfeo_common.h)."""

from __future__ import annotations

import ctypes as c
from functools import cache
from pathlib import Path
from typing import Any

from surefoot.errors import NotSupportedError
from surefoot.solvers.staged.ipopt import casadi_module

_INTS, _DOUBLES, _ANY = c.POINTER(c.c_int), c.POINTER(c.c_double), c.c_void_p


class Matrix(c.Structure):
    """blasfeo_dmat."""

    _fields_ = [("mem", _ANY), ("pA", _ANY), ("dA", _ANY)] + [
        (name, c.c_int) for name in ("m", "n", "pm", "cn", "use_dA", "memsize")
    ]


class Vector(c.Structure):
    """blasfeo_dvec."""

    _fields_ = [("mem", _ANY), ("pa", _ANY), ("m", c.c_int), ("pm", c.c_int), ("memsize", c.c_int)]


class Dims(c.Structure):
    """FatropOcpCDims."""

    _fields_ = (
        [(name, _INTS) for name in ("ux_offs", "g_offs", "dyn_offs", "dyn_eq_offs", "g_ineq_offs", "ineq_offs")]
        + [(name, c.c_int) for name in ("max_nu", "max_nx", "max_ng", "max_ngineq", "n_ineqs", "K")]
        + [(name, _INTS) for name in ("nu", "nx", "ng", "ng_ineq")]
    )


class Stats(c.Structure):
    """FatropOcpCStats."""

    _fields_ = [
        (name, c.c_double)
        for name in ("step", "duinf", "hessian", "jacobian", "violation", "gradient", "objective", "start", "total")
    ] + [
        (name, c.c_int)
        for name in ("hessians", "jacobians", "violations", "gradients", "objectives", "iterations", "flag")
    ]


DIM_K, DIM = c.CFUNCTYPE(c.c_int, c.c_int, _ANY), c.CFUNCTYPE(c.c_int, _ANY)
GET, BOUNDS = c.CFUNCTYPE(c.c_int, _DOUBLES, c.c_int, _ANY), c.CFUNCTYPE(c.c_int, _DOUBLES, _DOUBLES, c.c_int, _ANY)
HESSIAN = c.CFUNCTYPE(c.c_int, c.c_double, _ANY, _ANY, _ANY, _ANY, c.POINTER(Matrix), c.POINTER(Dims), _ANY)
JACOBIAN = c.CFUNCTYPE(c.c_int, _ANY, _ANY, _ANY, *[c.POINTER(Matrix)] * 3, c.POINTER(Dims), _ANY)
VIOLATION = c.CFUNCTYPE(c.c_int, _ANY, _ANY, _ANY, _ANY, c.POINTER(Dims), _ANY)
COST = c.CFUNCTYPE(c.c_int, c.c_double, _ANY, _ANY, _ANY, _ANY, c.POINTER(Dims), _ANY)


class Interface(c.Structure):
    """FatropOcpCInterface; what stays empty is not used where whole-horizon functions return 1."""

    _fields_ = [
        ("get_nx", DIM_K), ("get_nu", DIM_K), ("get_ng", DIM_K), ("get_n_stage_params", DIM_K),
        ("get_n_global_params", DIM), ("stage_params", _ANY), ("global_params", _ANY), ("get_ng_ineq", DIM_K),
        ("get_horizon_length", DIM),
        *[(name, _ANY) for name in ("BAbt", "RSQ", "Ggt", "Ggt_ineq", "b", "g", "gineq", "rq", "L")],
        ("get_bounds", BOUNDS), ("get_initial_xk", GET), ("get_initial_uk", GET), ("hessian", HESSIAN),
        ("jacobian", JACOBIAN), ("violation", VIOLATION), ("gradient", COST), ("cost", COST), ("user", _ANY),
    ]  # fmt: skip


@cache
def libraries() -> tuple[Any, Any]:
    """FATROP and BLASFEO, with the types of the functions that are used."""
    folder = Path(casadi_module("fatrop").__file__).parent
    try:
        blasfeo = c.CDLL(str(folder / "libblasfeo.so"), mode=c.RTLD_GLOBAL)
        fatrop = c.CDLL(str(folder / "libfatrop.so"), mode=c.RTLD_GLOBAL)
    except OSError as error:
        raise NotSupportedError(
            "this build of CasADi has no FATROP library",
            evidence={"folder": folder},
            next_step="choose the solver `riccati` or `ipopt`",
        ) from error
    blasfeo.blasfeo_pack_dmat.argtypes = [c.c_int, c.c_int, _ANY, c.c_int, _ANY, c.c_int, c.c_int]
    fatrop.fatrop_ocp_c_create.restype, fatrop.fatrop_ocp_c_create.argtypes = _ANY, [_ANY, _ANY, _ANY]
    vector, stats, dims = (c.POINTER(kind) for kind in (Vector, Stats, Dims))
    results = {"solve": c.c_int, "get_stats": stats, "get_dims": dims, "get_primal": vector, "get_dual": vector}
    for name, back in (results | {"destroy": None}).items():
        function = getattr(fatrop, f"fatrop_ocp_c_{name}")
        function.argtypes, function.restype = [_ANY], back
    fatrop.fatrop_ocp_c_set_option_double.argtypes = [_ANY, c.c_char_p, c.c_double]
    fatrop.fatrop_ocp_c_set_option_int.argtypes = [_ANY, c.c_char_p, c.c_int]
    return fatrop, blasfeo
