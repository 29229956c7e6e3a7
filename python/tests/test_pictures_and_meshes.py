"""Pictures, trees and subdivision."""
import pickle

import numpy as np
import pytest
import trommel

TETRAHEDRON = ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def cube(size=1.0):
    v = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], np.float32) * np.float32(size)
    f = [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6],
         [1, 3, 5], [3, 7, 5]]
    return trommel.Mesh(v, f)


@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (64, 48), (101, 103, 3), (33, 20, 4)])
def test_means_are_exact(shape):
    image = np.random.default_rng(2).random(shape, dtype=np.float32)
    facts = trommel.measure_picture(image, luminance="max")
    luminance = image if image.ndim == 2 else image[..., :3].max(-1)
    assert facts.pixels == luminance.size and facts.mean == pytest.approx(luminance.mean(dtype=float), rel=1e-6)
    assert facts.log2_mean == pytest.approx(np.log2(luminance.astype(float)).mean(), abs=1e-5)
    assert facts.histogram.sum() == facts.positive


def test_exposure_does_not_depend_on_scale():
    image = np.random.default_rng(3).random((40, 30, 3), dtype=np.float32)
    a, b = trommel.expose(image), trommel.expose(image * 1024)
    assert a.dtype == np.uint8 and a.shape == image.shape and np.abs(a.astype(int) - b).max() <= 1
    assert trommel.expose(image, meter="spot", dtype=np.float32).max() <= 1
    assert trommel.tonemap(np.zeros((2, 2), np.float32), "reinhard").tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32])
def test_mips_of_any_size(dtype):
    image = np.full((37, 53, 3), 100, dtype)
    chain = trommel.mips(image)
    assert [m.shape[:2] for m in chain] == [(18, 26), (9, 13), (4, 6), (2, 3), (1, 1)]
    assert all((m == 100).all() and m.dtype == dtype for m in chain)


@pytest.mark.parametrize("values, log", [("log2", np.log2), ("ln", np.log), ("log10", np.log10)])
def test_pictures_of_logarithms_are_as_the_linear_ones(values, log):
    linear = np.random.default_rng(5).uniform(0.001, 0.9, (13, 17, 3)).astype(np.float32)
    logs = log(linear)
    a, b = trommel.measure_picture(logs, values=values), trommel.measure_picture(linear)
    assert a.positive == b.positive and abs(a.log2_mean - b.log2_mean) < 1e-4
    assert np.abs(trommel.expose(logs, values=values).astype(int) - trommel.expose(linear)).max() <= 1
    assert np.abs(trommel.tonemap(logs, values=values).astype(int) - trommel.tonemap(linear)).max() <= 1
    for one, other in zip(trommel.mips(logs, values=values), trommel.mips(linear)):
        np.testing.assert_allclose(one, other, rtol=1e-4)
    with pytest.warns(RuntimeWarning, match="no pixel .* is positive.*values='log2'"):
        trommel.expose(logs)
    with pytest.raises(trommel.InvalidArgument, match="values is log2"):
        trommel.measure_picture(np.zeros((2, 2), np.uint8), values="log2")


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float16])
@pytest.mark.parametrize("shape", [(37, 53, 3), (64, 8), (5, 1, 4)])
def test_mips_of_logarithms(dtype, shape):
    image = (np.random.default_rng(1).random(shape) * 200 + 1).astype(dtype)
    chain = trommel.mips(image, log=True, srgb=False)
    assert [m.shape for m in chain] == [m.shape[:2] for m in trommel.mips(image)]
    assert all(m.dtype == np.float32 for m in chain)
    assert 2**chain[-1][0, 0] == pytest.approx(trommel.measure_picture(image, srgb=False).geometric_mean, rel=1e-5)


def test_pictures_go_to_files_and_back(tmp_path):
    image = np.random.default_rng(4).integers(0, 256, (9, 7, 3)).astype(np.uint8)
    trommel.save_picture(tmp_path / "a.png", image)
    assert np.array_equal(trommel.load_picture(tmp_path / "a.png"), image)
    trommel.save_picture(tmp_path / "a.pfm", image.astype(np.float32))
    assert np.array_equal(trommel.load_picture(tmp_path / "a.pfm"), image)


