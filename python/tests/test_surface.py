"""Surfaces, fields and meshes."""
import gc
import importlib.util
import os
import sys
import types
import weakref

import numpy as np
import pytest
import trommel


def ball(n=24, dtype=np.float32):
    x = np.linspace(-1, 1, n)
    return (0.7 - np.sqrt(x[:, None, None]**2 + x[:, None]**2 + x**2)).astype(dtype)


def test_a_ball_is_a_ball():
    mesh = trommel.surface(ball(64), 0, spacing=2 / 63, origin=(-1, -1, -1))
    facts = mesh.examine()
    assert facts["components"] == 1 and facts["boundary_edges"] == 0 and facts["euler"] == 2
    assert facts["volume"] == pytest.approx(4 / 3 * np.pi * 0.7**3, rel=2e-3)
    assert np.allclose(np.linalg.norm(mesh.vertices, axis=1), 0.7, atol=1e-3)
    assert np.allclose(np.einsum("ij,ij->i", mesh.vertices / 0.7, mesh.normals), 1, atol=1e-2)


def test_axes_are_z_y_x():
    v = np.zeros((6, 7, 8), np.float32)
    v[1, 2, 3] = 1
    mesh = trommel.surface(v, 0.5, normals=None)
    assert mesh.vertices.mean(0) == pytest.approx([3, 2, 1]) and mesh.normals is None


@pytest.mark.parametrize("dtype", "u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 >f4 >i2 ?".split())
def test_every_type_gives_the_same_topology(dtype):
    v = np.zeros((5, 5, 5), dtype)
    v[2, 2, 2] = 1
    assert trommel.surface(v, 0.5).examine()["euler"] == 2


def test_views_and_read_only_arrays():
    whole = ball(40)
    for v in (whole[::2, 1::2, ::-2], np.asfortranarray(whole), whole.transpose(2, 0, 1)):
        assert np.array_equal(trommel.surface(v, 0).vertices, trommel.surface(v.copy(), 0).vertices)
    whole.flags.writeable = False
    assert trommel.surface(whole, 0).face_count > 0


def test_an_input_is_not_copied(monkeypatch):
    from trommel import _library as library
    seen, make = [], library.Buffers._make
    monkeypatch.setattr(library.Buffers, "_make", lambda self, array, *rest: seen.append(array.ctypes.data) or
                        make(self, array, *rest))
    v, mask = ball(), np.ones((24, 24, 24), bool)
    trommel.surface(v, 0, mask=mask)
    assert seen == [v.ctypes.data, mask.ctypes.data]


def test_images_bring_their_geometry(tmp_path):
    """Read by nibabel they are where the library's own reader puts them."""
    nibabel = pytest.importorskip("nibabel")
    v = np.round(ball()[:18, :21] * 100).astype(np.int16)
    affine = [[-1.5, 0.2, 0, 30], [0.1, 0, 2.5, -20], [0, 0.8, 0.3, 7], [0, 0, 0, 1]]
    nibabel.save(nibabel.Nifti1Image(v.T, affine), tmp_path / "v.nii")
    image, file = nibabel.load(tmp_path / "v.nii"), trommel.load_volume(tmp_path / "v.nii")
    theirs, mine = trommel.surface(image, 10), trommel.surface(file.values, 10, **file.geometry)
    assert np.array_equal(theirs.faces, mine.faces) and np.allclose(theirs._placed(), mine._placed(), atol=1e-3)
    center = np.linalg.inv(affine) @ [*theirs._placed().mean(0), 1]
    assert np.allclose(center[:3], [11.5, 11.5, 11.5], atol=2)


def test_images_of_simple_itk(monkeypatch):
    """By its calls, since a stand-in is what there is here: GetSpacing and the others are in x, y, z."""
    if not importlib.util.find_spec("SimpleITK"):
        monkeypatch.setitem(sys.modules, "SimpleITK", types.SimpleNamespace(
            GetArrayViewFromImage=lambda image: image.array, GetImageFromArray=Image))
    image = importlib.import_module("SimpleITK").GetImageFromArray(ball())
    image.SetSpacing((1, 2, 3))
    image.SetOrigin((4, 5, 6))
    image.SetDirection((0, 1, 0, 1, 0, 0, 0, 0, -1))
    mine = trommel.surface(ball(), 0, spacing=(1, 2, 3), origin=(4, 5, 6), direction=((0, 1, 0), (1, 0, 0), (0, 0, -1)))
    assert np.array_equal(trommel.surface(image, 0)._placed(), mine._placed())


