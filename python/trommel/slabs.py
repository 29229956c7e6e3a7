"""Surfaces of volumes larger than memory."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _abi as c
from ._library import InvalidArgument, context_of, lib, path_of, scalar_type
from .objects import Samples, position_origin
from .surface import NORMALS, TOPOLOGIES, UPS, boundaries_of, choose, isovalues_of

if TYPE_CHECKING:
    from ._types import ArrayLike, Context, DTypeLike, Path

_FIELDS = dict(c.tml_surface_slabs_desc._fields_)
_CANCELLED = c.TML_ERROR_CANCELLED  # what really went wrong is raised in its place
_NO_READ, _NO_MAP = _FIELDS["read"](), _FIELDS["map"]()


class _Slabs:
    """The callbacks of a call. They run in threads of the library's; the first thing that one raises is kept."""

    def __init__(self, volume, shape, dtype, context):
        self.shape, self.dtype, self.context = shape, dtype, context
        self.raised, self.layer_bytes = None, shape[1] * shape[2] * dtype.itemsize
        self.volume, self.layers = volume, None if hasattr(volume, "__getitem__") else iter(volume)

    def guard(self, function):
        def guarded(*arguments):
            try:
                return self.context._handle.hook.run(function, *arguments) or 0
            except BaseException as error:  # pylint: disable=broad-except
                self.raised = self.raised or error
                return _CANCELLED
        return guarded

    def map(self, _user, _source, first, _count, out):
        out[0] = self.volume.__array_interface__["data"][0] + first * self.layer_bytes

    def read(self, _user, _source, first, count, out):
        size = count * self.layer_bytes
        memory = np.frombuffer((ctypes.c_char * size).from_address(out), self.dtype).reshape(count, *self.shape[1:])
        if self.layers is None:
            memory[:] = self.volume[first:first + count]
            return
        for k in range(count):  # each layer is asked for once, in order
            layer = next(self.layers, None)
            if layer is None or np.shape(layer) != self.shape[1:]:
                raise InvalidArgument("INVALID_ARGUMENT", f"layer {first + k} is "
                                      f"{'missing' if layer is None else np.shape(layer)}, needs {self.shape[1:]}")
            memory[k] = layer


def _source(volume, shape, dtype):
    if np.ma.is_masked(volume):
        raise InvalidArgument("INVALID_ARGUMENT", "volume is a masked array, whose mask would be lost; pass what "
                              "its .filled(value) gives")
    if hasattr(volume, "shape") and hasattr(volume, "dtype") and hasattr(volume, "__getitem__"):
        shape, dtype = volume.shape, np.dtype(volume.dtype)
    if shape is None or dtype is None or len(shape) != 3:
        raise InvalidArgument("INVALID_ARGUMENT", "volume: of layers one by one, shape (layers, rows, columns) and dtype "
                              "have to be given")
    return tuple(map(int, shape)), np.dtype(dtype).newbyteorder("=")


def _to_file(path, volume, shape, dtype, context, memory, up, base, desc, quads=False, **of_mesh):
    """What tml_surface_save makes. desc, which of_mesh names surface or boundaries."""
    slabs, saved = _Slabs(volume, shape, dtype, context), c.tml_surface_saved()
    is_memory = isinstance(volume, np.ndarray) and volume.flags.c_contiguous and volume.dtype == dtype and \
        volume.dtype.isnative
    save = c.tml_surface_save_desc(
        slabs=c.tml_surface_slabs_desc(
            type=scalar_type(dtype), memory=memory, components=not quads,
            read=_NO_READ if is_memory else _FIELDS["read"](slabs.guard(slabs.read)),
            map=_FIELDS["map"](slabs.guard(slabs.map)) if is_memory else _NO_MAP, **of_mesh),
        file=c.tml_mesh_stream_desc(mesh=c.tml_mesh(up=choose(UPS, "up", up),
                                                    origin=tuple(map(sum, zip(base, desc.position_origin))))),
        count_first=is_memory and not isinstance(volume, np.memmap), keep_empty=True)
    try:
        context.call("surface_save", path_of(path), save, saved)
    except Exception as error:
        raise slabs.raised or error from None
    result = saved.surface
    counts = {"vertices": result.vertex_count, "quads" if quads else "triangles": result.triangle_count}
    if not quads:
        counts["components"] = result.components
    with context._handle:
        lib.tml_surface_saved_free(context._handle.pointer, saved)
    return counts