def test_cubes_meet_where_they_meet():
    a = trommel.Tree(cube())
    poses = np.tile(np.eye(4, dtype=np.float32), (3, 1, 1))
    poses[:, 0, 3] = 0.5, 3, 0.25
    contacts = trommel.collide(a, cube(), poses, segments=True)
    counts = np.diff(contacts.first)
    assert counts[0] > 0 and counts[1] == 0 and counts[2] > 0 and len(contacts) == len(contacts.pairs)
    assert contacts.segments.shape == (len(contacts), 2, 3) and contacts.pairs["pose"].tolist().count(1) == 0
    assert len(trommel.collide(a)) == 0
    assert len(trommel.collide(a, cube(), poses, want="count")) == len(contacts)
    assert trommel.collide(a, cube(), poses[1]).pairs.shape == (0,)
    with pytest.raises(trommel.InvalidArgument, match="one at least"):
        trommel.collide(a, cube(), poses[:0])


def test_distance():
    pose = np.eye(4, dtype=np.float32)
    pose[0, 3] = 3
    assert trommel.distance(cube(), cube(), pose[None])["distance"].tolist() == [2.0]
    assert trommel.distance(cube(), cube(0.5))["distance"] == 0
    assert trommel.distance(cube(), cube(), pose[None], limit=1.9)["distance"].tolist() == [np.inf]
    assert 2 <= trommel.distance(cube(), cube(), pose[None], tolerance=0.1)["distance"][0] <= 2.2


def test_a_tree_moves():
    tree = trommel.Tree(cube())
    tree.update(cube().vertices + 10)
    assert trommel.distance(tree, cube())["distance"] == pytest.approx(np.sqrt(3) * 9)


def test_subdivision():
    smooth = trommel.subdivide(TETRAHEDRON, 4)
    assert smooth.face_count == 4 * 4**4 and smooth.examine()["euler"] == 2
    assert np.allclose(np.linalg.norm(smooth.normals, axis=1), 1, atol=1e-5)
    fine = trommel.subdivide(TETRAHEDRON, split="length", threshold=0.05)
    assert fine.examine()["boundary_edges"] == 0 and fine.face_count > 500
    with pytest.raises(trommel.InvalidArgument):
        trommel.subdivide(TETRAHEDRON)
    with pytest.raises(trommel.InvalidArgument):
        trommel.subdivide((TETRAHEDRON[0], TETRAHEDRON[1] * 2), 1)


def test_creases_and_corners_stay_sharp():
    edges = [[a, b] for a in range(4) for b in range(a)]
    sharp = trommel.subdivide(TETRAHEDRON, 4, creases=edges).examine()["volume"]
    some = trommel.subdivide(TETRAHEDRON, 4, creases=[edge + [1.5] for edge in edges]).examine()["volume"]
    none = trommel.subdivide(TETRAHEDRON, 4).examine()["volume"]
    whole = trommel.Mesh(*TETRAHEDRON).examine()["volume"]
    assert none < some < sharp and sharp == pytest.approx(whole, rel=1e-5)
    cornered = trommel.subdivide(TETRAHEDRON, 4, corners=[0])
    far = np.abs(cornered.vertices[0] - TETRAHEDRON[0][0]).max()
    assert far < 1e-6 < np.abs(trommel.subdivide(TETRAHEDRON, 4).vertices[0] - TETRAHEDRON[0][0]).max()
    with pytest.raises(trommel.InvalidArgument, match="creases"):
        trommel.subdivide(TETRAHEDRON, 1, creases=[0, 1])
    with pytest.raises(trommel.InvalidArgument, match="no vertex"):
        trommel.subdivide(TETRAHEDRON, 1, corners=[0.5])


def test_subdivision_as_a_camera_sees_it():
    def split(pixels):
        return trommel.subdivide(TETRAHEDRON, split="pixels", threshold=pixels, camera=np.eye(4), size=(640, 480))
    assert split(8).face_count > 2 * split(32).face_count > 8
    with pytest.raises(trommel.InvalidArgument, match="camera"):
        trommel.subdivide(TETRAHEDRON, split="pixels", threshold=8.0)


def test_volumes_of_files(tmp_path):
    array = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6)
    np.save(tmp_path / "v.npy", array)
    volume = trommel.load_volume(tmp_path / "v.npy")
    assert np.array_equal(volume.values, array) and trommel.surface(volume.values, 50.5, **volume.geometry).face_count


