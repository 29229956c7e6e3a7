"""Files of volumes, points, meshes and pictures, by the library's readers."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _abi as c
from ._library import TYPES, InvalidArgument, Owner, as_array, context_of, lib, numbers, path_of, scalar_type, wrap
from .images import _picture, _view
from .surface import Mesh, _geometry_of, grid_of

if TYPE_CHECKING:
    from ._types import Array, ArrayLike, Context, Path

_DTYPES = {kind: np.dtype(name) for name, kind in TYPES.items() if name != "b1"}


def _address(pointer):
    return ctypes.cast(pointer, ctypes.c_void_p).value


def _owned(context, name, struct):
    handle = context._handle
    return Owner(context, lambda: getattr(lib, name)(handle.pointer, struct))


class Volume:
    """values[z, y, x]; spacing, origin, direction in x, y, z; slope and intercept of physical values; format."""

    values: Array
    format: str
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]
    direction: Array
    slope: float
    intercept: float

    def __init__(self, values: Array, struct: Any) -> None:
        self.values, self.format = values, struct.format.decode()
        self.spacing, self.origin = tuple(struct.grid.spacing), tuple(struct.grid.origin)
        self.direction = np.array(struct.grid.direction).reshape(3, 3)
        self.slope, self.intercept = struct.slope, struct.intercept

    @property
    def geometry(self) -> dict[str, Any]:
        """For surface(volume.values, iso, **volume.geometry)."""
        return {"spacing": self.spacing, "origin": self.origin, "direction": self.direction}


def load_volume(path: Path, frame: int = 0, context: Context | None = None) -> Volume:
    """Reads NRRD, NIfTI, MetaImage, MRC, NPY, VTK, VTI, TIFF, DICOM or raw (name_256x256x128_uint8.raw).

    >>> import numpy as np, tempfile, trommel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trommel.save_volume(folder + "/v.nrrd", np.zeros((2, 3, 4), "u1"), spacing=(1, 1, 2.5))
    ...     volume = trommel.load_volume(folder + "/v.nrrd")
    >>> volume.values.shape, volume.spacing
    ((2, 3, 4), (1.0, 1.0, 2.5))
    """
    context, struct = context_of(context), c.tml_volume()
    context.call("volume_load", path_of(path), c.tml_volume_load_desc(frame=frame), struct)
    owner = _owned(context, "tml_volume_free", struct)
    shape = tuple(reversed(struct.grid.dims))
    return Volume(wrap(_address(struct.data), shape, _DTYPES[struct.type], owner), struct)


def save_volume(path: Path, volume: Any, *, spacing: ArrayLike | None = None, origin: ArrayLike | None = None,
                direction: ArrayLike | None = None, context: Context | None = None) -> None:
    """Writes NRRD, MetaImage (.mha), NPY or raw, by the name's ending; the last two hold samples alone. volume: a
    Volume, an array[z, y, x], or an image of nibabel's or SimpleITK's; spacing, origin, direction in x, y, z. Example:
    load_volume."""
    struct = c.tml_volume(slope=1.0)
    if isinstance(volume, Volume):
        spacing, origin, direction = (given if given is not None else own for given, own in zip(
            (spacing, origin, direction), (volume.spacing, volume.origin, volume.direction)))
        struct.slope, struct.intercept, volume = volume.slope, volume.intercept, volume.values
    volume, spacing, origin, direction = _geometry_of(volume, spacing, origin, direction)
    samples = as_array(volume, "volume", None, 3)
    struct.grid = grid_of(samples.shape, 1.0 if spacing is None else spacing, origin,
                          np.eye(3) if direction is None else direction)
    struct.data, struct.size, struct.type = samples.ctypes.data, samples.nbytes, scalar_type(samples.dtype)
    context_of(context).call("volume_save", path_of(path), struct)


def load_mesh(path: Path, weld: bool | None = None, context: Context | None = None) -> Mesh:
    """Reads OBJ, PLY, STL, OFF, glTF or VTP; polygons are cut into triangles. weld: True or False; None: STL.

    >>> import tempfile, trommel
    >>> triangle = trommel.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     triangle.save(folder + "/t.ply")
    ...     trommel.load_mesh(folder + "/t.ply")
    <trommel.Mesh of 3 vertices, 1 triangles>
    """
    context, struct = context_of(context), c.tml_mesh_file()
    kinds = {None: c.TML_WELD_AUTO, True: c.TML_WELD_ALWAYS, False: c.TML_WELD_NEVER}
    context.call("mesh_load", path_of(path), c.tml_mesh_load_desc(weld=kinds[weld]), struct)
    owner, mesh = _owned(context, "tml_mesh_file_free", struct), struct.mesh

    def rows(pointer, count, columns, dtype):
        return wrap(_address(pointer), (count, columns), dtype, owner) if pointer else None

    normals = rows(mesh.normals, mesh.vertex_count, 3, np.float32)
    values = rows(mesh.values, mesh.vertex_count, 1, np.float32)
    vertices = rows(mesh.positions, mesh.vertex_count, 3, np.float32)
    faces = rows(mesh.indices, mesh.triangle_count, 3, np.uint64 if mesh.indices64 else np.uint32)
    empty = np.empty((0, 3), np.float32)
    return Mesh(empty if vertices is None else vertices, empty.astype(np.uint32) if faces is None else faces,
                normals, None if values is None else values[:, 0], origin=tuple(mesh.origin))


class Points:
    """positions (float32, relative to origin), radii and values, or None."""

    def __init__(self, positions: Array, radii: Array | None, values: Array | None, origin: tuple[float, ...]) -> None:
        self.positions, self.radii, self.values, self.origin = positions, radii, values, origin


def load_points(path: Path, context: Context | None = None) -> Points:
    """Reads PLY, XYZ, CSV, PCD, LAS, VTK, VTU or BGEO.

    >>> import tempfile, trommel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trommel.save_points(folder + "/p.ply", [[0, 0, 0], [1, 2, 3]], values=[5, 7])
    ...     points = trommel.load_points(folder + "/p.ply")
    >>> points.positions[1].tolist(), points.values.tolist()
    ([1.0, 2.0, 3.0], [5.0, 7.0])
    """
    context, struct = context_of(context), c.tml_points()
    context.call("points_load", path_of(path), c.tml_points_load_desc(), struct)
    owner = _owned(context, "tml_points_free", struct)
    return Points(wrap(_address(struct.positions), (struct.count, 3), np.float32, owner),
                  wrap(_address(struct.radii), (struct.count,), np.float32, owner) if struct.radii else None,
                  wrap(_address(struct.values), (struct.count,), np.float32, owner) if struct.values else None,
                  tuple(struct.origin))


def save_points(path: Path, points: Any, radii: ArrayLike | None = None, values: ArrayLike | None = None, *,
                origin: ArrayLike | None = None, context: Context | None = None) -> None:
    """Writes PLY. points: Points, or positions (n x 3) relative to origin; radii, values: one a point. Example:
    load_points."""
    if isinstance(points, Points):
        radii, values = points.radii if radii is None else radii, points.values if values is None else values
        points, origin = points.positions, points.origin if origin is None else origin
    positions, rows = as_array(points, "points", np.float32, 2, 3), {}
    struct = c.tml_points(count=len(positions), origin=numbers((0, 0, 0) if origin is None else origin, 3, "origin"))
    for name, column in (("positions", positions), ("radii", radii), ("values", values)):
        if column is None:
            continue
        rows[name] = positions if name == "positions" else as_array(column, name, np.float32, 1)
        if len(rows[name]) != len(positions):
            raise InvalidArgument("INVALID_ARGUMENT", f"{name} has {len(rows[name])} rows, needs {len(positions)}, as "
                                  "points has")
        setattr(struct, name, rows[name].ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
    context_of(context).call("points_save", path_of(path), struct)


def load_picture(path: Path, context: Context | None = None) -> Array:
    """Reads Radiance, PFM, PNG, JPEG or OpenEXR: an array of height x width (x channels).

    >>> import numpy as np, tempfile, trommel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trommel.save_picture(folder + "/p.png", np.array([[0, 255]], "u1"))
    ...     trommel.load_picture(folder + "/p.png")
    array([[  0, 255]], dtype=uint8)
    """
    context, struct = context_of(context), c.tml_picture()
    context.call("picture_load", path_of(path), 0, struct)
    owner = _owned(context, "tml_picture_free", struct)
    shape = (struct.height, struct.width) + ((struct.channels,) if struct.channels > 1 else ())
    return wrap(_address(struct.data), shape, _DTYPES[struct.type], owner)


def save_picture(path: Path, image: ArrayLike, srgb: bool | None = None, context: Context | None = None) -> None:
    """Writes PNG (integers), PFM, Radiance .hdr or OpenEXR (floats), by the name's ending. Example: load_picture."""
    image = _picture(image)
    view = _view(image, c.tml_buffer(), srgb)
    struct = c.tml_picture(data=image.ctypes.data, size=image.nbytes, type=scalar_type(image.dtype),
                           width=view.width, height=view.height, channels=view.channels, srgb=view.srgb)
    context_of(context).call("picture_save", path_of(path), struct)