class Image:
    def __init__(self, array):
        self.array, self.spacing, self.origin, self.direction = array, (1,) * 3, (0,) * 3, tuple(np.eye(3).ravel())

    def __getattr__(self, name):  # GetSpacing, SetSpacing ...
        what = name[3:].lower()
        if name[:3] not in ("Get", "Set") or what not in ("spacing", "origin", "direction"):
            raise AttributeError(name)
        return lambda *value: setattr(self, what, *value) if value else getattr(self, what)


def test_cells_are_places_in_the_volume():
    v = np.zeros((6, 7, 8), np.float32)
    v[1, 2, 3] = 1
    for soup in (False, True):
        mesh = trommel.surface(v, 0.5, cells=True, soup=soup)
        places = np.stack(np.unravel_index(mesh.cells, v.shape), 1)[:, ::-1]
        corners = mesh.vertices[mesh.faces if not soup else np.arange(len(mesh.vertices)).reshape(-1, 3)]
        assert len(mesh.cells) == mesh.face_count == 8
        assert (np.floor(corners.mean(1)) == places).all()
    assert trommel.surface(v, 0.5).cells is None


def test_parts_labels_and_attributes():
    v = ball()
    mesh = trommel.surface(v, [0.0, 0.2], attribute=np.arange(v.size, dtype=np.float32).reshape(v.shape))
    assert [p["value"] for p in mesh.parts] == [0.0, 0.2] and len(mesh.values) == len(mesh.vertices)
    assert mesh.parts[1]["faces"].stop == mesh.face_count
    labels = np.zeros((8, 8, 8), np.uint16)
    labels[2:4, 2:4, 2:4], labels[5:7, 5:7, 5:7] = 3, 9
    assert [p["value"] for p in trommel.surface(labels, labels="all").parts] == [3, 9]
    assert [p["value"] for p in trommel.surface(labels, labels=[9]).parts] == [9]


def test_a_mask_opens_and_caps_close():
    v, mask = ball(), np.ones((24, 24, 24), bool)
    mask[:12] = False
    assert trommel.surface(v, 0, mask=mask).examine()["boundary_edges"] > 0
    assert trommel.surface(v[12:], 0, caps=True).examine()["boundary_edges"] == 0


def test_masked_samples_are_missing():
    v, missing = ball(), np.zeros((24, 24, 24), bool)
    missing[:12] = True
    masked = trommel.surface(np.ma.masked_array(v, missing), 0)
    assert np.array_equal(masked.vertices, trommel.surface(v, 0, mask=~missing).vertices)
    assert np.array_equal(trommel.surface(np.ma.masked_array(v), 0).vertices, trommel.surface(v, 0).vertices)


def test_what_is_assigned_to_a_mesh_has_its_types(tmp_path):
    mesh = trommel.surface(ball(), 0)
    mesh.vertices, mesh.faces = (mesh.vertices @ np.diag([2.0, 2.0, 2.0]))[::1], mesh.faces.astype(np.int64)[:, ::-1]
    mesh.save(tmp_path / "a.ply")
    assert trommel.load_mesh(tmp_path / "a.ply").examine()["volume"] == pytest.approx(mesh.examine()["volume"])
    with pytest.raises(trommel.InvalidArgument):
        mesh.vertices = np.zeros((3, 2))


def test_a_volume_without_a_surface():
    mesh = trommel.surface(ball(), 5)
    assert mesh.vertices.shape == (0, 3) and mesh.faces.shape == (0, 3) and mesh.examine()["components"] == 0


def test_arrays_outlive_their_context():
    context = trommel.Context("cpu")
    mesh = trommel.surface(ball(), 0, context=context)
    kept, faces = mesh.vertices.copy(), mesh.faces
    handle = weakref.ref(context._handle)
    del context, mesh
    gc.collect()
    assert handle() is not None and faces.max() == len(kept) - 1
    del faces
    gc.collect()
    assert handle() is None