def test_volumes_and_points_go_to_files_and_back(tmp_path):
    array = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6)
    turned = [0, 1, 0, 1, 0, 0, 0, 0, 1]
    trommel.save_volume(tmp_path / "v.nrrd", array, spacing=(1, 2, 3), origin=(7, 8, 9), direction=turned)
    volume = trommel.load_volume(tmp_path / "v.nrrd")
    assert volume.spacing == (1, 2, 3) and volume.origin == (7, 8, 9) and volume.direction.ravel().tolist() == turned
    trommel.save_volume(tmp_path / "w.mha", volume, spacing=2)
    again = trommel.load_volume(tmp_path / "w.mha")
    assert again.spacing == (2, 2, 2) and np.array_equal(again.values, array) and again.values.dtype == np.int16
    with pytest.raises(trommel.Unsupported, match="nrrd"):
        trommel.save_volume(tmp_path / "v.tif", array)
    with pytest.raises(trommel.InvalidArgument, match="3 dimensions"):
        trommel.save_volume(tmp_path / "v.nrrd", array[0])
    positions = np.random.default_rng(5).random((9, 3), np.float32)
    trommel.save_points(tmp_path / "p.ply", positions, np.arange(9), origin=(0.5, 0, 0))
    points = trommel.load_points(tmp_path / "p.ply")
    assert np.allclose(points.positions + points.origin, positions + [0.5, 0, 0], atol=1e-6)
    assert points.radii.tolist() == list(range(9)) and points.values is None
    trommel.save_points(tmp_path / "q.ply", points, values=-positions[:, 0])
    assert np.array_equal(trommel.load_points(tmp_path / "q.ply").values, -positions[:, 0])
    with pytest.raises(trommel.InvalidArgument, match="radii has 2 rows, needs 9"):
        trommel.save_points(tmp_path / "p.ply", positions, [1, 2])


def test_points_lie_about_a_cube():
    points = np.random.default_rng(6).uniform(-1, 2, (1001, 3)).astype(np.float32)
    tree, away = trommel.Tree(cube()), np.maximum(np.maximum(-points, points - 1), 0)
    inside, depth = (away == 0).all(1), np.minimum(points, 1 - points).min(1)
    assert 10 < inside.sum() < 900 and np.array_equal(tree.inside(points), inside)
    assert np.array_equal(tree.inside(points, "winding"), inside)
    apart = np.where(inside, -depth, np.linalg.norm(away, axis=1))
    assert np.allclose(tree.signed_distance(points), apart, atol=1e-6)
    near = tree.nearest(points)
    assert np.allclose(near["distance"], np.abs(apart), atol=1e-6) and set(near["feature"]) <= set(range(7))
    assert np.allclose(np.linalg.norm(near["position"] - points, axis=1), near["distance"], atol=1e-6)
    assert near["triangle"].max() < 12
    corner = [[0, 0, 0]]
    assert tree.inside(corner).tolist() == [True] and tree.inside(corner, border=False).tolist() == [False]
    assert tree.nearest(np.empty((0, 3)))["position"].shape == (0, 3)
    with pytest.raises(trommel.InvalidArgument, match="even-odd"):
        tree.inside(points, "odd")
    with pytest.raises(trommel.InvalidArgument, match="closed"):
        trommel.Tree((TETRAHEDRON[0], TETRAHEDRON[1][1:])).inside(corner)


def test_several_triangles_nearest_points():
    random = np.random.default_rng(9)
    tree, points = trommel.Tree(cube()), random.uniform(-1, 2, (101, 3)).astype(np.float32)
    near, one = tree.nearest(points, 13), tree.nearest(points)
    assert near["position"].shape == (101, 13, 3) and near["feature"].shape == (101, 13)
    assert np.array_equal(near["distance"][:, 0], one["distance"])
    assert np.array_equal(near["triangle"][:, 0], one["triangle"])
    assert (np.diff(near["distance"]) >= 0)[:, :11].all() and np.isinf(near["distance"][:, 12]).all()
    assert np.array_equal(np.sort(near["triangle"][:, :12]), np.tile(np.arange(12), (101, 1)))
    apart = np.linalg.norm(near["position"] - points[:, None], axis=2)
    assert np.allclose(apart[:, :12], near["distance"][:, :12], atol=1e-6)
    with pytest.raises(trommel.InvalidArgument, match="k is 257"):
        tree.nearest(points, 257)


