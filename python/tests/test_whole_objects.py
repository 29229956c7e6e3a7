"""Whole objects go in, and carry what they mean: every public function that takes a volume, points, a mesh or labels gets
the same thing described in several ways, on every engine, and has to answer the same."""
import inspect
import os
import pathlib
import pickle
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest
import trommel
from trommel import mcubes, measure

FAR = (4e6, 5e6, 100.0)
ENGINES = sorted({device["engine"] for device in trommel.devices()})


@pytest.fixture(params=ENGINES, name="context", scope="module")
def context_of_each_engine(request):
    return trommel.Context(request.param)


# ---- the same volume, described in several ways: (Volume, where it is) ------------------------------------------------

SPACING = np.array((0.5, 0.25, 1.0))
SHAPE = (12, 18, 24)  # z, y, x


def physical():
    z, y, x = np.meshgrid(*(np.linspace(-1, 1, n) for n in SHAPE), indexing="ij")
    rounded = np.rint(800 - 1000 * np.sqrt(x**2 + y**2 + (z + 0.1)**2))
    return (rounded + 0.5).astype(np.float32)  # half: that no sample is an isovalue; float32: OpenGL has no others


def plain():
    return trommel.Volume(physical(), SPACING)


def moved():
    return trommel.Volume(physical(), SPACING, FAR)


def scaled():
    return trommel.Volume((2 * (physical() + 1024)).astype(np.int16), SPACING, slope=0.5, intercept=-1024)


def negative():
    return trommel.Volume((-2 * (physical() + 1024)).astype(np.int32), SPACING, slope=-0.5, intercept=-1024)


def millimetres():
    return trommel.Volume(physical(), SPACING, unit="mm")


def micrometres():
    return trommel.Volume(physical(), SPACING, unit="µm")


def mirrored():
    return trommel.Volume(physical()[:, :, ::-1], SPACING, ((SHAPE[2] - 1) * SPACING[0], 0, 0), np.diag((-1.0, 1, 1)))


def reordered():
    """x, y, z become y, z, x."""
    return trommel.Volume(physical().transpose(2, 0, 1), SPACING[[1, 2, 0]], direction=np.eye(3)[:, [1, 2, 0]])


def everything():
    return trommel.Volume((-2 * (physical()[:, :, ::-1] + 1024)).astype(np.int16), SPACING,
                          (FAR[0] + (SHAPE[2] - 1) * SPACING[0], *FAR[1:]), np.diag((-1.0, 1, 1)), slope=-0.5,
                          intercept=-1024, unit="µm")


VOLUMES = (moved, scaled, negative, millimetres, micrometres, mirrored, reordered, everything)
ORIGINS = {moved: FAR, everything: FAR}


def facts(mesh, origin=(0, 0, 0)):
    """What does not depend on the order of vertices. Places are compared where they should be: at the origin."""
    said = mesh.examine()
    if said["boundary_edges"] or said["nonmanifold_edges"]:
        said["volume"] = np.nan  # it encloses nothing
    return [said["euler"], *np.subtract(said["lower"], origin), *np.subtract(said["upper"], origin), said["area"],
            said["volume"], *(mesh.placed.astype(float).mean(0) - origin)]


def same(a, b, loose=0):
    """But for rounding of a thousandth of a step, which far away is what there is. loose: how many of the last may differ
    by a hundredth, since triangles lie otherwise where axes do."""
    rest = len(a) - loose
    assert np.allclose(a[:rest], b[:rest], rtol=2e-3, atol=2e-3, equal_nan=True), (a, b)
    assert np.allclose(a[rest:], b[rest:], rtol=1e-2, atol=3e-2, equal_nan=True), (a, b)


def to_file(function, ending):
    def call(volume, context, folder):
        function(folder / ("a" + ending), volume, context)
        return trommel.load_mesh(folder / ("a" + ending))
    return call


def saved(volume, context, folder):
    meshes = []
    for name in ("a.nrrd", "a.mha"):
        trommel.save_volume(folder / name, volume, context=context)
        again = trommel.load_volume(folder / name)
        assert name.endswith("mha") or again.unit == volume.unit
        meshes.append(trommel.surface(again, 100.25, context=context))
    same(facts(meshes[0], volume.origin), facts(meshes[1], volume.origin))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", trommel.Warning)  # NPY has no place for where the samples are
        trommel.save_volume(folder / "a.npy", volume)
    assert np.array_equal(np.load(folder / "a.npy"), np.asarray(volume))
    return meshes[0]


def by_arrays(volume, context, _):
    """As the documentation had it: an array, and the geometry of its volume."""
    return trommel.surface(volume.values, 100.25, **volume.geometry, context=context)


