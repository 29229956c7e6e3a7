"""Files of volumes, points, meshes and pictures, by the library's readers."""
from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _abi as c
from ._library import TYPES, InvalidArgument, Owner, as_array, context_of, lib, numbers, path_of, scalar_type, warn, wrap
from .images import _picture, _view
from .objects import Points, Samples, Volume, attribute_structs
from .surface import Mesh

if TYPE_CHECKING:
    from ._types import Array, ArrayLike, Context, DTypeLike, Path

_DTYPES = {kind: np.dtype(name) for name, kind in TYPES.items() if name != "b1"}


def _address(pointer):
    return ctypes.cast(pointer, ctypes.c_void_p).value


def _owned(context, name, struct):
    """Frees what a call puts into the struct, also where the call's warning is raised as an error."""
    handle = context._handle
    return Owner(context, lambda: getattr(lib, name)(handle.pointer, struct))


def load_volume(path: Path, frame: int | None = None, context: Context | None = None, *, strict: bool = False,
                spacing: ArrayLike | None = None, shape: ArrayLike | None = None, dtype: DTypeLike = None,
                skip: int = 0) -> Volume:
    """Reads NRRD, NIfTI, MetaImage, MRC, NPY, VTK, VTI, TIFF, DICOM or raw (name_256x256x128_uint8.raw).

    frame      which volume of a file of several, or which component, from 0 on; None: the first, and a warning where
               there are more
    strict     refuse a file of which something would be left out or assumed, in place of a trommel.Warning
    spacing    in x, y, z: in place of the file's
    shape, dtype, skip    of headerless files: samples along z, y and x; their type; bytes before the first

    >>> import numpy as np, tempfile, trommel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trommel.save_volume(folder + "/v.nrrd", np.zeros((2, 3, 4), "u1"), spacing=(1, 1, 2.5))
    ...     volume = trommel.load_volume(folder + "/v.nrrd")
    >>> volume.shape, volume.spacing
    ((2, 3, 4), (1.0, 1.0, 2.5))
    """
    context, struct = context_of(context), c.tml_volume()
    desc = c.tml_load_desc(frame=frame or 0, strict=strict, skip=skip)
    if spacing is not None:
        desc.spacing = numbers(spacing, 3, "spacing", scalar=True)
    if shape is not None:
        desc.dims = tuple(int(side) for side in reversed(numbers(shape, 3, "shape")))
    if dtype is not None:
        kind = np.dtype(dtype)
        desc.type = scalar_type(kind.newbyteorder("="))
        desc.big_endian = kind.newbyteorder(">") == kind and kind.itemsize > 1
    owner = _owned(context, "tml_volume_free", struct)
    context.call("volume_load", path_of(path), desc, struct)
    if frame is None and struct.frame_count > 1:
        message = f"{os.fsdecode(path_of(path))}: this is the first of {struct.frame_count} volumes or components; choose by frame="
        if strict:
            raise InvalidArgument("INVALID_ARGUMENT", message)
        warn(message)
    grid = struct.grid
    values = wrap(_address(struct.data), tuple(reversed(grid.dims)), _DTYPES[struct.type], owner)
    text = {name: getattr(struct, name).decode(errors="replace") for name in ("unit", "space", "format", "comment")}
    return Volume(values, tuple(grid.spacing), tuple(grid.origin), list(grid.direction), slope=struct.slope,
                  intercept=struct.intercept, frame=frame or 0, frame_count=struct.frame_count, **text)


def save_volume(path: Path, volume: Any, *, spacing: ArrayLike | None = None, origin: ArrayLike | None = None,
                direction: ArrayLike | None = None, slope: float | None = None, intercept: float | None = None,
                unit: str | None = None, context: Context | None = None) -> None:
    """Writes NRRD, MetaImage (.mha), NPY or raw, by the name's ending; the last two hold samples alone. volume: a
    Volume, an array[z, y, x], or an image of nibabel's or SimpleITK's; spacing, origin, direction in x, y, z. NRRD keeps
    samples as they are stored, with slope and intercept; in the others, which hold none, are physical values. Example:
    load_volume."""
    samples, struct = Samples(volume, spacing, origin, direction, slope, intercept), c.tml_volume(slope=1.0)
    values = as_array(samples.values, "volume", None, 3)
    if os.fsdecode(path_of(path)).lower().endswith((".nrrd", ".nhdr")):
        struct.slope, struct.intercept = samples.slope, samples.intercept
    elif not samples.is_physical():
        values = np.ascontiguousarray(samples.physical(values.astype(np.float64)))
    struct.grid = samples.grid(values.shape)
    if samples.spacing is None:
        struct.grid.spacing = (1.0, 1.0, 1.0)
    if samples.direction is None:
        struct.grid.direction = (1, 0, 0, 0, 1, 0, 0, 0, 1)
    if any(samples.base):
        struct.grid.origin = numbers(volume.origin, 3, "origin")
    struct.unit = _cut(samples.unit if unit is None else unit, 16)
    struct.space, struct.comment = _cut(getattr(volume, "space", ""), 32), _cut(getattr(volume, "comment", ""), 96)
    struct.data, struct.size, struct.type = values.ctypes.data, values.nbytes, scalar_type(values.dtype)
    context_of(context).call("volume_save", path_of(path), struct)


def _cut(text, room):
    """Text that fits, for a member of a struct."""
    return text.encode()[:room - 1].decode(errors="ignore").encode() if isinstance(text, str) else b""


