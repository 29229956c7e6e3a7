"""Surfaces of volumes, points as volumes, and meshes."""
from __future__ import annotations

import ctypes
import operator
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Mapping, Sequence

import numpy as np

from . import _abi as c
from ._library import Buffers, InvalidArgument, as_array, context_of, lib, numbers, path_of, scalar_type, take, warn
from .objects import (Points, Samples, Volume, attribute_of, attribute_structs, box_origin, check_places, difference,
    moved, placed, position_origin, rows_of, split)

if TYPE_CHECKING:
    from ._types import Array, ArrayLike, Context, Path

NORMALS = {None: c.TML_NORMALS_NONE, "none": c.TML_NORMALS_NONE, "forward": c.TML_NORMALS_FORWARD,
            "central": c.TML_NORMALS_CENTRAL, "sobel": c.TML_NORMALS_SOBEL}
TOPOLOGIES = {"separated": c.TML_TOPOLOGY_SEPARATED, "trilinear": c.TML_TOPOLOGY_TRILINEAR}
UPS = {None: c.TML_UP_NONE, "z": c.TML_UP_Z, "y": c.TML_UP_Y, "x": c.TML_UP_X, "-z": c.TML_UP_MINUS_Z,
       "-y": c.TML_UP_MINUS_Y, "-x": c.TML_UP_MINUS_X}
_SMOOTH = {"taubin": c.TML_SMOOTH_TAUBIN, "laplacian": c.TML_SMOOTH_LAPLACIAN}
_KERNELS = {"wendland": c.TML_FIELD_WENDLAND_C2, "poly6": c.TML_FIELD_POLY6, "metaball": c.TML_FIELD_METABALL,
            "spline": c.TML_FIELD_CUBIC_SPLINE}


def choose(table, name, value):
    if value not in table:
        raise InvalidArgument("INVALID_ARGUMENT",
                              f"{name} is {value!r}, needs one of {', '.join(repr(k) for k in table)}")
    return table[value]