def test_inside_of_a_cube_without_a_lid():
    box = cube()
    lid = (box.vertices[box.faces][:, :, 2] == 1).all(1)
    tree = trommel.Tree((box.vertices, box.faces[~lid]))
    grid = (np.mgrid[:5, :5, :5].reshape(3, -1).T / 4 * 1.8 - .4).astype(np.float32)
    inside = tree.inside(grid, "solid-angle")
    assert np.array_equal(inside & (grid[:, 2] < .5), ((grid > 0) & (grid < 1)).all(1) & (grid[:, 2] < .5))
    assert not inside[grid[:, 2] > 1.3].any()
    assert np.array_equal(tree.signed_distance(grid, "solid-angle") < 0, inside)


def test_rays_through_a_cube():
    random = np.random.default_rng(8)
    directions = random.normal(size=(1001, 3)).astype(np.float32)
    origins = (random.uniform(-.5, 1.5, (1001, 3)) - 9 * directions / np.linalg.norm(directions, axis=1)[:, None]).astype(np.float32)
    with np.errstate(divide="ignore"):
        ends = np.sort(np.stack([(0 - origins) / directions, (1 - origins) / directions]), axis=0)
    enters, leaves = ends[0].max(1), ends[1].min(1)
    crosses = (enters < leaves) & (leaves > 0)
    assert 100 < crosses.sum() < 900
    tree = trommel.Tree(cube())
    assert np.array_equal(tree.cast(origins, directions, "any"), crosses)
    assert np.array_equal(tree.cast(origins, directions, "count"), 2 * crosses)
    near = tree.cast(origins, directions)
    assert np.array_equal(np.isfinite(near["t"]), crosses) and (near["triangle"][~crosses] == 2**32 - 1).all()
    assert np.allclose(near["t"][crosses], enters[crosses], rtol=1e-5)
    corners = cube().vertices[cube().faces[near["triangle"][crosses]]]
    second, third = near["barycentric"][crosses].T[:, :, None]
    there = corners[:, 0] * (1 - second - third) + corners[:, 1] * second + corners[:, 2] * third
    assert np.allclose(there, (origins + near["t"][:, None] * directions)[crosses], atol=1e-4)
    every = tree.cast(origins, directions, "all")
    assert np.array_equal(every["ray"], np.repeat(np.flatnonzero(crosses), 2))
    assert np.allclose(every["t"][1::2], leaves[crosses], rtol=1e-5) and every["triangle"].max() < 12
    middle = np.where(crosses, (enters + leaves) / 2, 1)
    assert np.array_equal(tree.cast(origins, directions * middle[:, None].astype(np.float32), "count", 1), crosses)
    assert len(tree.cast(origins[:0], directions[:0], "all")["t"]) == 0
    with pytest.raises(trommel.InvalidArgument, match="directions has 1 rows, needs 1001"):
        tree.cast(origins, directions[:1])
    with pytest.raises(trommel.InvalidArgument, match="nearest"):
        tree.cast(origins, directions, "every")
    with pytest.raises(trommel.InvalidArgument, match="t_max"):
        tree.cast(origins, directions, t_max=float("nan"))


def test_trees_are_kept(tmp_path):
    tree, points = trommel.Tree(cube()), [[0.5, 0.5, 3]]
    tree.save(tmp_path / "cube.tree")
    for kept in (trommel.load_tree(tmp_path / "cube.tree"), pickle.loads(pickle.dumps(tree))):
        assert repr(kept) == repr(tree) and kept.nearest(points)["distance"].tolist() == [2]
        kept.update(cube().vertices + 1)
        assert kept.nearest(points)["distance"].tolist() == pytest.approx([np.sqrt(1.5)])
    (tmp_path / "cube.tree").write_bytes(bytes(tree)[:-1])
    with pytest.raises(trommel.FileError):
        trommel.load_tree(tmp_path / "cube.tree")