def attribute(volume, context, _):
    """An attribute is in physical values, and a mask tells physical 0."""
    carried = trommel.surface(volume, 100.25, attribute=volume, mask=volume, context=context)
    assert np.allclose(carried.values, 100.25, atol=0.1)
    return carried


PHYSICAL_LABELS = {"labels": [3, 5]}


def as_labels(volume):
    """Whole numbers of the same places: 3 inside, 5 in a half, 0 outside; kept with the same slope and intercept."""
    values = np.where(np.asarray(volume) > 100.25, 3.0, 0.0)
    x = np.sign(volume.direction[0]).astype(int)  # the half of greater x
    axis, sign = int(np.flatnonzero(x)[0]), int(x[np.flatnonzero(x)[0]])
    half = [slice(None)] * 3
    half[2 - axis] = slice(SHAPE[2] // 2, None) if sign > 0 else slice(None, SHAPE[2] // 2)
    half = tuple(half)
    values[half] = np.where(values[half] == 3, 5.0, 0.0)
    stored = ((values - volume.intercept) / volume.slope).astype(volume.values.dtype)
    return trommel.Volume(stored, volume.spacing, volume.origin, volume.direction, slope=volume.slope,
                          intercept=volume.intercept, unit=volume.unit)


def labels_in_file(volume, context, folder):
    trommel.labels_to_file(folder / "a.ply", as_labels(volume), context=context, **PHYSICAL_LABELS)
    return trommel.load_mesh(folder / "a.ply")


def label_parts(volume, context, _):
    mesh = trommel.surface(as_labels(volume), context=context, **PHYSICAL_LABELS)
    assert [part["value"] for part in mesh.parts] == [3, 5]
    return mesh


def label_walls(volume, context, _):
    mesh = trommel.surface_labels(as_labels(volume), separate=True, context=context, **PHYSICAL_LABELS)
    assert set(np.unique(mesh.labels)) == {0, 3, 5} and [part["value"] for part in mesh.parts] == [3, 5]
    return mesh


def along_axes(volume, context, _):
    """scikit-image's vertices are along the volume's axes: brought to its places by hand."""
    vertices, faces, *_ = measure.marching_cubes(volume, 100.25, gradient_direction="ascent", context=context)
    return _from_axes(volume, np.asarray(vertices)[:, ::-1], faces)


def pymcubes(volume, _context, _):
    vertices, faces = mcubes.marching_cubes(volume, 100.25)
    return _from_axes(volume, vertices[:, ::-1] * volume.spacing, faces[:, ::-1])


def _from_axes(volume, vertices, faces):
    places = vertices @ volume.direction.T + volume.origin
    # In order x, y, z a right-handed volume is turned inside out, since its axes z, y, x are left-handed.
    return trommel.Mesh(places, faces if np.linalg.det(volume.direction) > 0 else faces[:, ::-1])


VOLUME_ROWS = {
    "surface": lambda v, context, _: trommel.surface(v, 100.25, context=context),
    "surface by geometry": by_arrays,
    "surface with attribute": attribute,
    "surface with labels": label_parts,
    "surface_labels": label_walls,
    "surface_to_file": to_file(lambda path, v, context: trommel.surface_to_file(path, v, 100.25, context=context), ".ply"),
    "labels_to_file": labels_in_file,
    "otsu": lambda v, context, _: trommel.otsu(v, context=context),
    "save_volume, load_volume": saved,
    "Volume": lambda v, context, _: trommel.surface(pickle.loads(pickle.dumps(v)), 100.25, context=context),
    "measure.marching_cubes": along_axes,
    "mcubes.marching_cubes": pymcubes,
}


@pytest.mark.parametrize("row", VOLUME_ROWS)
@pytest.mark.parametrize("variant", VOLUMES, ids=lambda f: f.__name__)
def test_volumes(row, variant, context, tmp_path):
    call, volume, origin = VOLUME_ROWS[row], variant(), ORIGINS.get(variant, (0, 0, 0))
    try:
        wanted, found = call(plain(), context, tmp_path), call(volume, context, tmp_path)
    except trommel.Unsupported as error:
        pytest.skip(str(error))
    if isinstance(wanted, float):
        assert found == pytest.approx(wanted, abs=2)  # one of its histogram's bins
        return
    assert found.face_count > 100
    same(facts(found, origin), facts(wanted), 5 * (variant in (mirrored, reordered, everything)))
    if row in ("surface", "surface with labels", "surface_labels"):
        assert found.unit == volume.unit


# ---- the same points ------------------------------------------------------------------------------------------------


def places():
    """On multiples of 1/64, so that they are exact at either place."""
    return np.round(np.random.default_rng(3).uniform(0, 1, (400, 3)) * 64) / 64


def attributes():
    at = places()
    return {"color": at, "speed": at[:, 0] + 2}


POINTS = {  # with the origin where they should be
    "Points": (lambda: trommel.Points(places(), attributes=attributes()), (0, 0, 0)),
    "an array": (places, (0, 0, 0)),
    "a list": (lambda: places().tolist(), (0, 0, 0)),
    "Points far": (lambda: trommel.Points(places().astype("f4"), origin=FAR, attributes=attributes()), FAR),
    "Points far, not quite": (lambda: trommel.Points((places() - 0.5).astype("f4"), origin=np.add(FAR, 0.5)), FAR),
    "an array far": (lambda: places() + FAR, FAR),
    "Points of an array far": (lambda: trommel.Points(places() + FAR), FAR),
    "a mesh's vertices": (lambda: trommel.Mesh(places() + FAR), FAR),
}


def solid(origin=(0, 0, 0), tree=True):
    corners = np.array([[x, y, z] for x in (0.25, 0.75) for y in (0.25, 0.75) for z in (0.25, 0.75)])
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
             [1, 5, 7], [1, 7, 3]]
    mesh = trommel.Mesh(corners + origin, faces)
    return trommel.Tree(mesh) if tree else mesh


