"""Volumes and points as objects that carry what they mean, and what calls take out of them.

Whatever a function takes, an array's numbers are what they are: samples are physical values, and positions are places.
An object says more: a Volume how stored samples become physical values, and where they are; Points and a Mesh what
their positions are relative to. samples_of(), split() and relative() bring both to what the library takes: stored
samples, and positions in 32-bit floats near an origin in doubles.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from . import _abi as c
from ._library import TYPES, InvalidArgument, Owner, as_array, lib, numbers, scalar_type, warn, wrap

if TYPE_CHECKING:
    from ._types import Array, ArrayLike, DTypeLike

_IDENTITY = np.eye(3)
_UNITS = {"mm": "mm", "micron": "µm", "meter": "m"}  # nibabel's, and the library's


class Volume:
    """Samples on a grid, and what they mean.

    values         values[z, y, x]: samples as they are stored
    spacing, origin, direction    in x, y, z: distances of samples, place of sample (0, 0, 0), 3 x 3 matrix
    slope, intercept    a physical value is slope * stored + intercept
    unit           of spacing and origin: "mm", "µm" ..., or "" where the file states none
    space, format, comment    what else the file says
    frame, frame_count    which of the file's volumes or components this is, from 0 on, and how many there are

    Functions take a Volume whole, and its physical values. So does numpy: np.asarray(volume) has physical values, the
    stored array itself where these are the same, else float64, with NaN for what numpy has masked. shape and dtype are
    those of values.

    >>> import numpy as np, trommel
    >>> head = trommel.Volume(np.array([[[0, 1024], [1324, 2048]]] * 2, "i2"), (1, 1, 2.5), intercept=-1024, unit="mm")
    >>> head
    <trommel.Volume 2 x 2 x 2 (z, y, x) of int16, spacing 1 x 1 x 2.5 mm (x, y, z), physical value stored - 1024>
    >>> np.asarray(head)[0, 1].tolist()
    [300.0, 1024.0]
    >>> trommel.surface(head, 300).face_count == trommel.surface(head.values, 1324).face_count
    True
    """

    values: Array
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]
    direction: Array
    slope: float
    intercept: float
    unit: str
    space: str
    format: str
    comment: str
    frame: int
    frame_count: int

    def __init__(self, values: Any, spacing: ArrayLike | None = None, origin: ArrayLike | None = None,
                 direction: ArrayLike | None = None, *, slope: float = 1.0, intercept: float = 0.0, unit: str = "",
                 space: str = "", format: str = "", comment: str = "",  # pylint: disable=redefined-builtin
                 frame: int = 0, frame_count: int = 1) -> None:
        self.values = values if hasattr(values, "shape") and hasattr(values, "dtype") else np.asarray(values)
        if len(self.values.shape) != 3:
            raise InvalidArgument("INVALID_ARGUMENT", f"values is {' x '.join(map(str, self.values.shape))}, needs 3 "
                                  "dimensions: z, y, x")
        self.spacing = numbers(1.0 if spacing is None else spacing, 3, "spacing", scalar=True)
        self.origin = numbers((0.0, 0.0, 0.0) if origin is None else origin, 3, "origin")
        self.direction = np.array(numbers(_IDENTITY if direction is None else direction, 9, "direction")).reshape(3, 3)
        self.slope, self.intercept, self.unit, self.space = float(slope), float(intercept), unit, space
        self.format, self.comment, self.frame, self.frame_count = format, comment, frame, frame_count

    @property
    def shape(self) -> tuple[int, ...]:
        """Samples along z, y and x."""
        return tuple(self.values.shape)

    @property
    def dtype(self) -> Any:
        """The type of the stored samples."""
        return self.values.dtype

    @property
    def geometry(self) -> dict[str, Any]:
        """For a call with an array in place of the Volume: surface(volume.values, iso, **volume.geometry). Besides
        spacing, origin and direction it has slope and intercept; of samples that are no longer the stored ones, as
        volume.values - 1024, leave these two out."""
        return {"spacing": self.spacing, "origin": self.origin, "direction": self.direction, "slope": self.slope,
                "intercept": self.intercept}

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        """Physical values."""
        stored = np.asarray(self.values)
        if np.ma.is_masked(self.values):
            stored = np.ma.filled(np.ma.asarray(self.values).astype(float), np.nan)
        is_stored = self.slope == 1 and self.intercept == 0
        if copy is False and not (is_stored and dtype in (None, stored.dtype)):
            raise ValueError("physical values are not the stored ones and need a copy")
        out = stored if is_stored else stored * np.float64(self.slope) + self.intercept
        return np.array(out, dtype) if copy else np.asarray(out, dtype)

    def __repr__(self) -> str:
        return f"<trommel.{type(self).__name__} {self._description()}>"

    def _description(self):
        said = [f"{' x '.join(map(str, self.shape))} (z, y, x) of {self.dtype}",
                f"spacing {' x '.join(f'{step:g}' for step in self.spacing)}{' ' * bool(self.unit)}{self.unit} (x, y, z)"]
        if self.slope != 1 or self.intercept != 0:
            offset = f" {'-' if self.intercept < 0 else '+'} {abs(self.intercept):g}" * (self.intercept != 0)
            said.append(f"physical value {self.slope:g} * stored{offset}" if self.slope != 1 else
                        f"physical value stored{offset}")
        if self.frame_count > 1:
            said.append(f"frame {self.frame} of {self.frame_count}, counted from 0")
        return ", ".join(said + ([self.format] if self.format else []))


class Samples:
    """What a call takes of a volume of any kind: stored samples, and what they mean."""

    def __init__(self, volume, spacing=None, origin=None, direction=None, slope=None, intercept=None):
        self.base, self.unit, own = (0.0, 0.0, 0.0), "", (None, None, None, 1.0, 0.0)
        self.values, self.is_array = volume, False
        if isinstance(volume, Volume):
            own = volume.spacing, volume.origin, volume.direction, volume.slope, volume.intercept
            self.values, self.unit = volume.values, volume.unit
            if origin is None and hasattr(volume, "_base"):  # a Field of points far from 0
                self.base, own = volume._base, (own[0], volume._local, *own[2:])
        elif hasattr(volume, "GetDirection") and hasattr(volume, "GetSpacing"):
            import SimpleITK  # pylint: disable=import-outside-toplevel
            own = volume.GetSpacing(), volume.GetOrigin(), volume.GetDirection(), 1.0, 0.0
            self.values = SimpleITK.GetArrayViewFromImage(volume)
        elif hasattr(volume, "affine") and hasattr(volume, "dataobj"):  # nibabel's, whose arrays have physical values
            if len(volume.shape) > 3:
                raise InvalidArgument("INVALID_ARGUMENT", f"volume is an image of {' x '.join(map(str, volume.shape))}, "
                                      "needs 3 dimensions; take one of its volumes, as image.slicer[..., 0]")
            affine = np.asarray(volume.affine, float)
            steps = np.linalg.norm(affine[:3, :3], axis=0)
            own = steps, affine[:3, 3], affine[:3, :3] / steps, 1.0, 0.0
            self.values = np.asanyarray(volume.dataobj).T
            units = getattr(getattr(volume, "header", None), "get_xyzt_units", None)
            self.unit = _UNITS.get(units()[0], "") if units else ""
        else:
            self.is_array = True
        self.spacing, self.origin, self.direction, self.slope, self.intercept = (
            mine if given is None else given
            for given, mine in zip((spacing, origin, direction, slope, intercept), own))
        self.slope, self.intercept = float(self.slope), float(self.intercept)
        if not (np.isfinite(self.slope) and np.isfinite(self.intercept)):
            raise InvalidArgument("INVALID_ARGUMENT", f"slope is {self.slope} and intercept {self.intercept}, need "
                                  "finite numbers")

    def is_physical(self):
        return self.slope == 1 and self.intercept == 0

    def masked(self):
        """The samples without numpy's mask, and where they are given, or None."""
        if not np.ma.isMaskedArray(self.values):
            return self.values, None
        return self.values.data, ~np.ma.getmaskarray(self.values)

    def stored(self, value, what="iso"):
        """The stored value of a physical one."""
        if self.slope == 0:
            raise InvalidArgument("INVALID_ARGUMENT", f"slope is 0: each physical value is {self.intercept:g}, and there "
                                  f"is no {what}")
        return (value - self.intercept) / self.slope

    def physical(self, values):
        return values if self.is_physical() else values * self.slope + self.intercept

    def grid(self, shape):
        """shape in z, y, x. spacing, origin and direction are in x, y, z."""
        grid = c.tml_grid(dims=tuple(reversed(shape)))
        if self.spacing is not None:
            grid.spacing = numbers(self.spacing, 3, "spacing", scalar=True)
        if self.origin is not None:
            grid.origin = numbers(self.origin, 3, "origin")
        if self.direction is not None:
            grid.direction = numbers(self.direction, 9, "direction")
        return grid

    def labels(self, context):
        """The volume's labels as an array of integers: physical values, which have to be whole numbers. Files may keep
        them as floats; whoever has an array can say what its numbers are."""
        values = as_array(self.values, "volume", None, 3)
        if values.dtype == bool:
            values = values.view(np.uint8)
        if values.dtype.kind in "iu" and self.is_physical():
            return values
        if values.dtype.kind == "f" and self.is_array:
            raise InvalidArgument("INVALID_ARGUMENT", f"volume is of {values.dtype}, needs integers; where they are whole "
                                  "numbers, pass np.rint(volume).astype(int)")
        made = c.tml_volume()
        volume = c.tml_volume(data=values.ctypes.data, size=values.nbytes, type=scalar_type(values.dtype),
                              grid=c.tml_grid(dims=tuple(reversed(values.shape))), slope=self.slope,
                              intercept=self.intercept)
        handle = context._handle
        owner = Owner(context, lambda: lib.tml_volume_free(handle.pointer, made))
        context.call("volume_convert", volume, c.TML_VALUES_LABELS, made)
        dtype = next(name for name, kind in TYPES.items() if kind == made.type)
        return wrap(made.data, values.shape, dtype, owner)