def test_parts_of_pictures_are_measured():
    image = np.random.default_rng(7).random((40, 60, 3), np.float32) + 0.1
    part = image[10:25, 5:38].copy()
    facts = trommel.measure_picture(image, region=(5, 10, 33, 15))
    assert facts.pixels == 33 * 15 and facts.log2_mean == trommel.measure_picture(part).log2_mean
    mask = np.zeros((40, 60), bool)
    mask[10:25, 5:38] = True
    assert trommel.measure_picture(image, mask=mask).log2_mean == facts.log2_mean
    halves = trommel.measure_picture(image, mask=[[0, 1]])
    assert halves.mean == pytest.approx(trommel.measure_picture(image[:, 30:].copy()).mean, rel=1e-12)
    red = trommel.measure_picture(image, luminance=(1, 0, 0))
    assert red.mean == pytest.approx(image[..., 0].mean(dtype=float), rel=1e-6)
    assert trommel.measure_picture(0 * image, floor=0.25).log2_mean == -2
    spot = trommel.measure_picture(image, meter="spot", region=(5, 10, 33, 15))
    assert spot.log2_mean == trommel.measure_picture(part, meter="spot").log2_mean
    whole = trommel.measure_picture(image, meter="spot", region=(0, 0, 0, 0))
    assert whole.log2_mean == trommel.measure_picture(image, meter="spot").log2_mean
    assert (trommel.expose(image, region=(5, 10, 33, 15)) == trommel.expose(image, mask=mask)).all()
    with pytest.raises(trommel.InvalidArgument, match="exclude"):
        trommel.measure_picture(image, mask=mask, meter="spot")
    with pytest.raises(trommel.InvalidArgument, match="0 to 255"):
        trommel.measure_picture(image, mask=[[0.5, 1]])
    with pytest.raises(trommel.InvalidArgument, match="region"):
        trommel.measure_picture(image, region=(50, 0, 20, 10))


def test_meshes_are_smoothed():
    z, y, x = np.mgrid[-15:16, -15:16, -15:16].astype(np.float32)
    rough = trommel.surface((x * x + y * y + z * z < 100).astype(np.float32), 0.5)
    soft = rough.smooth(20)
    before, after = rough.examine(), soft.examine()
    assert soft.face_count == rough.face_count and soft.normals.shape == soft.vertices.shape
    assert abs(after["volume"] / before["volume"] - 1) < 0.02 and after["area"] < 0.97 * before["area"]
    middle = soft.vertices.mean(0)
    out = soft.vertices - middle
    assert ((soft.normals * out).sum(1) > 0.9 * np.linalg.norm(out, axis=1)).all()
    shrunk = rough.smooth(20, method="laplacian")
    assert shrunk.examine()["volume"] < 0.97 * before["volume"]
    weights = np.zeros(len(rough.vertices), np.float32)
    weights[:100] = 1
    some = rough.smooth(3, weights=weights)
    assert (some.vertices[100:] == rough.vertices[100:]).all() and (some.vertices[:100] != rough.vertices[:100]).any()
    for wrong in (dict(step=0.9), dict(method="mean"), dict(weights=weights[1:]), dict(step=2)):
        with pytest.raises(trommel.InvalidArgument):
            rough.smooth(1, **wrong)
    triangle = trommel.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    assert (triangle.smooth(5).vertices == triangle.vertices).all()
    assert (triangle.smooth(5, free_boundary=True).vertices != triangle.vertices).any()


def test_meshes_are_cleaned():
    one, other = cube(), cube(0.5)
    faces = np.concatenate([one.faces, other.faces + 8, np.full((1, 3), 16, np.uint32)])
    both = trommel.Mesh(np.concatenate([one.vertices, other.vertices + 3, [[9, 9, 9]]]), faces)
    clean = both.clean()
    assert clean.face_count == 24 and len(clean.vertices) == 16 and len(both.vertices) == 17 and both.face_count == 25
    largest = both.clean(largest=True)
    assert largest.face_count == 12 and largest.examine()["components"] == 1
    volume = np.random.default_rng(8).integers(-3, 4, (12, 12, 12)).astype(np.float32)
    options = {"normals": "central", "spacing": (1, 2, 3)}
    raw, wanted = (trommel.surface(volume, [0, 1.5], drop_degenerate=drop, **options) for drop in (False, True))
    for name in ("vertices", "faces", "normals", "parts"):  # whole isovalues make no triangles to leave out
        assert np.array_equal(getattr(raw.clean(), name), getattr(wanted, name))
        assert np.array_equal(getattr(raw, name), getattr(wanted, name))
    rough = trommel.Mesh(raw.vertices.round(), raw.faces)
    cleaned = rough.clean()
    a, b, c = (rough.vertices[rough.faces[:, k]] for k in range(3))
    whole = (a != b).any(1) & (b != c).any(1) & (c != a).any(1)
    assert cleaned.face_count == np.count_nonzero(whole) < rough.face_count
    assert cleaned.examine()["area"] == pytest.approx(rough.examine()["area"])