def field_means(points, origin, context):
    made = trommel.field(points, radius=0.3, resolution=24, context=context)
    mesh = made.surface(context=context)
    mean, crowd = made.mean(places(), mesh, context=context), made.crowding(mesh, context=context)
    at = mesh.placed
    same(made.mean(places(), at, context=context), mean)
    return [*facts(mesh, origin), *mean.mean(0), crowd.mean(), *np.subtract(made.origin, origin)]


def lattice(points, origin, context):
    """A cell's samples lie at its multiples, wherever the points are counted from."""
    made = trommel.field(points, radius=0.3, cell=0.125, lower=np.add(origin, 0.25), upper=np.add(origin, 0.75),
                         context=context)
    assert np.array_equal(np.asarray(made.origin) / 0.125, np.rint(np.asarray(made.origin) / 0.125))
    return facts(made.surface(caps=True, context=context), origin)


def points_in_file(points, origin, context, tmp_path):
    trommel.save_points(tmp_path / "a.ply", points, context=context)
    return (trommel.load_points(tmp_path / "a.ply").placed - origin).ravel()


def tree_answers(points, origin, _context):
    tree = solid(origin)
    near = tree.nearest(points)
    hits = tree.cast(points, np.tile((0, 0, 1.0), (400, 1)))
    return np.concatenate([tree.inside(points), tree.signed_distance(points), near["distance"],
                           (near["position"] - origin).ravel(), np.where(np.isfinite(hits["t"]), hits["t"], -1)])


POINT_ROWS = {"field, Field, Field.surface, Field.mean, Field.crowding": field_means, "field with a cell": lattice,
              "save_points, load_points, Points": points_in_file,
              "Tree.nearest, Tree.inside, Tree.signed_distance, Tree.cast": tree_answers}


@pytest.mark.parametrize("row", POINT_ROWS)
@pytest.mark.parametrize("variant", [name for name in POINTS if name != "Points"])
def test_points(row, variant, context, tmp_path):
    call, extra = POINT_ROWS[row], (tmp_path,) if POINT_ROWS[row] is points_in_file else ()
    if variant == "a mesh's vertices" and call is points_in_file:
        pytest.skip("a mesh is saved as one")
    wanted = call(POINTS["Points"][0](), (0, 0, 0), context, *extra)
    make, origin = POINTS[variant]
    same(call(make(), origin, context, *extra), wanted)


def test_points_carry_what_their_file_says(tmp_path):
    points = trommel.Points(places(), values=np.arange(400), attributes=attributes(), value_name="age")
    assert points.colors.shape == (400, 3) and points.normals is None and len(points) == 400
    assert "color" in repr(points) and "speed" in repr(points)
    rows = ["ply", "format ascii 1.0", "element vertex 2", *(f"property double {n}" for n in "xyz"),
            *(f"property uchar {n}" for n in ("red", "green", "blue")), *(f"property float n{n}" for n in "xyz"),
            "property float age", "end_header", "4000000.5 5000000.25 1 255 0 51 0 0 1 7",
            "4000001.5 5000000.25 1 0 255 51 1 0 0 9"]
    (tmp_path / "a.ply").write_text("\n".join(rows) + "\n")
    points = trommel.load_points(tmp_path / "a.ply")
    assert points.placed.tolist() == [[4000000.5, 5000000.25, 1], [4000001.5, 5000000.25, 1]]
    assert np.allclose(points.colors, [[1, 0, 0.2], [0, 1, 0.2]]) and points.normals.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert points.attributes["age"].tolist() == [7, 9]
    trommel.save_points(tmp_path / "b.ply", points)
    again = trommel.load_points(tmp_path / "b.ply")
    assert again.attributes.keys() == points.attributes.keys() and again.placed.tolist() == points.placed.tolist()
    for name, array in points.attributes.items():
        assert np.allclose(again.attributes[name], array, atol=1 / 255)
    with pytest.raises(trommel.InvalidArgument, match="speed has 3 rows, needs 400"):
        trommel.Points(places(), attributes={"speed": [1, 2, 3]})