class Mesh:
    """Triangles.

    vertices   float32, n x 3: x, y, z relative to origin
    faces      uint32 or uint64, m x 3; None: each three vertices are a triangle
    normals    float32, n x 3, or None
    values     float32, n, or None
    cells      uint32 or uint64, m, or None: of surface(cells=True) the index in volume.ravel() of the lowest corner of
               each triangle's cell
    parts      of a surface with several isovalues or labels: dicts with value, vertices and faces (slices)
    origin     added to vertices in double precision
    placed     the vertices' places: with origin added, in float64 where that is not 0
    labels     integers, m x 2, or None: of surface_labels() what each triangle's normal points away from, and to
    attributes a dict of what else vertices carry, by name: float32, n or n x 2 to 4; colors is the one called "color"
    uvs, uv_faces    texture coordinates of a file, k x 2, and those of each triangle's corners, m x 3 (None: the
               vertices'); or None
    unit       of lengths, as the volume's that it is a surface of: "mm", "µm" ..., or ""

    Made of places without an origin, it takes one itself where float32 would lose too much.

    >>> import trommel
    >>> two = trommel.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2], [3, 4, 1]])
    >>> two.examine()["area"]
    1.0
    >>> two.clean()
    <trommel.Mesh of 4 vertices, 2 triangles>
    """

    vertices: Array
    faces: Array | None
    normals: Array | None
    values: Array | None
    cells: Array | None
    parts: list[dict[str, Any]]
    origin: tuple[float, float, float]
    labels: Array | None
    attributes: dict[str, Array]
    uvs: Array | None
    uv_faces: Array | None
    unit: str

    def __init__(self, vertices: ArrayLike, faces: ArrayLike | None = None, normals: ArrayLike | None = None,
                 values: ArrayLike | None = None, parts: Sequence[dict[str, Any]] = (),
                 origin: ArrayLike | None = None, cells: ArrayLike | None = None,
                 labels: ArrayLike | None = None, attributes: Mapping[str, ArrayLike] | None = None,
                 unit: str = "") -> None:
        self.vertices, self.origin = split(vertices, "vertices", origin)
        self.faces, self.normals, self.values = faces, normals, values
        self.parts, self.cells, self.labels, self.unit = list(parts), cells, labels, unit
        self.attributes = {name: attribute_of(array, name, len(self.vertices))
                           for name, array in (attributes or {}).items()}
        self.uvs = self.uv_faces = None

    def __setattr__(self, name: str, value: Any) -> None:
        """Whatever is assigned, the arrays are of the types above."""
        if name == "origin":
            value = numbers(value, 3, name)
        elif name == "faces" and value is not None:
            value = _indices(value)
        elif name == "labels" and value is not None:
            value = as_array(value, name, None, 2, 2)
        elif name == "vertices" and "vertices" in self.__dict__:  # new ones, in the same frame
            value, lost = as_array(value, name, np.float32, 2, 3), split(value, name)[1]
            if any(lost):
                warn("vertices are so far from 0 that float32 loses precision; make a Mesh of them, which takes an origin")
        elif name == "vertices" or (name in ("normals", "values") and value is not None):
            value = as_array(value, name, np.float32, *((1,) if name == "values" else (2, 3)))
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        said = [f"<trommel.Mesh of {len(self.vertices)} vertices, {self.face_count} triangles"]
        said += ["with " + ", ".join(self.attributes)] if self.attributes else []
        said += ["origin " + ", ".join(f"{x:.10g}" for x in self.origin)] if any(self.origin) else []
        return ", ".join(said + (["in " + self.unit] if self.unit else [])) + ">"

    @property
    def face_count(self) -> int:
        return len(self.vertices) // 3 if self.faces is None else len(self.faces)

    @property
    def colors(self) -> Array | None:
        """The attribute "color": n x 3 or 4, 0 to 1, coded as sRGB as in pictures; or None."""
        return self.attributes.get("color")

    @property
    def placed(self) -> Array:
        """The vertices' places: with origin added, in float64 where that is not 0."""
        return placed(self.vertices, self.origin)

    def _struct(self):
        struct = c.tml_mesh(vertex_count=len(self.vertices), triangle_count=self.face_count, origin=self.origin)
        for field, array in (("positions", self.vertices), ("normals", self.normals), ("values", self.values)):
            if array is not None and len(array) != len(self.vertices):
                raise InvalidArgument("INVALID_ARGUMENT", f"{field} has {len(array)} rows, needs {len(self.vertices)}, "
                                      "as vertices has")
            if array is not None and array.size:
                setattr(struct, field, array.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        if self.faces is not None:
            struct.indices, struct.indices64 = self.faces.ctypes.data, self.faces.itemsize == 8
        if self.labels is not None and len(self.labels) == self.face_count:
            struct.face_labels = self.labels.ctypes.data
            struct.face_label_type = scalar_type(self.labels.dtype)
        structs, struct.attribute_count, kept = attribute_structs(
            self.attributes, len(self.vertices), c.TML_MESH_MAX_ATTRIBUTES)
        struct.attributes = structs
        if self.uvs is not None and (len(self.uvs) if self.uv_faces is None else len(self.uv_faces)) == (
                len(self.vertices) if self.uv_faces is None else self.face_count):
            uvs = as_array(self.uvs, "uvs", np.float32, 2, 2)
            struct.uvs, struct.uv_count = uvs.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), len(uvs)
            kept.append(uvs)
            if self.uv_faces is not None:
                corners = as_array(self.uv_faces, "uv_faces", np.uint32, 2, 3)
                struct.uv_indices = corners.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32))
                kept.append(corners)
        struct.kept = kept  # what its pointers point to
        return struct

    def save(self, path: Path, up: str | None = None, context: Context | None = None) -> None:
        """Writes PLY, STL, OBJ, GLB or VTP, by the name's ending; labels to PLY and VTP, attributes to these and GLB,
        texture coordinates to OBJ. up: "x", "y", "z", "-x" ...: which axis points up, for GLB."""
        struct = self._struct()
        struct.up = choose(UPS, "up", up)
        context_of(context).call("mesh_save", path_of(path), struct)

    def examine(self, context: Context | None = None) -> dict[str, Any]:
        """Counts and measures, as a dict: components, boundary_edges, nonmanifold_edges, euler, area, volume (NaN
        where the mesh encloses nothing: it is open, or not wound alike), lower, upper (places), misoriented_edges,
        degenerate_triangles (without area)."""
        context, stats = context_of(context), c.tml_mesh_stats()
        with Buffers(context) as buffers:
            vertices = buffers.input(self.vertices, scalar_type(self.vertices.dtype) | 3 << 8)
            faces = self.faces if self.faces is not None else _soup_faces(self)
            mesh = c.tml_mesh_buffers(positions=vertices, indices=buffers.input(faces))
            context.call("mesh_examine", mesh, False, stats)
        return {name: tuple(x + o for x, o in zip(value, self.origin)) if isinstance(value, ctypes.Array) else value
                for name, value in ((name, getattr(stats, name)) for name, _ in stats._fields_)}

    def clean(self, largest: bool = False, degenerate: bool = True, context: Context | None = None) -> Mesh:
        """A mesh without what surface() leaves out where asked. largest: all but the component of most triangles, of
        each part; degenerate: triangles with two equal corners, which become one vertex. cells and uvs are not kept."""
        mesh = deepcopy(self)
        mesh.faces, mesh.cells, mesh.uvs, mesh.uv_faces = mesh._faces(), None, None, None
        struct, parts = mesh._struct(), (c.tml_mesh_part * max(len(self.parts), 1))()
        for part, own in zip(parts, self.parts):
            part.value = own["value"]
            for name, rows in (("vertex", own["vertices"]), ("triangle", own["faces"])):
                setattr(part, name + "_first", rows.start)
                setattr(part, name + "_count", rows.stop - rows.start)
        if self.parts:
            struct.parts, struct.part_count = parts, len(self.parts)
        context_of(context).call("mesh_clean", struct, largest, degenerate, None)
        for name, count in (("vertices", struct.vertex_count), ("normals", struct.vertex_count),
                            ("values", struct.vertex_count), ("faces", struct.triangle_count),
                            ("labels", struct.triangle_count if struct.face_labels else 0)):
            array = getattr(mesh, name)
            setattr(mesh, name, None if array is None else array[:count])
        mesh.attributes = {name: array[:struct.vertex_count] for name, array in
                           zip(mesh.attributes, struct.kept[:struct.attribute_count])}
        mesh.parts = _parts_of(parts, len(self.parts))
        return mesh

    def smooth(self, iterations: int = 10, *, weights: ArrayLike | None = None, method: str = "taubin",
               step: float = 0.5, free_boundary: bool = False, context: Context | None = None) -> Mesh:
        """A smooth mesh of the same triangles, whose normals, if there are any, follow them. method: "taubin" (what is
        large stays as large) or "laplacian" (all shrinks). weights: one a vertex, 0 (stays) to 1. step: how far each
        step goes, at most 0.69 with "taubin", 1 with "laplacian". free_boundary: the mesh's boundary moves, too.

        >>> import trommel
        >>> roof = trommel.Mesh([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [1, 1, 3]],
        ...                     [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
        >>> roof.smooth(1, method="laplacian").vertices[4].tolist()
        [1.0, 1.0, 1.5]
        """
        context, faces = context_of(context), self._faces()
        mesh = Mesh(np.empty_like(self.vertices), faces, None if self.normals is None else np.empty_like(self.normals),
                    self.values, self.parts, self.origin, self.cells, self.labels, self.attributes, self.unit)
        mesh.uvs, mesh.uv_faces = self.uvs, self.uv_faces
        with Buffers(context) as buffers:
            desc = c.tml_mesh_smooth_desc(iterations=iterations, method=choose(_SMOOTH, "method", method),
                                          **{"lambda": step}, free_boundary=free_boundary)
            desc.mesh.positions = buffers.input(self.vertices, c.TML_F32 | 3 << 8)
            desc.mesh.indices = buffers.input(faces)
            desc.out = buffers.output(mesh.vertices, c.TML_F32 | 3 << 8)
            if weights is not None:
                desc.weights = buffers.input(as_array(weights, "weights", np.float32, 1))
            if mesh.normals is not None:
                desc.normals = buffers.output(mesh.normals, c.TML_F32 | 3 << 8)
            context.call("mesh_smooth", desc)
        return mesh

    def to_trimesh(self) -> Any:
        import trimesh  # pylint: disable=import-outside-toplevel
        return trimesh.Trimesh(self._placed(), self._faces(), vertex_normals=self.normals, process=False)

    def to_pyvista(self) -> Any:
        import pyvista  # pylint: disable=import-outside-toplevel
        faces = self._faces()
        mesh = pyvista.PolyData(self._placed(), np.insert(faces.astype(np.int64), 0, 3, axis=1).ravel())
        if self.normals is not None:
            mesh.point_data["Normals"] = self.normals
        if self.values is not None:
            mesh.point_data["values"] = self.values
        for name, array in self.attributes.items():
            mesh.point_data[name] = array
        return mesh

    def to_meshio(self) -> Any:
        import meshio  # pylint: disable=import-outside-toplevel
        data = {name: array for name, array in (("normals", self.normals), ("values", self.values))
                if array is not None}
        data.update(self.attributes)
        return meshio.Mesh(self._placed(), [("triangle", self._faces().astype(np.int64))], point_data=data)

    def plot(self, axes: Any = None, color: Any = "0.85", azimuth: float = -60.0, elevation: float = 30.0) -> Any:
        """Draws it with matplotlib, lit from the upper left, on axes of projection="3d" or on new ones, which it
        returns. color: one, or one for each triangle."""
        import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel
        from matplotlib.colors import to_rgba_array  # pylint: disable=import-outside-toplevel
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # pylint: disable=import-outside-toplevel
        axes = axes or plt.figure().add_subplot(projection="3d")
        corners = self._placed()[self._faces()].astype(float)
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        angle = np.radians([azimuth - 30, elevation + 20])
        light = np.cos(angle[1]) * np.cos(angle[0]), np.cos(angle[1]) * np.sin(angle[0]), np.sin(angle[1])
        lit = 0.6 + 0.4 * (across @ light) / np.maximum(np.linalg.norm(across, axis=1), 1e-300)
        colors = np.broadcast_to(to_rgba_array(color)[:, :3], (len(corners), 3)) * lit[:, None]
        axes.add_collection3d(Poly3DCollection(corners, facecolors=colors, antialiaseds=False))
        lower, upper = (corners.min((0, 1)), corners.max((0, 1))) if len(corners) else (np.zeros(3), np.ones(3))
        axes.set(xlim=(lower[0], upper[0]), ylim=(lower[1], upper[1]), zlim=(lower[2], upper[2]))
        axes.set_box_aspect(upper - lower, zoom=1.2)
        axes.view_init(elevation, azimuth)
        axes.set_axis_off()
        return axes

    def _faces(self):
        return self.faces if self.faces is not None else _soup_faces(self)

    def _placed(self):
        return self.placed