def load_mesh(path: Path, weld: bool | None = None, context: Context | None = None, *, strict: bool = False) -> Mesh:
    """Reads OBJ, PLY, STL, OFF, glTF or VTP; polygons are cut into triangles. weld: True or False; None: STL. strict: as
    of load_volume.

    >>> import tempfile, trommel
    >>> triangle = trommel.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     triangle.save(folder + "/t.ply")
    ...     trommel.load_mesh(folder + "/t.ply")
    <trommel.Mesh of 3 vertices, 1 triangles>
    """
    context, struct = context_of(context), c.tml_mesh_file()
    kinds = {None: c.TML_WELD_AUTO, True: c.TML_WELD_ALWAYS, False: c.TML_WELD_NEVER}
    owner = _owned(context, "tml_mesh_file_free", struct)
    context.call("mesh_load", path_of(path), c.tml_load_desc(weld=kinds[weld], strict=strict), struct)
    mesh, vertex_count, face_count = struct.mesh, struct.mesh.vertex_count, struct.mesh.triangle_count

    def rows(pointer, count, columns, dtype=np.float32):
        shape = (count,) if columns == 1 else (count, columns)
        return wrap(_address(pointer), shape, dtype, owner) if pointer else None

    made = Mesh(np.empty((0, 3), np.float32) if not mesh.positions else rows(mesh.positions, vertex_count, 3),
                rows(mesh.indices, face_count, 3, np.uint64 if mesh.indices64 else np.uint32)
                if mesh.indices else np.empty((0, 3), np.uint32),
                rows(mesh.normals, vertex_count, 3), rows(mesh.values, vertex_count, 1), origin=tuple(mesh.origin))
    for k in range(mesh.attribute_count):
        a = mesh.attributes[k]
        if a.data:
            made.attributes[a.name.decode(errors="replace")] = rows(a.data, vertex_count, a.components)
    if mesh.uvs:
        made.uvs = rows(mesh.uvs, mesh.uv_count, 2)
        made.uv_faces = rows(mesh.uv_indices, face_count, 3, np.uint32)
    if mesh.face_labels:
        made.labels = rows(mesh.face_labels, face_count, 2, _DTYPES[mesh.face_label_type])
    return made


def load_points(path: Path, context: Context | None = None, *, strict: bool = False) -> Points:
    """Reads PLY, XYZ, CSV, PCD, LAS, VTK, VTU or BGEO, with all that the points carry. strict: as of load_volume.

    >>> import tempfile, trommel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trommel.save_points(folder + "/p.ply", [[0, 0, 0], [1, 2, 3]], values=[5, 7])
    ...     points = trommel.load_points(folder + "/p.ply")
    >>> points.positions[1].tolist(), points.values.tolist()
    ([1.0, 2.0, 3.0], [5.0, 7.0])
    """
    context, struct = context_of(context), c.tml_points()
    desc = c.tml_load_desc(names=(ctypes.c_char_p * 1)(b"*"), name_count=1, strict=strict)
    owner = _owned(context, "tml_points_free", struct)
    context.call("points_load", path_of(path), desc, struct)

    def rows(pointer, columns):
        return wrap(_address(pointer), (struct.count,) if columns == 1 else (struct.count, columns), np.float32, owner)

    attributes = {a.name.decode(errors="replace"): rows(a.data, a.components)
                  for a in struct.attributes[:struct.attribute_count] if a.data}
    return Points(wrap(_address(struct.positions), (struct.count, 3), np.float32, owner),
                  rows(struct.radii, 1) if struct.radii else None, rows(struct.values, 1) if struct.values else None,
                  tuple(struct.origin), attributes, value_name=struct.value_name.decode(errors="replace"),
                  format=struct.format.decode())


def save_points(path: Path, points: Any, radii: ArrayLike | None = None, values: ArrayLike | None = None, *,
                origin: ArrayLike | None = None, context: Context | None = None) -> None:
    """Writes PLY. points: Points with all that they carry, or places (n x 3), which are relative to origin where that is
    given; radii, values: one a point. Example: load_points."""
    if not isinstance(points, Points):
        points = Points(points, origin=origin)
    elif origin is not None:
        points = Points(points.positions, points.radii, points.values, origin, points.attributes,
                        value_name=points.value_name)
    count = len(points)
    struct = c.tml_points(count=count, origin=points.origin, value_name=_cut(points.value_name, 32))
    radii, values = points.radii if radii is None else radii, points.values if values is None else values
    rows = {"positions": points.positions}
    for name, column in (("radii", radii), ("values", values)):
        if column is not None:
            rows[name] = as_array(column, name, np.float32, 1)
    for name, array in rows.items():
        if len(array) != count:
            raise InvalidArgument("INVALID_ARGUMENT", f"{name} has {len(array)} rows, needs {count}, as points has")
        setattr(struct, name, array.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
    carried = {name: array for name, array in points.attributes.items()
               if values is None or name != points.value_name or array.ndim > 1}  # values are that one
    structs, struct.attribute_count, kept = attribute_structs(carried, count)
    struct.attributes = structs
    context_of(context).call("points_save", path_of(path), struct)
    del kept


def load_picture(path: Path, context: Context | None = None) -> Array:
    """Reads Radiance, PFM, PNG, JPEG or OpenEXR: an array of height x width (x channels).

    >>> import numpy as np, tempfile, trommel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trommel.save_picture(folder + "/p.png", np.array([[0, 255]], "u1"))
    ...     trommel.load_picture(folder + "/p.png")
    array([[  0, 255]], dtype=uint8)
    """
    context, struct = context_of(context), c.tml_picture()
    context.call("picture_load", path_of(path), None, struct)
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