# ---- the same mesh --------------------------------------------------------------------------------------------------


def ball(origin):
    x = np.linspace(-1, 1, 16)
    mesh = trommel.surface(0.7 - np.sqrt(x[:, None, None]**2 + x[:, None]**2 + x**2), 0, spacing=2 / 15, origin=(-1, -1, -1))
    places_of = mesh.vertices.astype(float)
    return trommel.Mesh(places_of + origin, mesh.faces, attributes={"color": np.clip(places_of, 0, 1)})


MESHES = {
    "far": lambda: ball(FAR),
    "far, given so": lambda: trommel.Mesh(ball((0, 0, 0)).vertices, ball((0, 0, 0)).faces, origin=FAR),
    "far, by another origin": lambda: trommel.Mesh(ball((3, 0, 0)).vertices, ball((0, 0, 0)).faces,
                                                   origin=np.subtract(FAR, (3, 0, 0))),
}


def through_file(mesh, tmp_path):
    result = []
    for ending in ("ply", "obj", "glb", "vtp"):
        mesh.save(tmp_path / f"a.{ending}")
        result.append(trommel.load_mesh(tmp_path / f"a.{ending}"))
    return result


def stand_in(name, monkeypatch):
    """The package, or what it is called with: vertices and faces."""
    if name not in sys.modules:
        try:
            __import__(name)
            return
        except ImportError:
            pass
    made = types.SimpleNamespace(
        Trimesh=lambda vertices, faces, **_: types.SimpleNamespace(vertices=vertices, faces=faces),
        PolyData=lambda vertices, faces: types.SimpleNamespace(points=vertices, point_data={}),
        Mesh=lambda vertices, cells, **_: types.SimpleNamespace(points=vertices))
    monkeypatch.setitem(sys.modules, name, made)


MESH_ROWS = {
    "Mesh, Mesh.examine": lambda mesh, context: [mesh],
    "Mesh.clean": lambda mesh, context: [mesh.clean(largest=True, context=context)],
    "Mesh.smooth": lambda mesh, context: [mesh.smooth(3, context=context)],
    "subdivide": lambda mesh, context: [trommel.subdivide(mesh, 1, context=context)],
    "subdivide by pixels": lambda mesh, context: [trommel.subdivide(
        mesh, split="pixels", threshold=4, size=(64, 64), context=context,
        camera=np.eye(4) + np.pad(-np.round(mesh.placed.mean(0)).reshape(3, 1), ((0, 1), (3, 0))))],
}


@pytest.mark.parametrize("row", MESH_ROWS)
@pytest.mark.parametrize("variant", MESHES)
def test_meshes(row, variant, context):
    try:
        wanted, found = (MESH_ROWS[row](mesh, context) for mesh in (ball((0, 0, 0)), MESHES[variant]()))
    except trommel.Unsupported as error:
        pytest.skip(str(error))
    for a, b in zip(found, wanted):
        assert a.face_count == b.face_count
        same(facts(a, FAR), facts(b))


@pytest.mark.parametrize("variant", MESHES)
def test_meshes_in_files(variant, tmp_path):
    for mesh in through_file(MESHES[variant](), tmp_path):
        same(facts(mesh, FAR), facts(ball((0, 0, 0))))


@pytest.mark.parametrize("name, attribute_name", [("trimesh", "vertices"), ("pyvista", "points"), ("meshio", "points")])
def test_other_packages_get_places(name, attribute_name, monkeypatch):
    stand_in(name, monkeypatch)
    theirs = getattr(ball(FAR), "to_" + name)()
    assert np.allclose(np.asarray(getattr(theirs, attribute_name)) - FAR, ball((0, 0, 0)).vertices, atol=1e-6)


def test_pictures_show_places():
    pytest.importorskip("matplotlib").use("Agg")
    axes = ball(FAR).plot()
    assert np.allclose(np.mean(axes.get_xlim()), FAR[0], atol=0.1)