def _soup_faces(mesh):
    return np.arange(3 * mesh.face_count, dtype=np.uint32).reshape(-1, 3)


def _indices(faces):
    faces = as_array(faces, "faces", None, 2, 3)
    if faces.dtype.kind not in "iu" or (faces.dtype.kind == "i" and faces.size and faces.min() < 0):
        raise InvalidArgument("INVALID_ARGUMENT", "faces holds what is no vertex: needs integers from 0 on")
    return faces.astype(np.uint64 if faces.itemsize == 8 else np.uint32, copy=False)


def otsu(volume: Any, context: Context | None = None) -> float:
    """An isovalue to begin with: the physical value that best divides the samples into a low and a high class, by Otsu.
    volume: as of surface(), or an array of any shape.

    >>> import trommel
    >>> 2 < trommel.otsu([1.0, 1.5, 2.0, 8.0, 9.0]) <= 8
    True
    """
    return _otsu(Samples(volume), context_of(context))


def _otsu(samples, context):
    values, given = samples.masked()
    values, histogram = as_array(values if given is None else values[given], "volume"), c.tml_value_histogram()
    context.call("value_histogram_make", values.ctypes.data, scalar_type(values.dtype), values.size, histogram)
    try:
        value = histogram.otsu
    finally:
        lib.tml_value_histogram_free(context._handle.pointer, histogram)
    if not np.isfinite(value):
        raise InvalidArgument("INVALID_ARGUMENT", f"otsu: none of the volume's {values.size} samples is a finite number")
    return samples.physical(value)


