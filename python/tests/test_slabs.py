"""Surfaces of volumes larger than memory."""
import numpy as np
import pytest
import trommel


def waves(n=48, dtype=np.float32):
    x = np.linspace(0, 9, n)
    return (np.sin(x)[:, None, None] * np.cos(x)[:, None] + np.sin(x) * 0.7).astype(dtype)


class Chunked:
    """What zarr and h5py have: a shape, a type, and slices that are arrays."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.asked = array, array.shape, array.dtype, []

    def __getitem__(self, key):
        self.asked.append((key.start, key.stop))
        return self.array[key]


@pytest.mark.parametrize("kind", ["array", "memmap", "chunked", "zarr", "h5py", "layers", "fortran", "swapped"])
@pytest.mark.parametrize("ending", ["ply", "glb", "stl"])
def test_the_file_is_that_of_the_whole(tmp_path, kind, ending):
    volume = waves()
    trommel.surface(volume, 0.1).save(tmp_path / f"whole.{ending}")
    options = {}
    if kind == "memmap":
        np.save(tmp_path / "v.npy", volume)
        source = np.load(tmp_path / "v.npy", mmap_mode="r")
    elif kind == "chunked":
        source = Chunked(volume)
    elif kind == "zarr":
        source = pytest.importorskip("zarr").array(volume, chunks=(7, 20, 48))
    elif kind == "h5py":
        file = pytest.importorskip("h5py").File(tmp_path / "v.h5", "w")
        source = file.create_dataset("v", data=volume, chunks=(7, 20, 48))
    elif kind == "layers":
        source, options = (layer for layer in volume), {"shape": volume.shape, "dtype": volume.dtype}
    else:
        source = {"array": volume, "fortran": np.asfortranarray(volume), "swapped": volume.astype(">f4")}[kind]
    counts = trommel.surface_to_file(tmp_path / f"slabs.{ending}", source, 0.1, memory=1 << 20, **options)
    assert (tmp_path / f"slabs.{ending}").read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()
    assert counts["components"] == trommel.surface(volume, 0.1).examine()["components"] and counts["triangles"] > 1000
    if kind == "chunked":
        assert len(source.asked) > 2 and source.asked[0][0] == 0 and source.asked[-1][1] == len(volume)


@pytest.mark.parametrize("kind", ["array", "chunked", "layers"])
@pytest.mark.parametrize("ending", ["ply", "vtp", "stl"])
def test_labels_in_slabs_are_those_of_the_whole(tmp_path, kind, ending):
    dtype, unit = (np.int64, 2**60) if ending == "vtp" else (np.int16, 2**12)  # PLY has no int64
    volume = (4 * waves(40)).round().astype(dtype) * dtype(unit)
    options = {"smooth": 5, "caps": True, "background": unit, "spacing": (1, 2, 3)}
    whole = trommel.surface_labels(volume, **options)
    whole.save(tmp_path / f"whole.{ending}")
    source, layers = volume, {}
    if kind == "chunked":
        source = Chunked(volume)
    elif kind == "layers":
        source, layers = (layer for layer in volume), {"shape": volume.shape, "dtype": volume.dtype}
    counts = trommel.labels_to_file(tmp_path / f"slabs.{ending}", source, memory=1 << 20, **options, **layers)
    assert (tmp_path / f"slabs.{ending}").read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()
    assert counts == {"vertices": len(whole.vertices), "triangles": len(whole.faces),
                      "components": whole.examine()["components"]}
    some = {"labels": [-2 * unit, 0, 2 * unit, unit], "between": (unit, 2 * unit)}
    counts = trommel.labels_to_file(tmp_path / "some.vtp", volume, quads=True, **some)
    assert counts["quads"] == len(trommel.surface_labels(volume, **some).faces) / 2 > 100
    with pytest.raises(trommel.InvalidArgument, match="needs integers"):
        trommel.labels_to_file(tmp_path / "some.ply", waves())
    with pytest.raises(trommel.Unsupported, match="triangles only"):
        trommel.labels_to_file(tmp_path / "some.stl", volume, quads=True)


def test_memory_is_bounded(tmp_path):
    resource = pytest.importorskip("resource")
    n, peak = 256, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    layer = np.cos(np.linspace(0, 20, n, dtype=np.float32))[:, None] * np.cos(np.linspace(0, 20, n, dtype=np.float32))
    layers = (layer * np.float32(np.cos(k / 12)) for k in range(4 * n))
    trommel.surface_to_file(tmp_path / "a.stl", layers, 0.3, shape=(4 * n, n, n), dtype="f4", memory=16 << 20)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 128 * 1024  # of 256 MB of samples


def test_failures_leave_what_was_there(tmp_path):
    path, volume = tmp_path / "a.ply", waves(20)
    path.write_text("before")

    def layers(count, fail=False):
        for k in range(count):
            yield volume[k]
        if fail:
            raise RuntimeError("the disk is gone")

    with pytest.raises(trommel.InvalidArgument, match="layer 7 is missing"):
        trommel.surface_to_file(path, layers(7), 0.1, shape=volume.shape, dtype="f4")
    with pytest.raises(RuntimeError, match="the disk is gone"):
        trommel.surface_to_file(path, layers(7, True), 0.1, shape=volume.shape, dtype="f4")
    with pytest.raises(trommel.InvalidArgument, match="shape"):
        trommel.surface_to_file(path, layers(20), 0.1)
    with pytest.raises(trommel.Unsupported):
        trommel.surface_to_file(tmp_path / "a.xyz", volume, 0.1)
    assert path.read_text() == "before" and [p.name for p in tmp_path.iterdir()] == ["a.ply"]