@pytest.mark.parametrize("as_trees", ["meshes", "first a tree", "second a tree", "trees"])
def test_two_meshes(as_trees, context):
    """Where two meshes meet, and how far they are apart, by their places: in either order."""
    def of(mesh, is_tree):
        return trommel.Tree(mesh, context=context) if is_tree else mesh

    cube, pose = solid(tree=False), np.eye(4)
    pose[:3, 3] = 0.501, 0, 0
    for shift, is_apart in ((0.501, True), (0.499, False), (0.25, False)):
        for origin in ((0, 0, 0), FAR):
            first, second = (trommel.Mesh(cube.vertices.astype(float) + origin, cube.faces),
                             trommel.Mesh(cube.vertices.astype(float) + origin + (shift, 0, 0), cube.faces))
            for a, b in ((first, second), (second, first)):
                a, b = of(a, "first" in as_trees or as_trees == "trees"), of(b, as_trees in ("second a tree", "trees"))
                hits, gap = trommel.collide(a, b, segments=True, context=context), trommel.distance(a, b, context=context)
                assert (len(hits) == 0) == is_apart
                assert gap["distance"] == pytest.approx(0.001 if is_apart else 0, abs=1e-6)
                assert np.all(np.abs(gap["point_a"] - np.add(origin, 0.5)) < 2)
                ends = hits.segments[np.isfinite(hits.segments).all((1, 2))]
                assert np.all(np.abs(ends - np.add(origin, 0.5)) < 2)
    far = trommel.Mesh(cube.vertices.astype(float) + FAR, cube.faces)
    assert trommel.distance(of(far, "t" in as_trees), far, pose[None])["distance"][0] == pytest.approx(0.001, abs=1e-6)


def test_trees_keep_their_place(tmp_path):
    tree, inside = solid(FAR), np.add(FAR, 0.5)
    tree.save(tmp_path / "a.tree")
    for again in (tree, trommel.load_tree(tmp_path / "a.tree"), pickle.loads(pickle.dumps(tree))):
        assert again.inside([inside, FAR]).tolist() == [True, False]
        assert again.nearest([FAR])["position"].tolist() == [[FAR[0] + 0.25, FAR[1] + 0.25, FAR[2] + 0.25]]
        again.update(solid(np.add(FAR, 10), tree=False))
        assert again.inside([inside, inside + 10]).tolist() == [False, True]
        again.update(solid(FAR, tree=False).vertices, rebuild=True)
        assert again.inside([inside, inside + 10]).tolist() == [True, False]
    # Floats that happen to hold places far from 0, as 4000001.0 is one, are places, too.
    floats = trommel.Mesh((solid(tree=False).vertices * 4 + FAR).astype("f4"), solid(tree=False).faces)
    assert trommel.Tree(floats).inside([np.add(FAR, 2)]).all()
    assert trommel.distance(floats, solid(np.add(FAR, (2.751, 2, 2)), tree=False))["distance"] == pytest.approx(0.001, abs=1e-6)


def test_meshes_carry_what_their_file_says(tmp_path):
    mesh = ball(FAR)
    for again in (mesh.clean(), mesh.smooth(2), pickle.loads(pickle.dumps(mesh))):
        assert np.array_equal(again.colors, mesh.colors) and again.origin == mesh.origin
    for ending in ("ply", "glb", "vtp"):
        mesh.save(tmp_path / f"a.{ending}")
        assert np.allclose(trommel.load_mesh(tmp_path / f"a.{ending}").colors, mesh.colors, atol=1 / 255)
    with pytest.warns(trommel.Warning, match="the first 8 are kept"):
        trommel.Mesh(mesh.vertices, attributes={f"a{k}": mesh.vertices for k in range(9)}).save(tmp_path / "a.ply")
    assert "color" in repr(mesh) and "origin 4000000" in repr(mesh)


def test_what_looks_relative_is_told():
    """Of an array, positions are places; who passes a far mesh's vertices hears of it, and the remedy is one."""
    mesh, tree = ball(FAR), solid(FAR)
    made = trommel.field(places() + FAR, radius=0.3, resolution=16)
    for call in (tree.inside, tree.signed_distance, tree.nearest, made.crowding,
                 lambda at: tree.cast(at, np.ones_like(mesh.vertices))):
        with pytest.warns(trommel.Warning, match=".placed"):
            call(mesh.vertices)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(mesh)
            call(mesh.placed)
    with pytest.warns(trommel.Warning, match="takes an origin"):
        mesh.vertices = mesh.placed
    volume = trommel.Volume(np.ma.masked_less(physical(), 0), slope=2)
    assert np.isnan(np.asarray(volume)).sum() == np.count_nonzero(physical() < 0)


# ---- labels ---------------------------------------------------------------------------------------------------------