def isovalues_of(samples, iso, context):
    """Physical isovalues as they are given, and as stored values."""
    if isinstance(iso, str):
        if iso != "auto":
            raise InvalidArgument("INVALID_ARGUMENT", f"iso is {iso!r}, needs a number, several, or \"auto\" (otsu's)")
        iso = _otsu(samples, context)
    given = np.atleast_1d(np.asarray(iso, np.float64)).ravel()
    return given, np.ascontiguousarray(samples.stored(given))


def _wanted_labels(labels, dtype):
    """Labels for the library: ascending, without repeats, negative ones modulo 2^64."""
    try:
        given = list(labels) if isinstance(labels, (set, frozenset, range)) else labels
        chosen = sorted({operator.index(label) for label in np.ravel(np.asarray(given, object)).tolist()})
    except TypeError:
        raise InvalidArgument("INVALID_ARGUMENT", f"labels is {labels!r}, needs integers, or \"all\"") from None
    limits = np.iinfo(dtype)
    wrong = [label for label in chosen if not limits.min <= label <= limits.max]
    if wrong:
        raise InvalidArgument("INVALID_ARGUMENT", f"labels has {wrong[0]}, which no sample of {dtype} is: needs "
                              f"{limits.min} to {limits.max}")
    return len(chosen), (ctypes.c_uint64 * max(len(chosen), 1))(*(_label(label) for label in chosen))


