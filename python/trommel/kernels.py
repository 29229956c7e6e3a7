"""Kernels of one's own, in the language of <trommel/kernel.h>, and maps."""
from __future__ import annotations

import ctypes
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _abi as c
from ._library import Buffers, InvalidArgument, Unsupported, as_array, context_of

if TYPE_CHECKING:
    from ._types import Array, ArrayLike, Context

_SCALARS = {"float": c.TML_F32, "int": c.TML_I32, "uint": c.TML_U32, "double": c.TML_F64, "int64": c.TML_I64,
            "uint64": c.TML_U64}
_VECTORS = {f"{name}{n}": kind | n << 8 for name, kind in (("vec", c.TML_F32), ("uvec", c.TML_U32)) for n in (2, 3, 4)}
_PARAMS = {**_SCALARS, **_VECTORS, "tml_words": c.TML_PARAM_WORDS, "tml_index": c.TML_PARAM_INDEX,
           "tml_rank": c.TML_PARAM_RANK, "tml_params": c.TML_PARAM_PARAMS}
_RESULTS = {**_SCALARS, **_VECTORS, "bool": c.TML_U8}
_DTYPES = {"float": "f4", "int": "i4", "uint": "u4", "double": "f8", "int64": "i8", "uint64": "u8", "bool": "?"}
_SIGNATURE = re.compile(r"\s*(\w+)\s+([A-Za-z_]\w*)\s*\(([^()]*)\)\s*(\{.*\})\s*\Z", re.DOTALL)
_SOURCE = """#include <trommel/kernel.h>
#include <trommel/kernel_begin.h>
{library}
TML_KERNEL{uses}{result}, {name}, ({params}), {body})
#include <trommel/kernel_end.h>
__attribute__((visibility("default"))) void trommel_run(const tml_kernel_block *block);
void trommel_run(const tml_kernel_block *block)
{{
    {name}_kernel.run(block);
}}
"""


class Kernel:
    """A function for each element, written once for every engine: the common subset of C and GLSL that
    <trommel/kernel.h> describes.

    text     one function: "bool is_large(float x, tml_params p) { return x > p.f[0]; }"
    library  functions that it calls: "FUNCTION(float) twice(float x) { return 2.0f * x; }"

    The CPU engine needs a C compiler (cc, or what CC says), at the first use of a text alone: what it makes is kept
    in $XDG_CACHE_HOME/trommel. GPUs compile by their drivers (Vulkan: where libshaderc is).

    >>> import trommel
    >>> large = trommel.Kernel("bool is_large(float x, tml_params p) { return x > p.f[0]; }")
    >>> trommel.compact([1.0, 5.0, 2.0, 7.0], large, f=[3])
    array([5., 7.], dtype=float32)
    """

    def __init__(self, text: str, library: str | None = None) -> None:
        found = _SIGNATURE.match(text)
        if not found or found.group(1) not in _RESULTS:
            raise InvalidArgument("INVALID_ARGUMENT", "kernel: needs one function, \"RESULT NAME(PARAMETERS) { ... }\", "
                                  f"whose result is one of {', '.join(_RESULTS)}")
        result, self.name, params, body = found.groups()
        self._parts = {"result": result, "name": self.name, "params": params, "body": body,
                       "library": f"TML_LIBRARY(own, {library})" if library else "",
                       "uses": "_WITH(own, " if library else "("}
        kinds = [words.split()[0] for words in params.split(",") if words.split()]
        for kind in kinds:
            if kind not in _PARAMS:
                raise InvalidArgument("INVALID_ARGUMENT", f"kernel {self.name}: a parameter is of type {kind}, needs one "
                                      f"of {', '.join(_PARAMS)}")
        if not 1 <= len(kinds) <= c.TML_MAX_PARAMS:
            raise InvalidArgument("INVALID_ARGUMENT", f"kernel {self.name}: has {len(kinds)} parameters, needs 1 to "
                                  f"{c.TML_MAX_PARAMS}")
        self.result = result
        self.arrays = [kind for kind in kinds if kind in _SCALARS or kind in _VECTORS or kind == "tml_words"]
        self._struct = c.tml_kernel(name=self.name.encode(), glsl=f"{result} {self.name}({params}) {body}".encode(),
                                    result=_RESULTS[result], param_count=len(kinds),
                                    library=library.encode() if library else None)
        for p, kind in enumerate(kinds):
            self._struct.params[p] = _PARAMS[kind]
        self._struct.run = type(self._struct.run)(lambda block: None)  # GPUs do not call it, but ask for one
        self._compiled: Any = None

    def __repr__(self) -> str:
        return f"<trommel.Kernel {self._parts['result']} {self.name}({self._parts['params']})>"

    def pointer(self, context: Context) -> Any:
        """The kernel for an engine; compiles it for the CPU."""
        if context.engine == "cpu" and self._compiled is None:
            self._compiled = ctypes.CDLL(str(self._compile()))
            self._struct.run = ctypes.cast(self._compiled.trommel_run, type(self._struct.run))
        return ctypes.pointer(self._struct)

    def _compile(self):
        text = _SOURCE.format(**self._parts)
        include = pathlib.Path(__file__).parent / "include"
        if not include.is_dir():  # a checkout
            include = pathlib.Path(__file__).parents[2] / "include"
        compiler = shlex.split(os.environ.get("CC", "cc"))
        command = [*compiler, "-O3", "-shared", "-fPIC", "-ffp-contract=off", "-fno-math-errno",
                   "-fno-trapping-math", "-fvisibility=hidden", "-w", "-I", str(include), "-x", "c"]
        key = hashlib.sha256("\0".join([text, *command, str(c.TML_VERSION)]).encode()).hexdigest()[:32]
        home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        folder = pathlib.Path(home) / "trommel" / "python"
        kept = folder / f"{key}.so"
        if kept.exists():
            return kept
        if not shutil.which(compiler[0]):
            raise Unsupported("UNSUPPORTED", f"kernel {self.name}: the CPU engine needs a C compiler, and {compiler[0]} "
                              "is not there; install one, set CC, or use a context of \"vulkan\" or \"gl\"")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as own:  # renamed when it is complete
            made = pathlib.Path(own) / "kernel.so"
            done = subprocess.run([*command, "-", "-o", str(made), "-lm"], input=text, capture_output=True, text=True,
                                  check=False)
            if done.returncode:
                raise InvalidArgument("INVALID_ARGUMENT", f"kernel {self.name}: {done.stderr.strip()}")
            os.replace(made, kept)
        return kept


