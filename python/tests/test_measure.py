"""The drop-ins: against scikit-image itself, and its own tests of it."""
import numpy as np
import pytest
import trommel
from trommel import mcubes, measure

skimage = pytest.importorskip("skimage.measure")
theirs = pytest.importorskip("skimage.measure.tests.test_marching_cubes")


def gyroid(n, periods=2.0):
    x = np.linspace(0, periods * 2 * np.pi, n, dtype=np.float32)
    s, c = np.sin(x), np.cos(x)
    return (s[:, None, None] * c[:, None] + s[:, None] * c + s * c[:, None, None]).astype(np.float32)


def volume_of(vertices, faces):
    t = np.asarray(vertices, float)[faces]
    return np.einsum("ij,ij->i", t[:, 0], np.cross(t[:, 1], t[:, 2])).sum() / 6


@pytest.mark.parametrize("name", [n for n in dir(theirs) if n.startswith("test_")])
def test_of_scikit_image(name, monkeypatch):
    monkeypatch.setattr(theirs, "marching_cubes", measure.marching_cubes)
    getattr(theirs, name)()


def is_same(array, level, **options):
    """Vertices, faces, normals and values as scikit-image's, whatever the order."""
    a, b = skimage.marching_cubes(array, level, **options), measure.marching_cubes(array, level, **options)
    assert len(a[0]) == len(b[0]) and len(a[1]) == len(b[1])
    for mine, other in zip(b, a):
        assert mine.shape == other.shape and mine.dtype == other.dtype
    order = [np.lexsort(np.round(np.asarray(r[0], float), 4).T) for r in (a, b)]
    assert np.allclose(a[0][order[0]], b[0][order[1]], atol=1e-4)
    assert np.isclose(a[3][order[0]], b[3][order[1]], rtol=1e-4).mean() > 0.98
    assert volume_of(*a[:2]) == pytest.approx(volume_of(*b[:2]), rel=1e-3)
    return np.einsum("ij,ij->i", a[2][order[0]], b[2][order[1]])


def ball(dtype=np.float32):
    x = np.linspace(-1, 1, 40)
    d = 0.7 - np.sqrt(x[:30, None, None]**2 + x[:35, None]**2 * 1.3 + x**2 * 1.7)
    return (np.maximum(d * 100 + 60, 0) if np.dtype(dtype).kind in "iu" else d).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble])
def test_vertices_normals_and_values_are_the_same(dtype):
    assert is_same(ball(dtype), 0.0).min() > 0.99


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32])
def test_integers_are_read_in_their_own_type(dtype):
    assert is_same(ball(dtype), 60.5).min() > 0.95


def test_the_other_direction_and_steps():
    assert is_same(ball(), 0.0, gradient_direction="ascent").min() > 0.99
    v, f, n, values = measure.marching_cubes(ball(), 0.0, step_size=3)
    w = skimage.marching_cubes(ball(), 0.0, step_size=3)[0]
    assert len(v) == len(w) == len(n) == len(values) and np.allclose(v.max(0), w.max(0), atol=1e-4) and f.max() < len(v)


def test_normals_are_perpendicular_under_anisotropic_spacing():
    x = np.linspace(-1, 1, 64)
    d = 0.8 - np.sqrt(x[:, None, None]**2 + x[:, None]**2 + x**2)
    spacing = (2 / 63, 6 / 63, 4 / 63)
    v, _, n, _ = measure.marching_cubes(d.astype(np.float32), 0.0, spacing=spacing)
    outward = (v - np.array([1, 3, 2])) / np.array([1, 9, 4])
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    assert np.einsum("ij,ij->i", outward, n).min() > 0.999


def open_edges(faces):
    e = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    return int((np.unique(e, axis=0, return_counts=True)[1] == 1).sum())


def test_samples_at_the_level_leave_no_hole():
    q = np.random.default_rng(1).integers(-3, 4, (40, 40, 40)).astype(np.float32)
    q[0] = q[-1] = q[:, 0] = q[:, -1] = q[:, :, 0] = q[:, :, -1] = -3
    assert open_edges(skimage.marching_cubes(q, 0.0)[1]) > 1000
    v, f, n, values = measure.marching_cubes(q, 0.0)
    assert open_edges(f) == 0 and len(values) == len(v) == len(n)
    assert values.max() <= 6 and values.min() > 0


def test_values_do_not_depend_on_layers():
    """The greatest difference of corners, by the definition, on a volume of several tasks."""
    g = gyroid(50)
    v, _, _, values = measure.marching_cubes(g, 0.1)
    corners = [g[i:49 + i, j:49 + j, k:49 + k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    ranges = np.max(corners, 0) - np.min(corners, 0)
    for p, value in list(zip(v, values))[::37]:
        low = np.floor(p).astype(int)
        first = np.where(p == low, low - 1, low)
        last = np.minimum(low, 48)
        cells = ranges[tuple(slice(max(a, 0), b + 1) for a, b in zip(first, last))]
        assert value == pytest.approx(cells.max(), rel=1e-5)


def test_mcubes_has_its_types():
    v, f = mcubes.marching_cubes(ball(np.float64), 0.0)
    w = skimage.marching_cubes(ball(np.float64), 0.0)
    assert v.dtype == np.float64 and f.dtype == np.uint64 and len(v) == len(w[0])
    assert volume_of(v, f) == pytest.approx(volume_of(w[0], w[1]), rel=1e-3)


@pytest.mark.parametrize("dtype", "u1 i1 u2 i2 u4 i4 u8 i8 f4 f8".split())
@pytest.mark.parametrize("shape", [(9, 7, 12), (2, 2, 2), (5, 3, 4), (3, 40, 30)])
@pytest.mark.parametrize("level", [3.0, 3.3])
def test_values_are_ranges_of_cells(dtype, shape, level):
    volume = np.random.default_rng(1).integers(0, 7, shape).astype(dtype)
    vertices, _, _, values = measure.marching_cubes(volume, level)
    corners = [volume[z:shape[0] - 1 + z, y:shape[1] - 1 + y, x:shape[2] - 1 + x].astype(float)
               for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    ranges = np.pad(np.max(corners, 0) - np.min(corners, 0), 1, constant_values=-1)  # of cell i at i + 1
    lower = np.ceil(vertices).astype(int) - 1 + 1  # the first cell that a vertex is on
    upper = np.floor(vertices).astype(int) + 1
    greatest = np.max([ranges[tuple(np.where([i >> a & 1 for a in range(3)], upper, lower).T)] for i in range(8)], 0)
    assert np.array_equal(values, greatest)


def test_a_context_may_be_given():
    stages = []
    context = trommel.Context("cpu", threads=1, progress=lambda stage, _: stages.append(stage))
    mine, same = measure.marching_cubes(ball(), 0.0, context=context), measure.marching_cubes(ball(), 0.0)
    assert stages and all(np.array_equal(a, b) for a, b in zip(mine, same))
    assert len(measure.marching_cubes(ball(), 0.0, method="_lorensen")) == 2


@pytest.mark.parametrize("level", [2.0, -2.0])
def test_a_level_outside_the_data_is_named(level):
    with pytest.raises(ValueError, match="within volume data range"):
        measure.marching_cubes(np.linspace(-1, 1, 27, dtype=np.float32).reshape(3, 3, 3), level)