def _label(label):
    return operator.index(label) & 2**64 - 1


def surface(volume: Any, iso: ArrayLike | str | None = None, *, labels: ArrayLike | None = None,
            spacing: ArrayLike | None = None, origin: ArrayLike | None = None, direction: ArrayLike | None = None,
            slope: float | None = None, intercept: float | None = None,
            mask: Any = None, attribute: Any = None, normals: str | None = "central",
            topology: str = "separated", caps: bool = False, flip: bool = False, soup: bool = False,
            cells: bool = False, largest: bool = False, drop_degenerate: bool = False, collapse: float = 0.0,
            context: Context | None = None) -> Mesh:
    """The isosurface of a volume as a Mesh.

    volume     a Volume or a Field, whole; an array[z, y, x] of any type of numbers, of which what is masked is missing;
               an image of nibabel's or SimpleITK's
    iso        a physical isovalue, or several; inside is volume >= iso. "auto": otsu's; of a Field None: its own
    labels     instead: of a volume of whole numbers these, each a part; "all": each but 0
    spacing, origin, direction    in x, y, z: distances of samples, place of sample (0, 0, 0), 3 x 3 matrix
    slope, intercept    a physical value is slope * sample + intercept. What is given here goes before the volume's own
    mask       of the volume's shape: samples that are 0 are missing, and the surface ends there
    attribute  of the volume's shape: interpolated onto vertices, Mesh.values; of a Volume its physical values
    normals    None, "forward", "central", "sobel"
    topology   of ambiguous cells: "separated", samples inside are apart across a face's diagonal; "trilinear", as the
               trilinear interpolant has it
    caps       close the surface at the volume's border
    flip       inside is low
    soup       three vertices a triangle, no faces
    cells      also the cell of each triangle, Mesh.cells
    largest    keep each part's component with the most triangles
    drop_degenerate    leave out triangles with two equal corners
    collapse   edges shorter than this, in the volume's units, are collapsed, so that most slivers go

    The mesh has an origin where the volume is so far from 0 that vertices in float32 would lose more than about a
    thousandth of a sample's distance.

    >>> import numpy as np, trommel
    >>> x = np.linspace(-1, 1, 32)
    >>> ball = 0.7 - np.sqrt(x[:, None, None]**2 + x[:, None]**2 + x**2)
    >>> trommel.surface(ball, 0).examine()["euler"]
    2
    """
    if iso is None and labels is None and isinstance(volume, Field):
        iso = volume.iso
    if (iso is None) == (labels is None):
        raise InvalidArgument("INVALID_ARGUMENT", "surface: needs either iso or labels; iso may be \"auto\"")
    samples = Samples(volume, spacing, origin, direction, slope, intercept)
    context, result = context_of(context), c.tml_surface_result()
    samples.values, given = samples.masked()
    if mask is not None:
        marks = Samples(mask)
        mask = as_array(marks.values, "mask")
        if not marks.is_physical() or mask.dtype not in (bool, np.uint8):
            mask = marks.physical(mask) != 0
    if given is not None:
        mask = given if mask is None else given & (mask != 0)
    values = as_array(samples.values, "volume", None, 3) if labels is None else samples.labels(context)
    desc = c.tml_surface_desc(grid=samples.grid(values.shape),
                              normals=choose(NORMALS, "normals", normals),
                              topology=choose(TOPOLOGIES, "topology", topology), caps=caps, flip=flip, soup=soup,
                              cells=cells, largest_component=largest, drop_degenerate=drop_degenerate,
                              collapse=collapse, indices64=values.size > 2**31)
    desc.position_origin = position_origin(desc.grid)
    chosen = given_values = None
    if labels is not None and isinstance(labels, str) and labels == "all":
        desc.all_labels = True
    elif labels is not None:
        count, desc.labels = _wanted_labels(labels, values.dtype)
        desc.label_count = count
    else:
        if given is not None and isinstance(iso, str):
            samples.values = np.ma.array(samples.values, mask=~given)
        given_values, chosen = isovalues_of(samples, iso, context)
        desc.iso, desc.flip = chosen[0] if len(chosen) else np.nan, flip != (samples.slope < 0)
        if len(chosen) > 1:
            desc.isovalues, desc.isovalue_count = chosen.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(chosen)
    with Buffers(context) as buffers:
        desc.volume = buffers.input(values.reshape(-1), on_host=True)
        carried = None if attribute is None else Samples(attribute)
        for field, array in (("mask", mask), ("attribute", carried and carried.values)):
            if array is None:
                continue
            array = as_array(array, field)
            array = array.view(np.uint8) if field == "mask" else array
            if array.shape != values.shape:
                raise InvalidArgument("INVALID_ARGUMENT",
                                      f"{field} is {array.shape}, needs the volume's shape {values.shape}")
            setattr(desc, field, buffers.input(array.reshape(-1), on_host=True))
        mesh = _mesh_of(context, desc, result, np.uint64 if values.size > 2**32 else np.uint32,
                        None if labels is None else values.dtype)
    mesh.origin, mesh.unit = tuple(map(sum, zip(samples.base, desc.position_origin))), samples.unit
    if carried and not carried.is_physical():
        mesh.values = carried.physical(mesh.values.astype(np.float64))
    for part, value in zip(mesh.parts, [] if given_values is None else given_values):
        part["value"] = float(value)
    return mesh