@pytest.mark.parametrize("call, text", [
    (lambda: trommel.surface(ball()[0], 0), "needs 3 dimensions"),
    (lambda: trommel.surface(ball(), 0, mask=ball()[:3]), "needs the volume's shape"),
    (lambda: trommel.surface(ball()), "iso or labels"),
    (lambda: trommel.surface(ball(), 0, labels=[1]), "iso or labels"),
    (lambda: trommel.surface(ball(), 0, normals="best"), "'sobel'"),
    (lambda: trommel.surface(ball(), np.nan), "iso"),
    (lambda: trommel.otsu([np.nan, np.inf]), "none of the volume's 2 samples"),
    (lambda: trommel.surface(np.array([[["a"]]]), 0), "needs numbers"),
    (lambda: trommel.surface(ball(), 0, spacing=(1, 1, -1)), "spacing"),
    (lambda: trommel.field(np.zeros((3, 2))), "3 numbers a row"),
    (lambda: trommel.Mesh(np.zeros((3, 3)), [[0, 1, -1]]), "no vertex"),
    (lambda: trommel.Mesh(np.zeros((3, 3)), [[0, 1, 3]]).save("a.ply"), "vertex_count 3"),
    (lambda: trommel.Mesh(np.zeros((3, 3)), normals=np.zeros((2, 3))).save("a.ply"), "2 rows, needs 3"),
    (lambda: trommel.surface(ball(), 0, spacing=(1, 2)), "spacing is 2 numbers"),
    (lambda: trommel.surface(ball(), 0, origin=(1, 2)), "origin is 2 numbers"),
    (lambda: trommel.surface(ball(), 0, direction=np.eye(2)), "direction is 4 numbers"),
    (lambda: trommel.surface(ball(), 0, spacing=1e300), "grid"),
    (lambda: trommel.surface(np.ones((3, 3, 3), np.uint8), labels=[1.5]), "needs integers"),
    (lambda: trommel.field(np.zeros((3, 3)), lower=(0, 0)), "lower is 2 numbers"),
    (lambda: trommel.field(np.eye(3), radius=2, densities=[1, 1]), "densities"),
    (lambda: trommel.field(np.eye(3), radius=2, densities=True, distance=True), "KERNEL_SUM"),
    (lambda: trommel.field(np.eye(3), radii=[1, 1, 1], anisotropic=True), "radii"),
    (lambda: trommel.surface_to_file("a.ply", np.ma.masked_array(ball(), ball() > 0), 0), "masked"),
    (lambda: trommel.Mesh(np.zeros((3, 3))).save("a\0.ply"), "null byte"),
])
def test_nonsense_is_refused(call, text):
    with pytest.raises(trommel.InvalidArgument, match=text) as info:
        call()
    assert info.value.status == "INVALID_ARGUMENT"


def test_short_edges_go():
    whole, light = trommel.surface(ball(), 0), trommel.surface(ball(), 0, collapse=0.01)
    assert whole.face_count == trommel.surface(ball(), 0, collapse=1e-9).face_count > light.face_count
    assert light.examine()["euler"] == 2 and light.examine()["boundary_edges"] == 0
    with pytest.raises(trommel.InvalidArgument, match="collapse"):
        trommel.surface(ball(), 0, collapse=-1)


def test_a_field_of_points():
    points = np.random.default_rng(1).normal(size=(500, 3))
    field = trommel.field(points, radius=0.8, resolution=48)
    assert field.values.ndim == 3 and field.surface().examine()["boundary_edges"] == 0
    one = trommel.field([[0, 0, 0]], radii=[1.0], distance=True, cell=0.125)
    assert one.surface().examine()["volume"] == pytest.approx(4 / 3 * np.pi, rel=0.02)


def test_densities_make_one_of_the_inside():
    lattice = np.stack(np.meshgrid(*[np.arange(9.0)] * 3), -1).reshape(-1, 3)
    options = {"radius": 2.0, "cell": 0.5, "densities": True}
    field = trommel.field(lattice, **options)
    middle = [n // 2 for n in field.values.shape]
    assert field.iso == 0.6 and abs(field.values[tuple(middle)] - 1) < 0.02
    sums = trommel.field(lattice, radius=2.0, kernel="spline").crowding(lattice)
    assert sums.shape == (729,)
    radii = trommel.field(lattice, radii=np.full(729, 2.0), cell=0.5, densities=True)
    assert np.allclose(radii.values, field.values, atol=1e-5)
    halved = trommel.field(lattice, radius=2.0, cell=0.5, densities=np.full(729, 2.0))
    assert np.allclose(halved.values, trommel.field(lattice, radius=2.0, cell=0.5, kernel="spline").values / 2, atol=1e-5)


def test_anisotropic_kernels_make_sheets_flat():
    rng = np.random.default_rng(3)
    sheet = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0), np.arange(2.0)), -1).reshape(-1, 3)
    sheet += 0.4 * (rng.random(sheet.shape) - 0.5)
    steep = []
    for anisotropic in (False, True):
        field = trommel.field(sheet, radius=2.0, cell=0.25, densities=True, anisotropic=anisotropic)
        mesh = field.surface(normals="none")
        assert mesh.examine()["boundary_edges"] == 0 and field.radius == 2.0
        corners = mesh.vertices[mesh.faces].astype(float)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inner = np.all((corners[:, 0, :2] > 5) & (corners[:, 0, :2] < 14), axis=1)
        steep.append(np.hypot(*normals[inner, :2].T).sum() / np.abs(normals[inner, 2]).sum())
        assert np.allclose(field.mean(np.full(len(sheet), 7.0), mesh.vertices), 7)
    assert steep[1] < steep[0] / 2