def test_ids_beyond_doubles_are_told_apart(context, tmp_path):
    ids = 2**53 + np.array([0, 1, 3], np.uint64)
    volume = np.full((8, 8, 8), ids[0])
    volume[2:6, 2:6, 2:4], volume[2:6, 2:6, 4:6] = ids[1], ids[2]
    for one in (volume, trommel.Volume(volume), volume.astype(np.int64) * -1):
        names = [int(name) for name in np.unique(np.asarray(one if one is not volume else volume))]
        signs = -1 if names[0] < 0 else 1
        walls = trommel.surface_labels(one, background=signs * int(ids[0]), context=context)
        assert sorted(map(int, np.unique(walls.labels))) == names
        two = sorted(signs * int(name) for name in ids[1:])
        assert [p["value"] for p in trommel.surface(one, labels=two, context=context).parts] == two
        assert [p["value"] for p in trommel.surface(one, labels="all", context=context).parts] == names
        only = trommel.surface_labels(one, labels=two[:1], background=0, context=context)
        assert sorted(map(int, np.unique(only.labels))) == sorted([0, two[0]])
        trommel.labels_to_file(tmp_path / "a.vtp", one, labels=two, background=0)
    with pytest.raises(trommel.InvalidArgument, match="labels has 300, which no sample of uint8 is"):
        trommel.surface_labels(np.zeros((4, 4, 4), np.uint8), labels=[300])
    with pytest.raises(trommel.Unsupported, match="beyond 2\\^53"):
        trommel.surface_labels(volume, slope=0.5)


def test_labels_are_whole_numbers_however_they_are_kept():
    volume = np.zeros((8, 8, 8), np.uint8)
    volume[2:6, 2:6, 2:4], volume[2:6, 2:6, 4:6] = 1, 2
    wanted = trommel.surface_labels(volume, labels=[1])
    for one in (trommel.Volume(volume.astype(float)), trommel.Volume(2 * volume, slope=0.5),
                trommel.Volume(volume.astype("i2") + 1024, intercept=-1024)):
        found = trommel.surface_labels(one, labels=[1])
        assert np.array_equal(found.vertices, wanted.vertices) and set(np.unique(found.labels)) == {0, 1}
    mask = trommel.surface_labels(volume == 1)
    assert np.array_equal(mask.vertices, wanted.vertices) and trommel.surface(volume > 0, labels="all").face_count
    with pytest.raises(trommel.InvalidArgument, match="is 0.5, which is no whole number"):
        trommel.surface_labels(trommel.Volume(volume * 0.5))
    with pytest.raises(trommel.InvalidArgument, match="pass np.rint"):
        trommel.surface_labels(volume.astype(float))
    assert trommel.surface_labels(np.rint(volume.astype(float)).astype(int)).face_count  # as it says


# ---- nothing is left out ----------------------------------------------------------------------------------------------

ELSEWHERE = {"collide", "distance", "Tree", "Tree.update", "Tree.save", "load_tree", "load_mesh", "Mesh.save",
             "Mesh.to_trimesh", "Mesh.to_pyvista", "Mesh.to_meshio", "Mesh.plot"}  # in the tests above
TAKES_NONE = {  # arrays of numbers, pictures, or nothing
    "bincount", "compact", "Context", "Context.call", "Context.call_on", "Context.cancel", "Context.resume", "devices",
    "expose", "histogram", "Kernel", "Kernel.pointer", "load_picture", "map", "measure_picture", "Measurement",
    "Measurement.percentile", "mips", "partition", "reduce", "reduce_by_key", "reduce_segments", "runs", "save_picture",
    "scan", "search", "sort", "tonemap", "top_k", "unique", "Contacts"}


def public():
    for name in trommel.__all__:
        thing = getattr(trommel, name)
        if inspect.ismodule(thing):
            yield from (f"{name}.{n}" for n, f in vars(thing).items()
                        if inspect.isfunction(f) and n[0] != "_" and f.__module__ == thing.__name__)
        elif not (inspect.isclass(thing) and issubclass(thing, BaseException)):
            yield name
            if inspect.isclass(thing):
                yield from (f"{name}.{n}" for n, f in vars(thing).items() if inspect.isfunction(f) and n[0] != "_")


def test_every_public_function_is_in_a_row():
    rows = {name.split(" ")[0] for rows in (VOLUME_ROWS, POINT_ROWS, MESH_ROWS) for names in rows
            for name in names.split(", ")} | ELSEWHERE
    assert not rows & TAKES_NONE
    assert set(public()) == rows | TAKES_NONE


# ---- inputs that were read wrongly, and what came out -----------------------------------------------------------------


def report(name):
    path = pathlib.Path(os.environ.get("TML_DATA", "")) / "reports" / name
    if not os.environ.get("TML_DATA") or not path.exists():
        pytest.skip("needs TML_DATA")
    return path