def surface_labels(volume: Any, *, labels: ArrayLike | None = None, background: int = 0,
                   between: ArrayLike | None = None, inner: bool = False, caps: bool = False, smooth: int = 0,
                   relaxation: float = 0.5, bound: float = 1.0, separate: bool = False, manifold: bool = False,
                   spacing: ArrayLike | None = None, origin: ArrayLike | None = None,
                   direction: ArrayLike | None = None, slope: float | None = None, intercept: float | None = None,
                   context: Context | None = None) -> Mesh:
    """The boundaries between a volume's labels as one Mesh that the labels on both sides share, with Mesh.labels.

    volume     as of surface(), of whole numbers or bools; labels are physical values
    labels     these alone: others count as background; None: all
    background the label of what is outside
    between    two labels: only the faces between them
    inner      leave out faces that have the background on a side
    caps       close at the volume's border, as though background lay around it
    smooth     iterations; 16 suffice. relaxation: how far each goes, at most 1; bound: how far from the middle of
               its cell a vertex may go, 1: anywhere in the cell
    separate   a closed mesh for each label, with Mesh.parts; manifold: sheets of a label that touch at edges or
               corners alone are kept apart
    spacing, origin, direction, slope, intercept    as of surface()

    >>> import numpy as np, trommel
    >>> two = np.zeros((8, 8, 8), np.uint16)
    >>> two[2:6, 2:6, 2:4], two[2:6, 2:6, 4:6] = 7, 9
    >>> mesh = trommel.surface_labels(two, smooth=4)
    >>> sorted({tuple(pair) for pair in mesh.labels.tolist()})
    [(7, 0), (7, 9), (9, 0)]
    >>> [part["value"] for part in trommel.surface_labels(two, separate=True).parts]
    [7, 9]
    """
    samples = Samples(volume, spacing, origin, direction, slope, intercept)
    context, result = context_of(context), c.tml_surface_result()
    values = samples.labels(context)
    desc = boundaries_of(values.shape, values.dtype, labels, between, background, caps=caps, smooth=smooth,
                         grid=samples.grid(values.shape), inner_only=inner,
                         relaxation=relaxation, bound=bound, sharing=_sharing(separate, manifold))
    with Buffers(context) as buffers:
        desc.volume = buffers.input(values.reshape(-1), on_host=True)
        try:
            context.call("surface_labels", desc, result)
            mesh = Mesh(take(context, result.mesh.positions, np.float32, 3),
                        take(context, result.mesh.indices, np.uint64 if desc.indices64 else np.uint32, 3),
                        labels=take(context, result.face_labels, values.dtype, 2),
                        origin=desc.position_origin, unit=samples.unit)
            for part in result.parts[:result.part_count]:
                mesh.parts.append({"value": int(np.uint64(part.label).astype(values.dtype)),
                                   "vertices": slice(part.vertex_first, part.vertex_first + part.vertex_count),
                                   "faces": slice(part.triangle_first, part.triangle_first + part.triangle_count)})
            result.owned = 0  # the arrays own the buffers
        finally:
            lib.tml_surface_free(context._handle.pointer, result)
    return mesh


def _sharing(separate, manifold):
    if manifold and not separate:
        raise InvalidArgument("INVALID_ARGUMENT", "manifold: needs separate=True; shared vertices are not split")
    return c.TML_LABELS_MANIFOLD if manifold else c.TML_LABELS_SEPARATE if separate else c.TML_LABELS_SHARED