@pytest.mark.parametrize("options", [{"radius": 0.8}, {"radii": np.full(500, 0.8)}, {}])
def test_points_give_a_surface_what_they_carry(options):
    points = np.random.default_rng(1).normal(size=(500, 3))
    field = trommel.field(points, resolution=32, **options)
    vertices = field.surface().vertices
    colors = field.mean(np.tile([1.0, 2.0, 3.0], (500, 1)), vertices)
    assert np.allclose(colors, [1, 2, 3], rtol=1e-5) and colors.shape == vertices.shape
    assert np.corrcoef(field.mean(points[:, 0], vertices), vertices[:, 0])[0, 1] > 0.98
    with pytest.raises(trommel.InvalidArgument, match="one for each of 500"):
        field.mean([1.0], vertices)


def test_an_isovalue_to_begin_with():
    volume = np.where(np.random.default_rng(1).random((20, 20, 20)) < 0.3, 10.0, 90.0)
    assert 10 < trommel.otsu(volume + np.random.default_rng(2).normal(size=volume.shape)) < 90


def test_meshes_go_to_files_and_back(tmp_path):
    mesh = trommel.surface(ball(), 0)
    for ending in ("ply", "stl", "obj", "glb", "vtp"):
        path = tmp_path / f"ball.{ending}"
        mesh.save(path)
        again = trommel.load_mesh(path)
        assert again.face_count == mesh.face_count
        assert again.examine()["volume"] == pytest.approx(mesh.examine()["volume"], rel=1e-5)
    mesh.save(os.fsencode(tmp_path) + b"/\xff.ply")
    assert trommel.load_mesh(tmp_path / os.fsdecode(b"\xff.ply")).face_count == mesh.face_count
    with pytest.raises(TypeError):
        mesh.save(None)
    with pytest.raises(trommel.FileError):
        trommel.load_mesh(tmp_path / "none.ply")
    with pytest.raises(trommel.Unsupported):
        mesh.save(tmp_path / "ball.xyz")