def kernel_params(f=(), u=(), m=None):
    """tml_params of up to four floats, four unsigned integers, and a matrix of 4 rows and columns."""
    if len(f) > 4 or len(u) > 4:
        raise InvalidArgument("INVALID_ARGUMENT", f"f has {len(f)} and u {len(u)} numbers, need at most 4 each")
    matrix = np.zeros((4, 4), np.float32) if m is None else as_array(m, "m").astype(np.float32)
    if matrix.shape != (4, 4):
        raise InvalidArgument("INVALID_ARGUMENT", f"m has the shape {matrix.shape}, needs (4, 4)")
    return c.tml_params(f=tuple(f), u=tuple(u), m=tuple(matrix.T.ravel().tolist()))


def kernel_inputs(kernel, arrays):
    """The arrays of a kernel's parameters, of the types that it takes."""
    arrays = list(arrays)
    if len(arrays) != len(kernel.arrays):
        raise InvalidArgument("INVALID_ARGUMENT", f"kernel {kernel.name} takes {len(kernel.arrays)} arrays, "
                              f"{len(arrays)} are given")
    out = []
    for array, kind in zip(arrays, kernel.arrays):
        array = as_array(array, f"an array of kernel {kernel.name}")
        if kind == "float" and array.dtype not in (np.float16, np.float32):
            array = array.astype(np.float32)
        elif kind in ("int", "uint") and array.dtype.kind in "iu" and array.itemsize == 8:
            array = array.astype(np.int32 if kind == "int" else np.uint32)
        elif kind.startswith("vec") and array.dtype == np.float64:
            array = array.astype(np.float32)
        elif array.dtype == bool:
            array = array.view(np.uint8)
        out.append(array)
    return out


def map(kernel: Kernel, *arrays: ArrayLike, f: Sequence[float] = (),  # pylint: disable=redefined-builtin
        u: Sequence[int] = (), m: ArrayLike | None = None, length: int | None = None,
        context: Context | None = None) -> Array:
    """An array of what a kernel makes of each element: float64 arrays are rounded to float32 where it takes floats.
    length: how many, of a kernel that takes no elements. m: a 4x4 matrix for transform4(p.m, v), which is m @ v.

    >>> import trommel
    >>> square = trommel.Kernel("float square(float x) { return x * x; }")
    >>> trommel.map(square, [1, 2, 3.5])
    array([ 1.  ,  4.  , 12.25], dtype=float32)
    """
    arrays = kernel_inputs(kernel, arrays)
    elements = [len(a) for a, kind in zip(arrays, kernel.arrays) if kind != "tml_words"]
    count = length if length is not None else min(elements, default=0)
    if elements and min(elements) < count:
        raise InvalidArgument("INVALID_ARGUMENT", f"length is {count}, and an array has {min(elements)} elements")
    vector = int(kernel.result[-1]) if kernel.result in _VECTORS else None
    out = np.empty(count if vector is None else (count, vector),
                   _DTYPES.get(kernel.result, "u4" if kernel.result.startswith("uvec") else "f4"))
    context = context_of(context)
    with Buffers(context) as buffers:
        desc = c.tml_map_desc(kernel=kernel.pointer(context), params=kernel_params(f, u, m),
                              length=c.tml_length(count=count, exact=True))
        desc.out[0] = buffers.output(out.view(np.uint8) if out.dtype == bool else out)
        for k, array in enumerate(arrays):
            getattr(desc, "in")[k] = buffers.input(array)
        context.call("map", desc)
    return out