def boundaries_of(shape, dtype, labels, between, background, **fields):
    if dtype.kind not in "iu":
        raise InvalidArgument("INVALID_ARGUMENT", f"volume is of {dtype}, needs integers")
    desc = c.tml_surface_labels_desc(background=_label(background), indices64=shape[0] * shape[1] * shape[2] > 2**31,
                                     **fields)
    desc.position_origin = position_origin(desc.grid)
    if labels is not None and not (isinstance(labels, str) and labels == "all"):
        count, desc.labels = _wanted_labels(labels, dtype)
        desc.label_count = count
    if between is not None:
        pair = (ctypes.c_uint64 * 2)(*(_label(label) for label in between))
        desc.between = pair
    return desc


def _mesh_of(context, desc, result, cell_type, label_type=None):
    indices64 = desc.indices64
    try:
        context.call("surface", desc, result)
        mesh = Mesh(take(context, result.mesh.positions, np.float32, 3),
                    take(context, result.mesh.indices, np.uint64 if indices64 else np.uint32, 3),
                    take(context, result.mesh.normals, np.float32, 3),
                    take(context, result.mesh.values, np.float32),
                    cells=take(context, result.triangle_cells, cell_type))
        mesh.parts = _parts_of(result.parts, result.part_count)
        for part, found in zip(mesh.parts, result.parts[:result.part_count] if label_type else ()):
            part["value"] = int(np.uint64(found.label).astype(label_type))  # exact, which a double is not
        result.owned = 0  # the arrays own the buffers
    finally:
        lib.tml_surface_free(context._handle.pointer, result)
    return mesh


def _parts_of(parts, count):
    return [{"value": p.value, "vertices": slice(p.vertex_first, p.vertex_first + p.vertex_count),
             "faces": slice(p.triangle_first, p.triangle_first + p.triangle_count)} for p in parts[:count]]