def position_origin(grid):
    """What vertices have to be relative to, for floats to hold them: the grid's origin where that is far from 0."""
    out = (ctypes.c_double * 3)()
    lib.tml_grid_position_origin(grid, out)
    return tuple(out)


def box_origin(rows):
    """An origin near positions that are far from 0 for their extent; else 0."""
    if not len(rows):
        return (0.0, 0.0, 0.0)
    corners = [(ctypes.c_double * 3)(*fold.reduce(rows, axis=0)) for fold in (np.fmin, np.fmax)]
    out = (ctypes.c_double * 3)()
    lib.tml_box_position_origin(*corners, out)
    return tuple(out)


def split(positions, name, origin=None):
    """Positions as float32 relative to an origin: the one that is given, or where they are places that float32 does not
    hold, one near them."""
    if origin is not None:
        return as_array(positions, name, np.float32, 2, 3), numbers(origin, 3, "origin")
    rows = as_array(positions, name, None, 2, 3)
    if rows.dtype == np.float32:
        return rows, (0.0, 0.0, 0.0)
    near = rows.astype(np.float32)
    if rows.dtype.itemsize < 4 or np.array_equal(near, rows):
        return near, (0.0, 0.0, 0.0)
    origin = box_origin(rows)
    return (near if not any(origin) else (rows - np.asarray(origin)).astype(np.float32)), origin