def test_meshes_far_from_0_in_files(tmp_path):
    """Cubes a, b and c: b is a thousandth from a, c crosses a."""
    cube = 2 * solid(tree=False).vertices.astype(float) - 0.5
    files = []
    for x in (0, 1.001, 0.9):
        lines = [f"v {4e6 + v[0] + x:.3f} {5e6 + v[1]:.3f} {100 + v[2]:.3f}" for v in cube]
        lines += ["f " + " ".join(str(int(k) + 1) for k in face) for face in solid(tree=False).faces]
        files.append(tmp_path / f"{x}.obj")
        files[-1].write_text("\n".join(lines) + "\n")
    _a_b_and_c(files)
    _a_b_and_c([report(f"far_{name}.obj") for name in "abc"])


def _a_b_and_c(files):
    a, b, c = map(trommel.load_mesh, files)
    assert len(trommel.collide(a, b)) == len(trommel.collide(b, a)) == 0
    assert len(trommel.collide(a, c)) == len(trommel.collide(c, a)) > 0
    assert trommel.distance(a, b)["distance"] == pytest.approx(0.001, abs=1e-6) == trommel.distance(b, a)["distance"]
    assert trommel.distance(a, c)["distance"] == 0
    assert trommel.Tree(b).inside([[4000001.5, 5000000.5, 100.5], [4000000.5, 5000000.5, 100.5]]).tolist() == [True, False]


def test_a_volume_far_from_0_in_a_file():
    v = trommel.load_volume(report("far_volume.nrrd"))
    near = trommel.surface(v.values, 0, spacing=v.spacing).examine()
    for mesh in (trommel.surface(v, 0), trommel.surface(v.values, 0, **v.geometry)):
        said = mesh.examine()
        assert said["area"] == pytest.approx(near["area"], rel=1e-6) and said["euler"] == near["euler"] == 2
        assert np.allclose(np.subtract(said["lower"], v.origin), near["lower"], atol=1e-6)


@pytest.mark.parametrize("name, labels", [("labels_scaled.nii", [1, 2]), ("labels_f64.nii", [1, 2]), ("labels_i64.npy", [1, 2]),
                                          ("labels_u64.npy", [720575940621234567, 720575940621234568])])
def test_labels_in_files(name, labels):
    v = trommel.load_volume(report(name))
    assert sorted(map(int, np.unique(trommel.surface_labels(v).labels))) == [0, *labels]
    assert [part["value"] for part in trommel.surface(v, labels="all").parts] == labels
    assert [part["value"] for part in trommel.surface(v, labels=labels[1:]).parts] == labels[1:]
    assert [part["value"] for part in trommel.surface_labels(v, separate=True).parts] == labels


def test_a_computed_tomography_is_in_physical_values(tmp_path):
    """300 on a CT with intercept -1024 is bone, and not skin: through the file, whole or by its geometry."""
    x = np.linspace(-1, 1, 24)
    hounsfield = np.rint(1000 - 1500 * np.sqrt(x[:, None, None]**2 + x[:, None]**2 + x**2)).clip(-1000)
    trommel.save_volume(tmp_path / "ct.nrrd", trommel.Volume((hounsfield + 1024).astype("u2"), intercept=-1024))
    ct, wanted = trommel.load_volume(tmp_path / "ct.nrrd"), trommel.surface(hounsfield, 300)
    assert ct.intercept == -1024 and "stored - 1024" in repr(ct) and ct.shape == (24, 24, 24) and ct.dtype == np.uint16
    for mesh in (trommel.surface(ct, 300), trommel.surface(ct.values, 300, **ct.geometry)):
        assert np.array_equal(mesh.vertices, wanted.vertices)
    assert np.array_equal(trommel.surface(ct, "auto").vertices, trommel.surface(ct, trommel.otsu(ct)).vertices)
    assert trommel.otsu(ct) == pytest.approx(trommel.otsu(hounsfield), abs=20)  # bins of doubles are wider
    assert [part["value"] for part in trommel.surface(ct, [300, 400]).parts] == [300, 400]
    assert len(ct) == 24 and np.array_equal(np.asarray(ct), hounsfield) and np.asarray(ct, "f4").dtype == np.float32
    with pytest.raises(trommel.InvalidArgument, match="slope is 0"):
        trommel.surface(ct, 300, slope=0)
    with pytest.raises(trommel.InvalidArgument, match='"auto"'):
        trommel.surface(ct, "otsu")