class Field(Volume):
    """A Volume made of points, with an isovalue that suits it, iso, and the points' radius.

    >>> import trommel
    >>> trommel.field([[0, 0, 0]], radius=1.0, cell=0.5)
    <trommel.Field 13 x 13 x 13 (z, y, x) of float32, spacing 0.5 x 0.5 x 0.5 (x, y, z), iso 0.5, radius 1>
    """

    iso: float
    radius: float

    def __init__(self, values: Array, grid: Any, iso: float, radius: float, points: Any = (),
                 base: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        self._local, self._base, self._points = tuple(grid.origin), base, points
        super().__init__(values, tuple(grid.spacing), tuple(a + b for a, b in zip(base, grid.origin)))
        self.iso, self.radius = iso, radius

    def _description(self):
        return super()._description() + f", iso {self.iso:g}, radius {self.radius:g}"

    def mean(self, values: ArrayLike, positions: Any, context: Context | None = None) -> Array:
        """Velocity, colour or whatever the points carry (one number a point, or up to 4), at the vertices of a Mesh, at
        Points, or at places (n x 3): the mean of the points near, by the kernel's weights; 0 where there is none.

        >>> import numpy as np, trommel
        >>> field = trommel.field([[0, 0, 0], [1, 0, 0]], radius=1.0)
        >>> field.mean([2.0, 4.0], [[0.5, 0, 0]]).round(3).tolist()
        [3.0]
        """
        points, values = self._points[0], as_array(values, "values", np.float32, (1, 2))
        if len(values) != len(points):
            raise InvalidArgument("INVALID_ARGUMENT", f"values has {len(values)} rows, needs one for each of "
                                  f"{len(points)} points")
        return self._at(positions, values, context)

    def crowding(self, positions: Any, context: Context | None = None) -> Array:
        """How crowded the points are at the vertices of a Mesh, at Points, or at places (n x 3): the sum of the kernel's
        weights, 1 at a lone point.

        >>> import trommel
        >>> trommel.field([[0, 0, 0], [5, 0, 0], [5, 0, 0]], radius=1.0).crowding([[0, 0, 0], [5, 0, 0]]).round(3).tolist()
        [1.0, 2.0]
        """
        return self._at(positions, None, context)

    def _at(self, positions, values, context):
        context, (rows, own) = context_of(context), rows_of(positions, "positions")
        if not hasattr(positions, "origin"):
            check_places(rows + np.asarray(own), "positions", self._base)
        out = np.empty((len(rows),) + (() if values is None else values.shape[1:]), np.float32)
        with Buffers(context) as buffers:
            desc = _field_desc(buffers, *self._points)
            desc.radius = 0.0 if desc.radii.slot else self.radius
            desc.grid = c.tml_grid(dims=tuple(reversed(self.values.shape)), spacing=self.spacing, origin=self._local)
            mean = c.tml_field_mean_desc(field=ctypes.pointer(desc), positions=buffers.input(rows, c.TML_F32 | 3 << 8),
                                         position_origin=difference(own, self._base))
            if values is None:
                mean.weights = buffers.output(out)
            else:
                mean.values[0], mean.means[0] = buffers.input(values), buffers.output(out)
            context.call("field_mean", mean)
        return out

    def surface(self, iso: ArrayLike | str | None = None, **options: Any) -> Mesh:
        """surface() of it, at its own isovalue where none is given."""
        return surface(self, self.iso if iso is None and options.get("labels") is None else iso, **options)


def _field_desc(buffers, points, radius, radii, distance, kernel, cell=None, resolution=None, lower=None, upper=None,
                base=(0.0, 0.0, 0.0)):
    desc = c.tml_field_desc(kind=c.TML_FIELD_DISTANCE if distance else c.TML_FIELD_KERNEL_SUM,
                            kernel=choose(_KERNELS, "kernel", kernel), radius=radius or 0.0,
                            resolution=resolution or 0)
    desc.points = buffers.input(points, c.TML_F32 | 3 << 8, on_host=True)
    if radii is not None:
        desc.radii = buffers.input(as_array(radii, "radii", np.float32, 1), on_host=True)
    if cell is not None:
        desc.grid.spacing = (cell,) * 3
        desc.grid.origin = difference((0.0, 0.0, 0.0), base)  # so that samples lie at multiples of it
    if lower is not None or upper is not None:
        desc.lower = difference(numbers(lower if lower is not None else -np.inf, 3, "lower", scalar=lower is None), base)
        desc.upper = difference(numbers(upper if upper is not None else np.inf, 3, "upper", scalar=upper is None), base)
    return desc


def field(points: Any, *, radius: float | None = None, radii: ArrayLike | None = None, distance: bool = False,
          kernel: str | None = None, densities: ArrayLike | bool | None = None, anisotropic: bool = False,
          cell: float | None = None, resolution: int | None = None, lower: ArrayLike | None = None,
          upper: ArrayLike | None = None, context: Context | None = None) -> Field:
    """The field of points on a grid that covers them, as a Field.

    points     Points whole, or places (n x 3)
    radius     of every point's kernel; None: the Points' radii, or else from the points' distances
    radii      one for each point
    distance   signed distance to spheres of these radii, in place of a sum of kernels
    kernel     "wendland", "poly6", "metaball", "spline"; None: the first, with densities the last
    densities  one for each point, what its kernel is divided by, as smoothed particle hydrodynamics has it; True: at
               each the sum of the kernels of all, so that the field is about 1 inside
    anisotropic    over densities, ellipsoids that follow the surface, so that fluids have no bumps (Yu and Turk)
    cell       spacing of the grid, whose samples then lie at multiples of it
    resolution samples along the longest side where no cell is given; None: 128, as the command's. 0: eight to the radius,
               at most 512
    lower, upper    a box of places to cover in place of all points

    >>> import numpy as np, trommel
    >>> points = np.random.default_rng(1).normal(size=(1000, 3))
    >>> trommel.field(points).surface().examine()["boundary_edges"]
    0
    >>> trommel.field(points, radius=0.5, densities=True).iso
    0.6
    """
    context, (rows, base) = context_of(context), rows_of(points, "points")
    if radius is None and radii is None and isinstance(points, Points):
        radii = points.radii
    if not any(base):
        base = box_origin(rows)
        rows = moved(rows, difference((0.0, 0.0, 0.0), base))
    if resolution is None and cell is None:
        resolution = c.TML_POINTS_RESOLUTION
    finds = anisotropic if densities is None else densities is True
    if kernel is None:
        kernel = "spline" if finds or densities is not None and densities is not False else "wendland"
    with Buffers(context) as buffers:
        desc, made = c.tml_field_prepare_desc(densities=finds, shapes=anisotropic), c.tml_field_prepared()
        desc.field = _field_desc(buffers, rows, radius, radii, distance, kernel, cell, resolution, lower, upper, base)
        if not finds and densities is not None and densities is not False:
            desc.field.densities = buffers.input(as_array(densities, "densities", np.float32, 1))
        context.call("field_prepare", desc, made)
        try:
            values = np.empty(tuple(reversed(made.field.grid.dims)), np.float32)
            context.call("field", made.field, buffers.output(values.reshape(-1)))
            grid, iso, radius_found = c.tml_grid.from_buffer_copy(made.field.grid), made.iso, made.balls.radius
        finally:
            with context._handle:
                lib.tml_field_prepared_free(context._handle.pointer, made)
    return Field(values, grid, iso, radius_found, (rows, radius, radii, distance, kernel), base)