def test_plots(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pytest.importorskip("matplotlib")
    mesh = trommel.surface(ball(), 0)
    axes = mesh.plot(color=np.full((mesh.face_count, 3), 0.5))
    assert mesh.plot(axes, "red", elevation=10) is axes and len(axes.collections) == 2
    assert trommel.surface(ball(), 5).plot().collections


def test_other_libraries_meshes():
    mesh = trommel.surface(ball(), 0)
    for name, convert in (("trimesh", mesh.to_trimesh), ("meshio", mesh.to_meshio), ("pyvista", mesh.to_pyvista)):
        try:
            __import__(name)
        except ImportError:
            continue
        assert len(convert().points if name != "trimesh" else convert().vertices) == len(mesh.vertices)


def atlas(dtype=np.uint8):
    rng = np.random.default_rng(5)
    return rng.integers(0, 4, (7, 6, 5)).astype(dtype).repeat(2, 0).repeat(2, 1).repeat(2, 2)


@pytest.mark.parametrize("dtype", "u1 i1 u2 i2 u4 i4 u8 i8 >u4".split())
def test_labels_share_their_boundaries(dtype):
    volume = atlas(dtype)
    mesh = trommel.surface_labels(volume)
    inside = [(volume[1:-1, 1:-1, :-1], volume[1:-1, 1:-1, 1:]), (volume[1:-1, :-1, 1:-1], volume[1:-1, 1:, 1:-1]),
              (volume[:-1, 1:-1, 1:-1], volume[1:, 1:-1, 1:-1])]
    assert mesh.face_count == 2 * sum(np.count_nonzero(a != b) for a, b in inside)
    assert mesh.labels.dtype == volume.dtype.newbyteorder("=") and (mesh.labels[:, 0] != mesh.labels[:, 1]).all()
    assert (mesh.labels[:, 0] != 0).all()
    corners = mesh.vertices[mesh.faces]
    middle = corners.mean((0, 1))
    assert np.isfinite(middle).all() and len(np.unique(mesh.faces)) == len(mesh.vertices)


def test_whole_isovalues_keep_triangles_whole_and_open_meshes_enclose_nothing():
    x = np.arange(24) - 11.5
    distance = 8 - np.sqrt(x[:, None, None] ** 2 + (x[:, None] + 0.2) ** 2 + x**2)
    ball = np.clip(128 + 20 * distance, 0, 255).round().astype(np.uint8)
    for options in ({}, {"topology": "trilinear"}, {"collapse": 0.4}):
        mesh = trommel.surface(ball, 128, **options)
        facts = mesh.examine()
        assert facts["boundary_edges"] == facts["nonmanifold_edges"] == facts["degenerate_triangles"] == 0
        assert facts["volume"] == pytest.approx(4 / 3 * np.pi * 8**3, rel=0.02)
        assert len(np.unique(mesh.vertices, axis=0)) == len(mesh.vertices)
    for origin in (0, 100):  # the number of an open mesh would depend on its place
        facts = trommel.surface(ball[:, :, :12], 128, origin=(origin, 0, 0)).examine()
        assert np.isnan(facts["volume"]) and facts["boundary_edges"] and facts["area"] > 0
    shared = np.zeros((8, 8, 8), np.uint8)
    shared[2:5, 2:5, 2:5] = 1
    shared[5:7, 2:5, 2:5] = 2
    assert np.isnan(trommel.surface_labels(shared).examine()["volume"])


def test_labels_alone_are_closed_and_enclose_their_samples():
    volume = np.pad(atlas(), 1)
    mesh = trommel.surface_labels(volume, separate=True, manifold=True)
    assert [part["value"] for part in mesh.parts] == [1, 2, 3]
    facts = mesh.examine()
    assert facts["boundary_edges"] == facts["nonmanifold_edges"] == 0
    # Sheets that touch are moved apart, which takes a little of this noise.
    assert facts["volume"] == pytest.approx(np.count_nonzero(volume), rel=2e-3)
    alone = trommel.surface_labels(volume, separate=True).examine()
    assert alone["volume"] == pytest.approx(np.count_nonzero(volume))
    for part in mesh.parts:
        own = trommel.Mesh(mesh.vertices[part["vertices"]], mesh.faces[part["faces"]] - part["vertices"].start)
        assert own.examine()["volume"] == pytest.approx(np.count_nonzero(volume == part["value"]), rel=2e-3)
        assert len(np.unique(own.vertices, axis=0)) == len(own.vertices)  # a manifold by place, too
        assert (mesh.labels[part["faces"], 0] == part["value"]).all()


def test_labels_are_chosen_smoothed_and_saved(tmp_path):
    volume = atlas(np.int64) - 2
    whole = trommel.surface_labels(volume, background=-2, smooth=5, caps=True)
    wall = trommel.surface_labels(volume, background=-2, smooth=5, caps=True, between=(1, -1))
    here = (np.sort(whole.labels, 1) == [-1, 1]).all(1)
    assert np.array_equal(wall.vertices[wall.faces], whole.vertices[whole.faces[here]])
    inner = trommel.surface_labels(volume, background=-2, smooth=5, caps=True, inner=True)
    assert inner.face_count == np.count_nonzero((whole.labels != -2).all(1))
    one = trommel.surface_labels(volume, labels=[-1], background=-2)
    assert set(map(tuple, one.labels.tolist())) == {(-1, -2)}
    for name in ("atlas.ply", "atlas.vtp"):
        whole.save(tmp_path / name)  # of int64 that fit in PLY's 32 bits
        assert trommel.load_mesh(tmp_path / name).face_count == whole.face_count
    ids = trommel.surface_labels(np.where(volume > 0, 720575940621234567, 0), background=0)
    with pytest.raises(trommel.Unsupported, match="720575940621234567 needs 64 bits"):
        ids.save(tmp_path / "wide.ply")
    ids.save(tmp_path / "wide.vtp")
    with pytest.raises(trommel.InvalidArgument, match="integers"):
        trommel.surface_labels(volume.astype(float))
    with pytest.raises(trommel.InvalidArgument, match="desc.bound"):
        trommel.surface_labels(volume, bound=float("nan"))


def test_topology_of_the_interpolant():
    cell = np.full((2, 2, 2), -1, np.float32)
    cell[0, 0, 0] = cell[1, 1, 1] = 4
    apart, joined = (trommel.surface(cell, 0, topology=topology).examine() for topology in ("separated", "trilinear"))
    assert (apart["components"], apart["euler"]) == (2, 2)
    assert (joined["components"], joined["euler"]) == (1, 0)
    with pytest.raises(ValueError, match="topology"):
        trommel.surface(cell, 0, topology="linear")