def test_images_of_several_volumes_are_told(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(np.arange(5 * 4 * 3 * 2, dtype=np.int16).reshape(5, 4, 3, 2), np.eye(4))
    nibabel.save(image, tmp_path / "four.nii")
    with pytest.warns(trommel.Warning, match="the first of 2 volumes") as told:
        first = trommel.load_volume(tmp_path / "four.nii")
    assert told[0].filename == __file__  # the caller's line, not the package's
    second = trommel.load_volume(tmp_path / "four.nii", frame=1)
    assert first.frame_count == 2 and second.frame == 1 and "frame 1 of 2" in repr(second)
    assert second.values[0, 0, 0] == first.values[0, 0, 0] + 1
    with pytest.raises(trommel.InvalidArgument, match="frame="):
        trommel.load_volume(tmp_path / "four.nii", strict=True)
    with pytest.raises(trommel.InvalidArgument, match=r"slicer\[..., 0\]"):
        trommel.surface(image, 1)
    assert trommel.surface(image.slicer[..., 0], 9).face_count  # as it says


def test_what_a_reader_leaves_out_is_a_warning(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,z\n0,0,0\n1,nan,0\n1,1,1\n")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert len(trommel.load_points(tmp_path / "a.csv")) == 2
    for one in told:
        assert issubclass(one.category, trommel.Warning) and not str(one.message).startswith("tml_")
    assert len(told) == len({str(one.message) for one in told})  # once, though names are read first
    with pytest.warns(trommel.Warning, match="radius is raised"):
        trommel.field(np.random.default_rng(1).uniform(size=(200_000, 3)), resolution=16)
    with warnings.catch_warnings():
        warnings.simplefilter("error", trommel.Warning)
        with pytest.raises(trommel.Warning):
            trommel.field(np.random.default_rng(1).uniform(size=(200_000, 3)), resolution=16)


def test_errors_of_files_are_the_systems(tmp_path):
    calls = [trommel.load_volume, trommel.load_mesh, trommel.load_points, trommel.load_picture]
    for call in calls:
        with pytest.raises(FileNotFoundError) as info:
            call(tmp_path / "nowhere.ply")
        error = pickle.loads(pickle.dumps(info.value))
        for one in (info.value, error):
            assert isinstance(one, trommel.FileError) and one.errno == 2 and one.filename == str(tmp_path / "nowhere.ply")
            assert one.status == "FILE_ACCESS" and str(one).startswith("tml_") and "No such file" in str(one)
    (tmp_path / "bad.nrrd").write_bytes(b"NRRD0005\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: raw\n\n12")
    with pytest.raises(trommel.FileError) as info:
        trommel.load_volume(tmp_path / "bad.nrrd")
    assert info.value.errno is None and not isinstance(info.value, FileNotFoundError)
    with pytest.raises(trommel.InvalidArgument) as info:
        trommel.surface(np.zeros((0, 3, 3)), 0)
    assert not str(info.value).startswith("INVALID_ARGUMENT") and info.value.status == "INVALID_ARGUMENT"


def test_defaults_of_points_are_the_commands(tmp_path):
    command = os.environ.get("TML_CLI", pathlib.Path(os.environ.get("TROMMEL_LIBRARY", "")) / "bin/trommel")
    if not pathlib.Path(command).is_file():
        pytest.skip("needs the command")
    at = np.random.default_rng(5).normal(size=(6000, 3))
    trommel.save_points(tmp_path / "p.ply", at / np.linalg.norm(at, axis=1)[:, None])
    subprocess.run([command, "surface", tmp_path / "p.ply", "-o", tmp_path / "s.ply"], check=True, capture_output=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", trommel.Warning)
        made = trommel.field(trommel.load_points(tmp_path / "p.ply")).surface()
    theirs = trommel.load_mesh(tmp_path / "s.ply")
    assert made.face_count == theirs.face_count and np.array_equal(made.vertices, theirs.vertices)


def test_names_agree_with_the_commands():
    picture = np.random.default_rng(1).uniform(0, 4, (8, 8, 3)).astype("f4")
    assert np.array_equal(trommel.tonemap(picture, "aces"), trommel.tonemap(picture, "aces-fit"))
    assert trommel.measure_picture(picture, luminance="max").mean == trommel.measure_picture(picture, luminance="max-rgb").mean
    assert "64 pixels" in repr(trommel.measure_picture(picture))
    for a, b in zip(trommel.unique([3, 1, 1, 3]), trommel.runs([3, 1, 1, 3])):
        assert np.array_equal(a, b)


def test_what_is_open_encloses_nothing():
    x = np.linspace(-1, 1, 16)
    half = trommel.surface((0.7 - np.sqrt(x[:, None, None]**2 + x[:, None]**2 + x**2))[8:], 0)
    assert half.examine()["boundary_edges"] and np.isnan(half.examine()["volume"])
    assert np.isfinite(ball((0, 0, 0)).examine()["volume"])