def moved(rows, shift):
    """Rows moved by a shift in doubles."""
    return (rows + np.asarray(shift, np.float64)).astype(np.float32) if any(shift) else rows


def difference(a, b):
    return tuple(x - y for x, y in zip(a, b))


def placed(rows, origin):
    """Places: relative positions with their origin added, in float64 where there is one."""
    return rows + np.asarray(origin, np.float64) if any(origin) else rows


def rows_of(points, name):
    """Positions of Points, a Mesh or an array as float32, and the origin that they are relative to."""
    if isinstance(points, Points):
        return points.positions, points.origin
    if hasattr(points, "vertices") and hasattr(points, "origin"):  # a Mesh
        return points.vertices, points.origin
    return split(points, name)


def check_places(rows, name, origin):
    """Warns of an array that looks as if it were relative to an origin, but is taken for places."""
    size = max(map(abs, origin))
    if size and len(rows) and 64 * np.abs(rows).max() < size:
        warn(f"{name} are near 0, and what they are asked of is at {', '.join(f'{x:.10g}' for x in origin)}: an array's "
             "positions are places; pass a Mesh or Points whole, or what their .placed gives")


def relative(points, name, origin):
    """Positions of Points, a Mesh or an array of places, relative to an origin, as float32."""
    if isinstance(points, Points) or (hasattr(points, "vertices") and hasattr(points, "origin")):
        rows, own = rows_of(points, name)
        return moved(rows, difference(own, origin))
    if not any(origin):
        return as_array(points, name, np.float32, 2, 3)
    rows = as_array(points, name, np.float64, 2, 3)
    check_places(rows, name, origin)
    return moved(rows, difference((0.0, 0.0, 0.0), origin))


