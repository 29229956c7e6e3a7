"""Streams against numpy, at the seams."""
import numpy as np
import pytest
import trommel

SIZES = [0, 1, 2, 1023, 1024, 1025, 65537]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", "u1 i2 u4 i8 f4 f8".split())
def test_reduce_and_scan(n, dtype):
    a = np.random.default_rng(n).integers(0, 100, n).astype(dtype)
    assert trommel.reduce(a) == a.sum(dtype=np.int64 if a.dtype.kind in "iu" else float)
    if n:
        assert trommel.reduce(a, ["min", "max", "argmin", "argmax"]) == [a.min(), a.max(), a.argmin(), a.argmax()]
        assert trommel.reduce(a, "mean") == pytest.approx(a.mean())
    assert np.array_equal(trommel.scan(a, inclusive=True), np.cumsum(a, dtype=trommel.scan(a).dtype))


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("dtype", "u4 i4 i8 f4 f8".split())
@pytest.mark.parametrize("columns", [2, 3, 4])
def test_reduce_columns(n, dtype, columns):
    a = np.random.default_rng(n).integers(0, 100, (n, columns)).astype(dtype)
    for name in "sum min max argmin argmax mean".split():
        wide = a.astype(float) if name == "mean" else a
        assert np.array_equal(trommel.reduce(a, name), getattr(np, name)(wide, axis=0)), name
    low, high = trommel.reduce(a, ["min", "max"])
    assert low.dtype == a.dtype and np.array_equal(high, a.max(axis=0))


def test_columns_of_nan_and_none():
    a = np.array([[np.nan, 2, np.nan], [1, np.nan, np.nan]], np.float32)
    assert np.array_equal(trommel.reduce(a, "min"), [1, 2, np.nan], equal_nan=True)
    assert np.isnan(trommel.reduce(a)).all() and trommel.reduce(a, "argmax").tolist() == [1, 0, 2**64 - 1]
    assert np.array_equal(trommel.reduce(a[:0], "max"), [-np.inf] * 3)


@pytest.mark.parametrize("n", SIZES)
def test_compact_and_partition(n):
    rng = np.random.default_rng(n)
    keep, rows = rng.random(n) < 0.4, rng.random((n, 5))
    words = rng.integers(0, 9, (n, 3)).astype(np.int16)
    a, b, places = trommel.compact([rows, words], keep, indices=True)
    assert np.array_equal(a, rows[keep]) and np.array_equal(b, words[keep]) and np.array_equal(places, np.flatnonzero(keep))
    out, count = trommel.partition(rows, keep)
    assert count == keep.sum() and np.array_equal(out, np.concatenate([rows[keep], rows[~keep]]))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", "u1 i2 u4 i4 f4 i8 f8".split())
def test_sort(n, dtype):
    a = np.random.default_rng(n).integers(0, 50, n).astype(dtype)
    keys, moved, places = trommel.sort(a, [np.arange(n)], indices=True)
    order = np.argsort(a, kind="stable")
    assert np.array_equal(keys, a[order]) and np.array_equal(moved, order) and np.array_equal(places, order)
    assert np.array_equal(trommel.sort(a, descending=True), np.sort(a)[::-1])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", "u1 i2 f4 f8".split())