def surface_to_file(path: Path, volume: Any, iso: float | str, *, shape: Sequence[int] | None = None,
                    dtype: DTypeLike | None = None, spacing: ArrayLike | None = None, origin: ArrayLike | None = None,
                    direction: ArrayLike | None = None, slope: float | None = None, intercept: float | None = None,
                    normals: str | None = "central",
                    topology: str = "separated", caps: bool = False, flip: bool = False, soup: bool = False,
                    up: str | None = None, memory: int = 0, context: Context | None = None) -> dict[str, int]:
    """Writes the isosurface of a volume of any size to a mesh file, slab by slab: neither is ever whole in memory.

    path     PLY, STL, OBJ, GLB or VTP, by its ending
    volume   a Volume; an array, np.memmap among them; anything with shape, dtype and slices (zarr, h5py); or layers one
             by one, from z = 0 on, with shape and dtype given
    iso      one physical isovalue; "auto", otsu's, of what is in memory
    memory   bytes that samples and a piece of the mesh may take; 0: 1 GiB
    The rest as in surface(). Returns a dict: vertices, triangles, components.

    >>> import numpy as np, tempfile, trommel
    >>> x = np.linspace(-1, 1, 32)
    >>> layers = (0.7 - np.sqrt(z**2 + x[:, None]**2 + x**2) for z in x)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trommel.surface_to_file(folder + "/ball.ply", layers, 0, shape=(32, 32, 32), dtype="f8")["components"]
    1
    """
    samples = Samples(volume, spacing, origin, direction, slope, intercept)
    volume = samples.values
    shape, dtype = _source(volume, shape, dtype)
    context = context_of(context)
    stored = isovalues_of(samples, iso, context)[1]
    if len(stored) != 1:
        raise InvalidArgument("INVALID_ARGUMENT", f"iso is {len(stored)} numbers, needs one")
    desc = c.tml_surface_desc(grid=samples.grid(shape), iso=stored[0], soup=soup,
                              normals=choose(NORMALS, "normals", normals),
                              topology=choose(TOPOLOGIES, "topology", topology), caps=caps,
                              flip=flip != (samples.slope < 0))
    desc.position_origin = position_origin(desc.grid)
    return _to_file(path, volume, shape, dtype, context, memory, up, samples.base, desc, surface=ctypes.pointer(desc))


def labels_to_file(path: Path, volume: Any, *, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None,
                   labels: ArrayLike | None = None, background: int = 0, between: ArrayLike | None = None,
                   inner: bool = False, caps: bool = False, smooth: int = 0, relaxation: float = 0.5,
                   bound: float = 1.0, quads: bool = False, spacing: ArrayLike | None = None,
                   origin: ArrayLike | None = None, direction: ArrayLike | None = None, slope: float | None = None,
                   intercept: float | None = None, up: str | None = None, memory: int = 0, context: Context | None = None) -> dict[str, int]:
    """Writes the boundaries between the labels of a volume of any size to a mesh file, as surface_to_file() does.

    quads    faces of four corners, in PLY, OBJ or VTP
    The rest as in surface_labels() and surface_to_file(). Returns a dict: vertices, and triangles and components or quads.

    >>> import numpy as np, tempfile, trommel
    >>> layers = (np.full((8, 8), z // 4, np.uint8) for z in range(8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trommel.labels_to_file(folder + "/two.ply", layers, shape=(8, 8, 8), dtype="u1", quads=True)
    {'vertices': 49, 'quads': 36}
    """
    samples = Samples(volume, spacing, origin, direction, slope, intercept)
    volume = samples.values
    if not samples.is_physical() or (isinstance(volume, np.ndarray) and volume.dtype.kind in "fb" and volume.ndim == 3):
        volume = samples.labels(context_of(context))  # whole, in memory
    shape, dtype = _source(volume, shape, dtype)
    desc = boundaries_of(shape, dtype, labels, between, background, grid=samples.grid(shape),
                         inner_only=inner, caps=caps, smooth=smooth, relaxation=relaxation, bound=bound, quads=quads)
    return _to_file(path, volume, shape, dtype, context_of(context), memory, up, samples.base, desc, quads,
                    boundaries=ctypes.cast(ctypes.pointer(desc), ctypes.c_void_p))
