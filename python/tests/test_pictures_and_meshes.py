"""Pictures, trees and subdivision."""
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


def test_a_tree_moves():
    tree = trommel.Tree(cube())
    tree.refit(cube().vertices + 10)
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