def test_top_k(n, dtype):
    a = np.random.default_rng(n).integers(0, 50, n).astype(dtype)
    order = np.argsort(-a.astype(float), kind="stable")
    for k in (0, 1, n // 2, n, n + 3):
        values, places = trommel.top_k(a, k)
        assert np.array_equal(places, order[:k]) and np.array_equal(values, a[order[:k]])
        _, places = trommel.top_k(a, k, smallest=True, in_source_order=True)
        assert sorted(places) == sorted(np.argsort(a, kind="stable")[:k])


@pytest.mark.parametrize("n", SIZES)
def test_unique_and_histogram(n):
    a = np.sort(np.random.default_rng(n).integers(0, 200, n).astype(np.uint8))
    values, starts, lengths = trommel.unique(a)
    expected = np.unique(a, return_index=True, return_counts=True)
    assert all(np.array_equal(x, y) for x, y in zip((values, starts, lengths), expected))
    assert np.array_equal(trommel.bincount(a, 256), np.bincount(a, minlength=256))
    assert np.array_equal(trommel.bincount(a, 256, a), np.bincount(a, a, minlength=256))


@pytest.mark.parametrize("dtype", ["u1", "i4", "f2", "f4", "f8"])
@pytest.mark.parametrize("n", SIZES)
def test_histogram_is_numpys(n, dtype):
    a = (np.random.default_rng(n).normal(size=n) * 20 + 60).astype(dtype)
    for bins in (10, 70001, [0, 40, 40, 60.5, 80], [0, 60, 60]):
        for limits in (None, (20, 90)) if isinstance(bins, int) else (None,):
            counts, edges = trommel.histogram(a, bins, limits)
            assert counts.dtype == np.uint64 and np.array_equal(counts, np.histogram(a.astype(edges.dtype), edges)[0])
            assert np.allclose(edges, np.histogram_bin_edges(a.astype(edges.dtype), bins, limits), rtol=1e-6)
    weights = np.random.default_rng(n).random(n, np.float32)
    sums, edges = trommel.histogram(a, 16, weights=weights)
    assert np.allclose(sums, np.histogram(a.astype(edges.dtype), edges, weights=weights.astype(float))[0], rtol=1e-6)


def test_histogram_leaves_out_what_is_no_number():
    a = np.array([np.nan, -np.inf, -0.0, 0.5, 1, np.inf], np.float32)
    assert trommel.histogram(a, 2, (0, 1))[0].tolist() == [1, 2]
    assert trommel.histogram(a, 1, (0, 1), weights=[9, 9, 1, 2, 4, 9])[0].tolist() == [7]


@pytest.mark.parametrize("n", SIZES)
def test_reduce_by_key(n):
    rng = np.random.default_rng(n)
    keys, values = np.sort(rng.integers(0, 40, n)).astype(np.int16), rng.integers(0, 9, n).astype(np.uint32)
    kept, sums = trommel.reduce_by_key(keys, values)
    expected, starts = np.unique(keys, return_index=True)
    assert np.array_equal(kept, expected)
    assert np.array_equal(sums, np.add.reduceat(values, starts, dtype=np.uint64) if n else [])


@pytest.mark.parametrize("dtype", "u1 i4 f4 f8".split())
@pytest.mark.parametrize("n", SIZES)
def test_search(n, dtype):
    rng = np.random.default_rng(n)
    values, queries = np.sort(rng.integers(0, 99, n)).astype(dtype), rng.integers(0, 120, 1000).astype(dtype)
    assert np.array_equal(trommel.search(values, queries), np.searchsorted(values, queries))
    assert np.array_equal(trommel.search(values, queries, upper=True), np.searchsorted(values, queries, "right"))
    down = np.ascontiguousarray(values[::-1])
    assert np.array_equal(trommel.search(down, queries, descending=True), n - np.searchsorted(values, queries, "right"))


def test_segments():
    a, offsets = np.arange(100, dtype=np.float32), [0, 0, 7, 50, 100]
    expected = [a[p:q].sum() for p, q in zip(offsets, offsets[1:])]
    assert trommel.reduce_segments(a, offsets).tolist() == expected
    keys = np.random.default_rng(1).random(110)
    sources = np.concatenate([p + np.argsort(keys[p:q], kind="stable") for p, q in zip(offsets, offsets[1:])])
    got, places = trommel.sort(keys, indices=True, offsets=offsets)
    assert places[:100].tolist() == sources.tolist() and places[100:].tolist() == list(range(100, 110))
    assert np.array_equal(got, keys[places])


def test_strides_byte_order_and_read_only():
    a = np.arange(1000, dtype=">i4")[::-3]
    a.flags.writeable = False
    assert trommel.reduce(a) == a.sum() and np.array_equal(trommel.sort(a), np.sort(a))


def test_an_input_is_not_copied(monkeypatch):
    from trommel import _library as library
    seen, make = [], library.Buffers._make
    monkeypatch.setattr(library.Buffers, "_make", lambda self, array, *rest: seen.append(array.ctypes.data) or
                        make(self, array, *rest))
    a, rows = np.arange(8.0), np.arange(24, dtype=np.int16).reshape(8, 3)
    a.flags.writeable = False
    for call in (lambda: trommel.reduce(a), lambda: trommel.sort(a, [rows]), lambda: trommel.compact([a, rows], a > 3)):
        call()
        assert a.ctypes.data in seen
        seen.remove(a.ctypes.data)
    assert seen.count(rows.ctypes.data) == 2


def test_half_precision():
    a = np.array([3, 1, 2, 2], np.float16)
    assert trommel.reduce(a, ["sum", "max", "argmin"]) == [8, 3, 1] and trommel.scan(a, True).tolist() == [3, 4, 6, 8]
    assert trommel.sort(a).dtype == np.float16 and trommel.sort(a).tolist() == [1, 2, 2, 3]
    assert trommel.top_k(a, 2)[1].tolist() == [0, 2] and trommel.unique(a)[0].tolist() == [3, 1, 2]
    assert trommel.histogram(a, [0, 2, 4])[0].tolist() == [1, 3] and trommel.search(np.sort(a), a).tolist() == [3, 0, 1, 1]


def test_subclasses_and_nothing():
    plain = np.ma.masked_array([1, 2, 3], False)
    assert trommel.reduce(plain) == 6 and type(trommel.sort(plain)) is np.ndarray
    none = np.empty((0, 5))
    assert trommel.compact(none, []).shape == (0, 5) and trommel.unique([])[0].shape == (0,)
    assert trommel.reduce_segments([], [0, 0]).tolist() == [0] and trommel.bincount(np.zeros(0, "u1"), 3).sum() == 0 and trommel.histogram([])[0].sum() == 0


@pytest.mark.parametrize("call, text", [
    (lambda: trommel.reduce(np.zeros(3), "product"), "'argmax'"),
    (lambda: trommel.reduce(np.zeros((3, 3, 3))), "3 x 3 x 3, needs 1 or 2 dimensions"),
    (lambda: trommel.reduce(np.zeros((3, 5))), "rows of 5 float64, needs 2 to 4 numbers"),
    (lambda: trommel.reduce(np.zeros((3, 3), np.uint8)), "rows of 3 uint8"),
    (lambda: trommel.reduce(["a"]), "needs numbers"),
    (lambda: trommel.compact(np.zeros(3), [1, 0]), "2 rows"),
    (lambda: trommel.compact([np.zeros(1)] * 9, [1]), "at most 8"),
    (lambda: trommel.sort(np.zeros(3), [np.zeros(4)]), "3 rows"),
    (lambda: trommel.reduce_by_key(np.zeros(3), np.zeros(2)), "2 rows"),
    (lambda: trommel.top_k([1], -1), "0 or more"),
    (lambda: trommel.search(np.zeros((3, 2)), [1]), "1 dimensions"),
    (lambda: trommel.bincount(np.zeros(3), 4), "in"),
    (lambda: trommel.histogram(np.zeros(3), 0), "from 1 on"),
    (lambda: trommel.histogram([np.inf]), "finite"),
    (lambda: trommel.histogram([1], [2, 1]), "decrease"),
    (lambda: trommel.histogram([1], 2, weights=[1, 2]), "2 elements"),
    (lambda: trommel.reduce(np.float64(3)), "a single number, needs 1 or 2 dimensions"),
    (lambda: trommel.compact(np.zeros(1), True), "a single number"),
    (lambda: trommel.sort([1], [np.float64(2)]), "a single number"),
    (lambda: trommel.reduce(np.ma.masked_array([1, 2], [0, 1])), "masked"),
    (lambda: trommel.compact(np.zeros((3, 9)), [1, 0, 1]), "72 bytes"),
    (lambda: trommel.compact(np.zeros((1, 2**24 + 16), np.uint8), [1]), "bytes"),
    (lambda: trommel.unique(np.zeros((5, 0))), "0 bytes"),
    (lambda: trommel.reduce_segments(np.zeros(3), [0, 1.5]), "integers"),
    (lambda: trommel.scan(np.zeros(3), start=1, offsets=[0, 3]), "no start"),
    (lambda: trommel.reduce_segments(np.zeros(3), [0, -1]), "from 0 on"),
    (lambda: trommel.reduce(np.zeros(3, complex)), "complex128"),
])
def test_nonsense_is_refused(call, text):
    with pytest.raises(trommel.InvalidArgument, match=text):
        call()


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "u8"])
@pytest.mark.parametrize("inclusive", [False, True])
def test_scans_begin_anew_in_each_segment(dtype, inclusive):
    values = np.random.default_rng(1).integers(0, 9, 1000).astype(dtype)
    offsets, expected = [3, 3, 10, 700, 990], np.zeros(1000)
    for low, high in zip(offsets, offsets[1:]):
        expected[low:high] = np.cumsum(values[low:high]) - (0 if inclusive else values[low:high])
    found = trommel.scan(values, inclusive, offsets=offsets)
    assert found.dtype == trommel.scan(values).dtype and np.array_equal(found, expected)
