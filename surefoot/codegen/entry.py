"""Makes built-in functions of the interpreter out of compiled kernels (`drivers.entry_point`)."""

from __future__ import annotations

import ctypes
import functools
import importlib
import platform
import struct
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.codegen.artifact import cached_code
from surefoot.codegen.llvm import load_object
from surefoot.codegen.spec import Spec

_FASTCALL, _KEYWORDS, _NOARGS = 0x0080, 0x0002, 0x0004
_NEW_ARRAY = 184  # PyArray_Empty in numpy's table of functions
_OUT = sys.intern("out")
_INTERPRETER = {
    "incref": "Py_IncRef", "decref": "Py_DecRef", "call": "PyObject_Vectorcall", "release": "PyEval_SaveThread",
    "acquire": "PyEval_RestoreThread",
}  # fmt: skip


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


@functools.cache
def supported() -> bool:
    """Whether the interpreter and numpy have the object layouts that the machine code knows."""
    if platform.python_implementation() != "CPython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    array, text = np.zeros((2, 3)), b"surefoot"
    holder = (array, text)

    def word(thing: object, offset: int) -> int:
        return int(ctypes.c_uint64.from_address(id(thing) + offset).value)

    layout = [
        (word(holder, 16), 2), (word(holder, 24), id(array)), (word([array], 16), 1),
        (word(text, 32), int.from_bytes(text, "little")), (word(array, 8), id(np.ndarray)),
        (word(array, 16), array.ctypes.data), (word(array, 24) & 0xFFFFFFFF, 2), (word(array, 56), id(array.dtype)),
    ]  # fmt: skip
    return all(found == expected for found, expected in layout)


@functools.cache
def _functions() -> dict[str, int]:
    def text() -> str:
        from surefoot.codegen.drivers import entry_module

        return entry_module()

    return load_object(cached_code("entry", text), ("entry", "bound"))


@functools.cache
def _array_functions() -> Any:
    """Numpy's table of C functions."""
    umath = importlib.import_module("numpy._core._multiarray_umath")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = get(umath._ARRAY_API, None)
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))


@functools.cache
def _method(kind: str) -> _MethodDef:
    flags = _FASTCALL | _KEYWORDS if kind == "entry" else _NOARGS
    return _MethodDef(kind.encode(), _functions()[kind], flags, None)


def _builtin(kind: str, owner: tuple[Any, ...]) -> Callable[..., Any]:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., Any] = make(ctypes.byref(_method(kind)), owner, None)
    return made


def front_spec(
    shapes: Sequence[tuple[int, ...]], fallback: Callable[..., Any], result: Callable[..., Any], bare: bool
) -> Spec:
    """The table of an entry point; the specs of builds are linked in when they are there.

    Args:
        shapes: Shapes of the inputs of one state.
        fallback: Called with the same arguments where the plain case is not given.
        result: Makes the result of the output arrays.
        bare: Whether a single output array is the result itself.
    """
    front = Spec()
    front.set("inputs", len(shapes))
    for k, shape in enumerate(shapes):
        front.set("input_nd", len(shape), k)
        front.point("input_shape", np.array(shape, dtype=np.int64), k)
    front.set("array_type", id(np.ndarray))
    front.set("array_dtype", id(np.dtype(np.float64)))
    front.set("new_array", int(_array_functions()[_NEW_ARRAY]))
    front.set("fallback", id(fallback))
    front.set("result_type", id(result))
    front.set("bare", bare)
    front.set("none", id(None))
    front.set("out_name", id(_OUT))
    front.set("tuple_type", id(tuple))
    front.set("list_type", id(list))
    for name, function in _INTERPRETER.items():
        front.set(name, int(ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value or 0))
    return front


def entry_function(front: Spec, fallback: Callable[..., Any], result: Callable[..., Any]) -> Callable[..., Any]:
    """A built-in that runs kernels on plain arrays, and calls the fallback for anything else.

    Args:
        front: Made by `front_spec` with the same two functions, which the built-in keeps alive.
        fallback: As there.
        result: As there.
    """
    return _builtin("entry", (struct.pack("<Q", front.address), front, fallback, result))


def bound_function(front: Spec, inputs: Sequence[NDArray[Any]], outputs: Sequence[NDArray[Any]]) -> Callable[[], None]:
    """A built-in without arguments that reads these arrays and writes those, unchecked.

    Args:
        front: With a build for one state.
        inputs: Contiguous arrays of one state; kept alive.
        outputs: Contiguous arrays; kept alive.
    """
    arrays = (*inputs, *outputs)
    addresses = struct.pack(f"<{len(arrays)}Q", *(x.ctypes.data for x in arrays))
    return _builtin("bound", (struct.pack("<Q", front.address), addresses, front, arrays))
