"""What is done to meshes: trees, collision, distance, subdivision."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _abi as c
from ._library import Buffers, InvalidArgument, Owner, as_array, context_of, lib, numbers, path_of, take, wrap
from .objects import box_origin, difference, moved, placed, relative
from .surface import Mesh, choose

if TYPE_CHECKING:
    from ._types import Array, ArrayLike, Context, MeshLike, Path

_RULES = {"even-odd": c.TML_TREE_RULE_EVEN_ODD, "winding": c.TML_TREE_RULE_WINDING,
          "solid-angle": c.TML_TREE_RULE_SOLID_ANGLE}
_CASTS = {"nearest": c.TML_TREE_CAST_NEAREST, "any": c.TML_TREE_CAST_ANY, "count": c.TML_TREE_CAST_COUNT,
          "all": c.TML_TREE_CAST_ALL}
_CLASSES = ("none", "crossing", "touching", "coplanar", "degenerate")
_ORIGINS = b"trommel origins\n"  # at the end of a tree of Python's, after six float64: its origin, and its mesh's
PAIR = np.dtype([("a", np.uint32), ("b", np.uint32), ("pose", np.uint32), ("kind", np.uint32)])


def _as_mesh(mesh):
    if isinstance(mesh, Mesh):
        return mesh
    if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):  # a trimesh
        return Mesh(mesh.vertices, mesh.faces)
    if isinstance(mesh, (tuple, list)) and len(mesh) == 2:
        return Mesh(*mesh)
    raise InvalidArgument("INVALID_ARGUMENT", f"mesh is {type(mesh).__name__}, needs a Mesh, or vertices and faces")


def _frame_of(mesh):
    """An origin near a mesh, relative to which its vertices lose nothing: its own, or of one far from it another."""
    return tuple(map(sum, zip(mesh.origin, box_origin(mesh.vertices))))


class Tree:
    """A mesh with a hierarchy of boxes, for collide() and distance(), and for points. mesh: a Mesh, (vertices,
    faces), or anything with these. skip_broken: leave out triangles that are not finite, in place of an error. Trees
    can be pickled.

    Points are Points, a Mesh, or an array of places. Positions that come out are places, too, in float64 where the mesh
    is far from 0. origin is what the tree's own floats are relative to.

    >>> import trommel
    >>> tetrahedron = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
    >>> tree = trommel.Tree(tetrahedron)
    >>> tree.inside([[.2, .2, .2], [1, 1, 1]]).tolist()
    [True, False]
    >>> tree.nearest([[.2, .2, -3]])["distance"].tolist()
    [3.0]
    >>> tree.cast([[.2, .2, -3]], [[0, 0, 2]], "all")["t"].tolist()
    [1.5, 1.7999999523162842]
    """

    origin: tuple[float, float, float]

    def __init__(self, mesh: MeshLike, skip_broken: bool = False, context: Context | None = None) -> None:
        mesh, self.context = _as_mesh(mesh), context_of(context)
        self._build(mesh, _frame_of(mesh), skip_broken)

    def _build(self, mesh, origin, skip_broken=False):
        pointer, self.origin, self._given = ctypes.c_void_p(), origin, mesh.origin
        with Buffers(self.context) as buffers:
            desc = c.tml_tree_desc(skip_broken=skip_broken)
            vertices = moved(mesh.vertices, difference(mesh.origin, origin))
            desc.vertices = buffers.input(vertices, c.TML_F32 | 3 << 8, on_host=True)
            if mesh.faces is not None:
                desc.indices = buffers.input(mesh.faces, on_host=True)
            self.context.call("tree_create", desc, pointer)
        self._own(pointer)

    def _own(self, pointer):
        self._pointer, handle = pointer, self.context._handle
        self._owner = Owner(self.context, lambda: lib.tml_tree_destroy(handle.pointer, pointer))

    def update(self, vertices: Any, rebuild: bool = False) -> None:
        """Moves the vertices: as many as before, a Mesh's or an array, which like the first mesh's vertices is relative to
        that one's origin. rebuild: sorts the triangles anew, for a mesh whose shape has changed much."""
        if hasattr(vertices, "vertices"):
            mesh = _as_mesh(vertices)
            vertices = moved(mesh.vertices, difference(mesh.origin, self.origin))
        else:
            vertices = moved(as_array(vertices, "vertices", np.float64 if self._given != self.origin else np.float32, 2, 3),
                             difference(self._given, self.origin))
        with Buffers(self.context) as buffers:
            self.context.call("tree_update", self._pointer, buffers.input(vertices, on_host=True),
                              c.TML_TREE_REBUILD if rebuild else c.TML_TREE_REFIT)

    def nearest(self, points: Any, k: int = 1) -> dict[str, Array]:
        """Of the mesh what is nearest each point (n x 3): a dict of the arrays distance, position (n x 3), triangle
        and feature (0: its face, 1 to 3: its edges, 4 to 6: its corners). k > 1: of the k nearest triangles (256 at
        most), in order; the arrays are n x k (x 3) then, and where the mesh has less than k: infinity, NaN, 2^32 - 1."""
        rows = relative(points, "points", self.origin)
        if not 1 <= k <= c.TML_TREE_NEAREST_MAX:
            raise InvalidArgument("INVALID_ARGUMENT", f"k is {k}, needs 1 to {c.TML_TREE_NEAREST_MAX}")
        shape = (len(rows),) if k == 1 else (len(rows), k)
        found = self._ask(rows, k=k, distance=np.empty(shape, np.float32), position=np.empty((*shape, 3), np.float32),
                          triangle=np.empty(shape, np.uint32), feature=np.empty(shape, np.uint8))
        found["position"] = placed(found["position"], self.origin)
        return found

    def signed_distance(self, points: Any, rule: str = "even-odd") -> Array:
        """The distance from each point (n x 3) to the mesh, negative inside of it. rule: as inside()'s."""
        rows = relative(points, "points", self.origin)
        return self._ask(rows, rule, True, distance=np.empty(len(rows), np.float32))["distance"]

    def inside(self, points: Any, rule: str = "even-odd", border: bool = True) -> Array:
        """Which points (n x 3) lie inside, exactly, of a mesh that is closed. rule: "even-odd", or "winding" (once
        or more: a point in two solids that overlap is inside); "solid-angle" takes open meshes, too (where the
        generalised winding number is 1/2 or more, in double precision). border: whether points on a triangle are."""
        rows = relative(points, "points", self.origin)
        side = self._ask(rows, rule, side=np.empty(len(rows), np.uint8))["side"]
        return (side != c.TML_TREE_OUTSIDE) if border else side == c.TML_TREE_INSIDE

    def cast(self, origins: Any, directions: ArrayLike, want: str = "nearest",
             t_max: float = np.inf) -> dict[str, Array] | Array:
        """What rays hit, exactly: from each origin (n x 3) along its direction (n x 3, of any length but 0), at t times
        that, 0 to t_max. want: "nearest", a dict of the arrays t (infinite where there is no hit), triangle (2^32 - 1
        there) and barycentric (n x 2: the weights of its second and third corner); "any", an array of bools; "count",
        how many hits each has; "all", a dict of ray, triangle and t of every hit, by ray, then t, then triangle."""
        origins = relative(origins, "origins", self.origin)
        directions = as_array(directions, "directions", np.float32, 2, 3)
        if len(origins) != len(directions):
            raise InvalidArgument("INVALID_ARGUMENT",
                                  f"directions has {len(directions)} rows, needs {len(origins)}, as origins")
        if not t_max > 0:
            raise InvalidArgument("INVALID_ARGUMENT", f"t_max is {t_max}, needs more than 0")
        kind, n = choose(_CASTS, "want", want), len(origins)

        def ask(kind, **outputs):
            desc = c.tml_tree_cast_desc(tree=self._pointer, want=kind, t_max=0 if t_max == np.inf else t_max)
            with Buffers(self.context) as buffers:
                desc.origins = buffers.input(origins, c.TML_F32 | 3 << 8)
                desc.directions = buffers.input(directions, c.TML_F32 | 3 << 8)
                for name, array in outputs.items():
                    setattr(desc, name, buffers.output(array))
                self.context.call("tree_cast", desc)
            return outputs

        if kind == c.TML_TREE_CAST_NEAREST:
            hit = ask(kind, t=np.empty(n, np.float32), triangles=np.empty(n, np.uint32),
                      barycentrics=np.empty((n, 2), np.float32))
            return {"t": hit["t"], "triangle": hit["triangles"], "barycentric": hit["barycentrics"]}
        if kind == c.TML_TREE_CAST_ANY:
            return ask(kind, hits=np.empty(n, np.uint8))["hits"] != 0
        counts = ask(c.TML_TREE_CAST_COUNT, counts=np.empty(n, np.uint32))["counts"]
        if kind == c.TML_TREE_CAST_COUNT:
            return counts
        total = int(counts.sum(dtype=np.uint64))
        if total == 0:
            return {"ray": np.empty(0, np.uint32), "triangle": np.empty(0, np.uint32), "t": np.empty(0, np.float32)}
        every = ask(kind, rays=np.empty(total, np.uint32), triangles=np.empty(total, np.uint32),
                    t=np.empty(total, np.float32))
        return {"ray": every["rays"], "triangle": every["triangles"], "t": every["t"]}

    def _ask(self, rows, rule="even-odd", is_signed=False, k=1, **outputs):
        desc = c.tml_tree_nearest_desc(tree=self._pointer, rule=choose(_RULES, "rule", rule), is_signed=is_signed, k=k)
        with Buffers(self.context) as buffers:
            desc.points = buffers.input(rows, c.TML_F32 | 3 << 8)
            for name, array in outputs.items():
                setattr(desc, name + "s", buffers.output(array.reshape(-1, 3) if name == "position" else array.ravel()))
            self.context.call("tree_nearest", desc)
        return outputs

    def __bytes__(self) -> bytes:
        size = ctypes.c_size_t()
        self.context.call("tree_save", self._pointer, None, size)
        data = ctypes.create_string_buffer(size.value)
        self.context.call("tree_save", self._pointer, data, size)
        origins = self.origin + self._given
        return data.raw + (np.array(origins, "<f8").tobytes() + _ORIGINS if any(origins) else b"")

    def save(self, path: Path) -> None:
        """Writes it to a file, which takes about 50 bytes a triangle; load_tree() reads it."""
        with open(path_of(path), "wb") as file:
            file.write(bytes(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _tree_of, (bytes(self),)

    def __repr__(self) -> str:
        info = c.tml_tree_info()
        lib.tml_tree_describe(self._pointer, info)
        return f"<trommel.Tree of {info.triangle_count} triangles, {info.depth} levels>"


def _tree_of(data, context=None):
    tree, pointer = Tree.__new__(Tree), ctypes.c_void_p()
    tree.context, tree.origin, tree._given = context_of(context), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if data.endswith(_ORIGINS):
        end = len(data) - len(_ORIGINS)
        origins = tuple(np.frombuffer(data[end - 48:end], "<f8").tolist())
        tree.origin, tree._given, data = origins[:3], origins[3:], data[:end - 48]
    tree.context.call("tree_load", data, len(data), pointer)
    tree._own(pointer)
    return tree


def load_tree(path: Path, context: Context | None = None) -> Tree:
    """Reads what Tree.save() wrote.

    >>> import tempfile, trommel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trommel.Tree(([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])).save(folder + "/t.tree")
    ...     trommel.load_tree(folder + "/t.tree")
    <trommel.Tree of 1 triangles, 1 levels>
    """
    with open(path_of(path), "rb") as file:
        return _tree_of(file.read(), context)


def _trees(a, b, context):
    """Trees of two meshes, in one frame where they may choose it: whichever comes first, what is computed is the same."""
    if isinstance(a, Tree) and isinstance(b, Tree):
        return a, b
    if isinstance(a, Tree) or isinstance(b, Tree):
        tree = a if isinstance(a, Tree) else b
        other = _tree_in(b if tree is a else a, tree.origin, tree.context)
        return (a, other) if tree is a else (other, b)
    a, b, context = _as_mesh(a), _as_mesh(b), context_of(context)
    frame = max(_frame_of(a), _frame_of(b), key=lambda origin: (sum(x * x for x in origin), origin))
    return _tree_in(a, frame, context), _tree_in(b, frame, context)


def _tree_in(mesh, origin, context):
    tree = Tree.__new__(Tree)
    tree.context = context
    tree._build(_as_mesh(mesh), origin)
    return tree


def _poses(poses, a, b):
    """Matrices of 3 x 4 or 4 x 4 that take b into a's place, as the library has them: between the trees' own origins."""
    if poses is None and a.origin == b.origin:
        return None, 0
    poses = np.eye(4)[None] if poses is None else as_array(poses, "poses", np.float64)
    poses = poses[None] if poses.ndim == 2 else poses
    if poses.ndim != 3 or poses.shape[2] != 4 or poses.shape[1] not in (3, 4) or not len(poses):
        raise InvalidArgument("INVALID_ARGUMENT", f"poses is {poses.shape}, needs matrices of 3 x 4 or 4 x 4, one "
                              "at least")
    poses = np.array(poses[:, :3])
    if any(a.origin) or any(b.origin):
        poses[:, :, 3] += poses[:, :, :3] @ np.asarray(b.origin) - np.asarray(a.origin)
    return np.ascontiguousarray(poses, np.float32), len(poses)


class Contacts:
    """pairs: an array with fields a, b (triangles), pose, kind; first: where each pose's begin, and the end;
    segments: count x 2 x 3, the ends of what each pair has in common, in a's place, or None; counts: by class."""

    def __init__(self, pairs: Array, segments: Array | None, first: Array, counts: dict[str, int]) -> None:
        self.pairs, self.segments, self.first, self.counts = pairs, segments, first, counts

    def __len__(self) -> int:
        return int(self.first[-1])

    def __repr__(self) -> str:
        return f"<trommel.Contacts: {len(self)} pairs in {len(self.first) - 1} poses>"


def collide(a: Tree | MeshLike, b: Tree | MeshLike | None = None, poses: ArrayLike | None = None, *, want: str = "all",
            classes: Sequence[str] | None = None, segments: bool = False, context: Context | None = None) -> Contacts:
    """Which triangles of two meshes meet, exactly, under one pose or many; without b, which of one mesh meet each
    other. a, b: Trees or meshes. want: "all", "count", "first". classes: of "crossing", "touching", "coplanar",
    "degenerate", which to report.

    >>> import trommel
    >>> flat = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]
    >>> upright = [[.2, .2, -1], [.3, .2, 1], [.2, .3, 1]], [[0, 1, 2]]
    >>> trommel.collide(flat, upright)
    <trommel.Contacts: 1 pairs in 1 poses>
    """
    if b is None:
        a = a if isinstance(a, Tree) else Tree(a, context=context)
    else:
        a, b = _trees(a, b, context)
    context, result = a.context, c.tml_collide_result()
    matrices, count = _poses(poses, a, b or a)
    desc = c.tml_collide_desc(a=a._pointer, b=b and b._pointer, pose_count=count, segments=segments, want=choose(
        {"all": c.TML_COLLIDE_WANT_ALL, "count": c.TML_COLLIDE_WANT_COUNT, "first": c.TML_COLLIDE_WANT_FIRST},
        "want", want))
    for name in classes or ():
        desc.classes |= 1 << choose({n: k for k, n in enumerate(_CLASSES) if k}, "classes", name)
    if count:
        desc.poses = matrices.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    owner = _of_result(context, result, "tml_collide_free")
    context.call("collide", desc, result)
    found = result.count if result.pairs else 0
    pairs = np.empty(0, PAIR)
    if found:
        pairs = wrap(ctypes.cast(result.pairs, ctypes.c_void_p).value, (found, 4), np.uint32, owner).view(PAIR)[:, 0]
    ends = None
    if segments:
        ends = placed(wrap(ctypes.cast(result.segments, ctypes.c_void_p).value, (found, 2, 3), np.float32, owner),
                      a.origin)
    first = wrap(ctypes.cast(result.first, ctypes.c_void_p).value, (result.pose_count + 1,), np.uint64, owner)
    return Contacts(pairs, ends, first,
                    {name: result.class_counts[k] for k, name in enumerate(_CLASSES) if k})


def _of_result(context, result, free):
    """Owns a result's memory; arrays over it keep the owner."""
    handle = context._handle
    return Owner(context, lambda: getattr(lib, free)(handle.pointer, result))


def distance(a: Tree | MeshLike, b: Tree | MeshLike, poses: ArrayLike | None = None,
             context: Context | None = None, *, limit: float = 0, tolerance: float = 0) -> dict[str, Any]:
    """The smallest distance of two meshes: a dict of distance, point_a, point_b (places in a's frame), and the triangles
    a and b; with poses, arrays of these. limit: what is farther apart has distance inf. tolerance: how much greater than
    the smallest a distance may be, by itself.

    >>> import trommel
    >>> low, high = ([[[0, 0, z], [1, 0, z], [0, 1, z]], [[0, 1, 2]]] for z in (0, 3))
    >>> float(trommel.distance(low, high)["distance"])
    3.0
    """
    a, b = _trees(a, b, context)
    matrices, count = _poses(poses, a, b)
    results = (c.tml_collide_distance_result * max(count, 1))()
    pointer = matrices.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) if count else None
    desc = c.tml_collide_distance_desc(a=a._pointer, b=b._pointer, poses=pointer, pose_count=count, limit=limit,
                                       tolerance=tolerance)
    a.context.call("collide_distance", desc, results)
    array = np.ctypeslib.as_array(results).copy()
    found = {name: placed(array[name], a.origin) if name.startswith("point") else array[name]
             for name in array.dtype.names}
    return found if poses is not None else {name: values[0] for name, values in found.items()}


_BOUNDARIES = {"smooth": c.TML_BOUNDARY_EDGE_ONLY, "corners": c.TML_BOUNDARY_EDGE_AND_CORNER,
               "pinned": c.TML_BOUNDARY_PINNED}
_CRITERIA = {"length": c.TML_SPLIT_LENGTH, "angle": c.TML_SPLIT_ANGLE, "distance": c.TML_SPLIT_DISTANCE,
             "pixels": c.TML_SPLIT_PIXELS}


def _sharp(data, name, columns):
    """The vertices, in columns, and their sharpness, which may be the last column; None: infinite."""
    data = as_array(data, name, np.float64)
    data = data[:, None] if data.ndim == 1 else data
    if data.ndim != 2 or data.shape[1] not in (columns, columns + 1):
        raise InvalidArgument("INVALID_ARGUMENT", f"{name} is {data.shape}, needs rows of {columns} vertices, and "
                              "perhaps the sharpness")
    vertices = data[:, :columns]
    if not np.all((vertices >= 0) & (vertices < 2**32) & (vertices == np.floor(vertices))):
        raise InvalidArgument("INVALID_ARGUMENT", f"{name} holds what is no vertex: needs integers from 0 on")
    sharpness = np.ascontiguousarray(data[:, columns], np.float32) if data.shape[1] > columns else None
    vertices = np.ascontiguousarray(vertices.astype(np.uint32))
    return vertices.ravel() if columns == 1 else vertices, sharpness


def _camera(camera, size, origin):
    matrix = np.array(numbers(camera if camera is not None else (), 16, "camera")).reshape(4, 4)
    matrix[:, 3] += matrix[:, :3] @ np.asarray(origin)  # from places to what vertices are relative to
    return c.tml_subdivide_camera((ctypes.c_float * 16)(*matrix.ravel()), *map(int, numbers(
        size if size is not None else (), 2, "size")))


def subdivide(mesh: MeshLike, levels: int | None = None, *, split: str | None = None, threshold: float | None = None,
              max_depth: int = 0, budget: int = 0, limit: bool = True, normals: bool = True, boundary: str = "corners",
              creases: ArrayLike | None = None, corners: ArrayLike | None = None, camera: ArrayLike | None = None,
              size: Sequence[int] | None = None, fix: bool = False, context: Context | None = None) -> Mesh:
    """Loop's smooth surface of a mesh: every triangle subdivided levels times, or as far as needed.

    split, threshold    "length" (the mesh's units), "angle" (radians), "distance" (from edge to surface) or "pixels":
                        edges that exceed the threshold are split, neighbours closed
    camera, size        of "pixels": a matrix of 4 x 4 from the mesh's space to clip space, for columns (x, y, z, 1),
                        and the picture's width and height
    max_depth, budget   levels and triangles at most; 0: no limit
    limit, normals      move vertices to the limit surface; make its normals
    boundary            "smooth", "corners" (single triangles' corners stay), "pinned"
    creases             edges that stay sharp: n x 2 vertices, or n x 3 with the sharpness: how many levels long
    corners             vertices that stay where they are, or n x 2 with the sharpness
    fix                 mend what is no manifold, in place of an error

    >>> import trommel
    >>> tetrahedron = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
    >>> trommel.subdivide(tetrahedron, 3).face_count
    256
    """
    mesh, context = _as_mesh(mesh), context_of(context)
    if (levels is None) == (split is None) or (split is None) != (threshold is None):
        raise InvalidArgument("INVALID_ARGUMENT", "subdivide: needs either levels, or split and threshold")
    pointer, result = ctypes.c_void_p(), c.tml_subdivide_result()
    with Buffers(context) as buffers:
        faces = mesh._faces()
        if faces.size and faces.max() >= 2**32:
            raise InvalidArgument("INVALID_ARGUMENT", "subdivide: a face names a vertex from 2^32 on")
        arrays = c.tml_mesh_buffers(positions=buffers.input(mesh.vertices, c.TML_F32 | 3 << 8),
                                    indices=buffers.input(faces.astype(np.uint32, copy=False)))
        desc = c.tml_subdivider_desc(mesh=arrays, boundary=choose(_BOUNDARIES, "boundary", boundary), fix=fix)
        for data, name, columns, field in ((creases, "creases", 2, "crease_edges"), (corners, "corners", 1, "corners")):
            if data is None:
                continue
            vertices, sharpness = _sharp(data, name, columns)
            setattr(desc, field, buffers.input(vertices))
            if sharpness is not None:
                setattr(desc, name[:-1] + "_sharpness", buffers.input(sharpness))
        context.call("subdivider_create", desc, pointer)
    try:
        if split is None:
            uniform = c.tml_subdivide_uniform_desc(levels=levels, limit=limit, normals=normals)
            context.call_on("subdivide_uniform_enqueue", pointer, uniform, result)
        else:
            adaptive = c.tml_subdivide_adaptive_desc(criterion=choose(_CRITERIA, "split", split),
                                                     threshold=threshold, max_depth=max_depth, budget=budget,
                                                     normals=normals)
            if split == "pixels":
                adaptive.camera = _camera(camera, size, mesh.origin)
            context.call_on("subdivide_adaptive", pointer, adaptive, result)
    finally:
        context._handle.release(lambda: lib.tml_subdivider_destroy(context._handle.pointer, pointer))
    made = result.buffers.mesh
    return Mesh(take(context, made.positions, np.float32, 3), take(context, made.indices, np.uint32, 3),
                take(context, made.normals, np.float32, 3), origin=mesh.origin, unit=mesh.unit)