def attribute_of(values, name, count, ndim=(1, 2)):
    """What each point or vertex carries: float32, one number a row or 2 to 4."""
    values = as_array(values, name, np.float32, ndim)
    if len(values) != count:
        raise InvalidArgument("INVALID_ARGUMENT", f"{name} has {len(values)} rows, needs {count}, as the positions")
    if values.ndim == 2 and not 1 <= values.shape[1] <= 4:
        raise InvalidArgument("INVALID_ARGUMENT", f"{name} has rows of {values.shape[1]} numbers, needs 1 to 4")
    return values


class Points:
    """Points, and what they carry.

    positions  float32, n x 3: x, y, z relative to origin
    origin     added to positions in double precision
    radii      float32, n, or None
    values     float32, n, or None: one scalar a point, called value_name
    attributes a dict of all else, by name: float32, n or n x 2 to 4
    normals, colors    the attributes "normal" and "color" (0 to 1), or None
    placed     the points' places: positions with origin added, in float64 where that is not 0
    format     of the file, or ""

    Made of an array of places without an origin, it takes one itself where float32 would lose too much.

    >>> import trommel
    >>> points = trommel.Points([[637000.25, 851000.5, 90], [637001.25, 851000.5, 91]], attributes={"color": [[1, 0, 0]] * 2})
    >>> points
    <trommel.Points of 2 points with color, origin 637001, 851000, 90>
    >>> points.placed[0].tolist()
    [637000.25, 851000.5, 90.0]
    """

    positions: Array
    radii: Array | None
    values: Array | None
    origin: tuple[float, float, float]
    attributes: dict[str, Array]
    value_name: str
    format: str

    def __init__(self, positions: ArrayLike, radii: ArrayLike | None = None, values: ArrayLike | None = None,
                 origin: ArrayLike | None = None, attributes: Mapping[str, ArrayLike] | None = None, *,
                 value_name: str = "", format: str = "") -> None:  # pylint: disable=redefined-builtin
        self.positions, self.origin = split(positions, "positions", origin)
        self.radii = None if radii is None else attribute_of(radii, "radii", len(self.positions), 1)
        self.values = None if values is None else attribute_of(values, "values", len(self.positions), 1)
        self.attributes = {name: attribute_of(array, name, len(self.positions))
                           for name, array in (attributes or {}).items()}
        self.value_name, self.format = value_name, format

    @property
    def normals(self) -> Array | None:
        """The attribute "normal": n x 3, or None."""
        return self.attributes.get("normal")

    @property
    def colors(self) -> Array | None:
        """The attribute "color": n x 3 or 4, 0 to 1, coded as sRGB as in pictures; or None."""
        return self.attributes.get("color")

    @property
    def placed(self) -> Array:
        """Places: positions with origin added, in float64 where that is not 0."""
        return placed(self.positions, self.origin)

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        carried = [name for name in ("radii", "values") if getattr(self, name) is not None] + list(self.attributes)
        origin = ", origin " + ", ".join(f"{x:.10g}" for x in self.origin) if any(self.origin) else ""
        return f"<trommel.Points of {len(self)} points{' with ' * bool(carried)}{', '.join(carried)}{origin}>"


def attribute_structs(attributes, count, most=None):
    """A C array of tml_mesh_attribute, and what has to live as long. Of a mesh the library takes
    a limited number; what is more is left out with a warning."""
    names = list(attributes)
    if most is not None and len(names) > most:
        warn(f"of {len(names)} attributes the first {most} are kept, without {', '.join(names[most:])}")
        names = names[:most]
    structs, kept = (c.tml_mesh_attribute * max(len(names), 1))(), []
    for struct, name in zip(structs, names):  # kept: what the pointers point to
        values = attribute_of(attributes[name], name, count)
        pointer = values.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        if not name or len(name.encode()) >= 64:
            raise InvalidArgument("INVALID_ARGUMENT", f"an attribute is called {name!r}, needs a name of 1 to 63 bytes")
        struct.name, struct.components = name.encode(), 1 if values.ndim == 1 else values.shape[1]
        struct.data = pointer
        kept.append(values)
    return structs, len(names), kept
