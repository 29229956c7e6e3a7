"""Streams on arrays: reduce, scan, compact, partition, sort, top_k, unique, histogram, segments."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _abi as c
from ._library import Buffers, InvalidArgument, as_array, context_of, scalar_type
from .kernels import Kernel, kernel_inputs, kernel_params
from .surface import choose

if TYPE_CHECKING:
    from ._types import Array, ArrayLike, Context

_FOLDS = {"sum": c.TML_FOLD_SUM, "min": c.TML_FOLD_MIN, "max": c.TML_FOLD_MAX, "argmin": c.TML_FOLD_ARGMIN,
          "argmax": c.TML_FOLD_ARGMAX, "mean": c.TML_FOLD_MEAN}


def _fold_dtype(fold, dtype):
    if fold in ("min", "max"):
        return dtype
    if fold == "mean" or (fold == "sum" and dtype.kind == "f"):
        return np.dtype(np.float64)
    return np.dtype(np.int64 if fold == "sum" and dtype.kind == "i" else np.uint64)


def _plain(array, name, ndim=1):
    array = as_array(array, name, None, ndim)
    return array.view(np.uint8) if array.dtype == bool else array


def reduce(values: ArrayLike, fold: str | Sequence[str] = "sum", context: Context | None = None) -> Any:
    """One number: "sum", "mean", "min", "max", "argmin", "argmax". A list of folds: a list, from one read.

    Of n rows of 2 to 4 numbers, of 4 or 8 bytes each, an array with a number for each column: ["min", "max"] of
    positions are their bounding box. Sums of integers are exact modulo 2**64; floats are summed in double. NaN: sums
    and means are NaN, the others pass over it.

    >>> import trommel
    >>> trommel.reduce([3, 1, 2], ["sum", "argmin"])
    [6, 1]
    >>> [corner.tolist() for corner in trommel.reduce([[3, 1], [2, 7], [5, 4]], ["min", "max"])]
    [[2, 1], [5, 7]]
    """
    values = _plain(values, "values", (1, 2))
    columns = values.shape[1:]
    if columns and (columns[0] not in (2, 3, 4) or values.itemsize < 4):
        raise InvalidArgument("INVALID_ARGUMENT", f"values has rows of {columns[0]} {values.dtype}, needs 2 to 4 numbers "
                              "of 4 or 8 bytes")
    folds = [fold] if isinstance(fold, str) else list(fold)
    if not 1 <= len(folds) <= c.TML_MAX_FOLDS:
        raise InvalidArgument("INVALID_ARGUMENT", f"fold has {len(folds)} names, needs 1 to {c.TML_MAX_FOLDS}")
    kinds = [choose(_FOLDS, "fold", name) for name in folds]
    outs = [np.empty((1, *columns), _fold_dtype(name, values.dtype)) for name in folds]
    context = context_of(context)
    with Buffers(context) as buffers:
        desc = c.tml_reduce_desc(length=_all(values))
        setattr(desc, "in", buffers.input(values))
        for k, (kind, out) in enumerate(zip(kinds, outs)):
            desc.folds[k] = c.tml_reduce_result(kind, buffers.output(out))
        context.call("reduce", desc)
    results = [out[0] if columns else out[0].item() for out in outs]
    return results[0] if isinstance(fold, str) else results


def _all(values):
    return c.tml_length(count=len(values), exact=True)


def scan(values: ArrayLike, inclusive: bool = False, context: Context | None = None, fold: str = "sum",
         start: Any = None, offsets: ArrayLike | None = None) -> Array:
    """Running sums: out[i] = values[0] + ... + values[i - 1], or with inclusive up to values[i]; or with fold "min"
    or "max" the smallest or the largest of them. start comes before values[0]. Sums of integers are uint64 or
    int64; others have the values' type, at least 32 bits. "min" and "max" pass over NaN.

    offsets: sums begin anew in each segment values[offsets[s]:offsets[s + 1]]; what is in none is 0.

    >>> import trommel
    >>> trommel.scan([3, 1, 4], fold="max", start=2).tolist()
    [2, 3, 3]
    >>> trommel.scan([3, 1, 4, 1], inclusive=True, offsets=[0, 2, 4]).tolist()
    [3, 4, 4, 5]
    """
    values = _plain(values, "values")
    if fold not in ("sum", "min", "max"):
        raise InvalidArgument("INVALID_ARGUMENT", f'fold is {fold!r}, needs "sum", "min" or "max"')
    if offsets is not None and (fold != "sum" or start is not None):
        raise InvalidArgument("INVALID_ARGUMENT", 'scan: with offsets needs fold "sum" and no start')
    if values.dtype.kind in "if" and values.itemsize < 4:
        values = values.astype(np.dtype(values.dtype.kind + "4"))
    kind = {"u": np.uint64, "i": np.int64}.get(values.dtype.kind, values.dtype)
    if fold != "sum":
        kind = np.uint32 if values.itemsize < 4 else values.dtype
    out, context = np.zeros(len(values), kind), context_of(context)
    with Buffers(context) as buffers:
        desc = c.tml_scan_desc(inclusive=inclusive, out=buffers.output(out, filled=offsets is not None),
                               length=_all(values), fold=_FOLDS[fold])
        if offsets is not None:
            desc.segments.offsets = buffers.input(_offsets(offsets))
        if start is not None:
            desc.start = buffers.input(np.array([start], kind))
        setattr(desc, "in", buffers.input(values))
        context.call("scan", desc)
    return out


def _select(is_partition, arrays, keep, context, indices, inputs, params):
    single = not isinstance(arrays, (tuple, list)) or not arrays or np.ndim(arrays[0]) == 0
    arrays = [as_array(a, "array") for a in ([arrays] if single else arrays)]
    if len(arrays) > c.TML_MAX_PAYLOADS:
        raise InvalidArgument("INVALID_ARGUMENT", f"there are {len(arrays)} arrays, needs at most "
                              f"{c.TML_MAX_PAYLOADS}")
    context = context_of(context)
    with Buffers(context) as buffers:
        desc = c.tml_compact_desc(partition=is_partition)
        if isinstance(keep, Kernel):
            given = kernel_inputs(keep, arrays[:len(keep.arrays)] if inputs is None else inputs)
            desc.keep.kernel, desc.keep.params = keep.pointer(context), kernel_params(*params)
            for k, array in enumerate(given):
                getattr(desc.keep, "in")[k] = buffers.input(array)
            if inputs is None:
                arrays[:len(given)] = given
            length = len(arrays[0] if arrays else given[0])
        else:
            keep = as_array(keep, "keep", None, 1)
            keep = keep if scalar_type(keep.dtype) == c.TML_U8 else keep != 0
            desc.keep.flags, length = buffers.input(keep), len(keep)
        for a in arrays:
            if len(a) != length:
                raise InvalidArgument("INVALID_ARGUMENT", f"an array is {a.shape}, needs {length} rows")
        outs, places = [np.empty(a.shape, a.dtype) for a in arrays], None
        for k, (a, out) in enumerate(zip(arrays, outs)):
            desc.payloads[k] = c.tml_payload(buffers.input(a), buffers.output(out))
        if indices:
            places = np.empty(length, np.uint64)
            desc.indices = buffers.output(places)
        desc.count, desc.length.count, desc.length.exact = buffers.count(), length, True
        context.call("compact", desc)
    outs = outs + [places] if indices else outs
    return buffers.counted, outs, single and not indices


def compact(arrays: Any, keep: ArrayLike | Kernel, indices: bool = False, *, inputs: Sequence[ArrayLike] | None = None,
            f: Sequence[float] = (), u: Sequence[int] = (), m: ArrayLike | None = None,
            context: Context | None = None) -> Any:
    """The rows of an array, or of each of a list of arrays, that are kept, in order.

    keep     an array, not 0 where a row is kept; or a Kernel of the first arrays, or of inputs, with parameters f, u, m
    indices  the kept rows' places too, at the end of the list

    >>> import trommel
    >>> trommel.compact([[5.0, 6.0, 7.0], [1, 2, 3]], [True, False, True])
    [array([5., 7.]), array([1, 3])]
    """
    count, outs, single = _select(False, arrays, keep, context, indices, inputs, (f, u, m))
    outs = [out[:count] for out in outs]
    return outs[0] if single else outs


def partition(arrays: Any, keep: ArrayLike | Kernel, indices: bool = False, *,
              inputs: Sequence[ArrayLike] | None = None, f: Sequence[float] = (), u: Sequence[int] = (),
              m: ArrayLike | None = None, context: Context | None = None) -> tuple[Any, int]:
    """As compact, but the rejected rows follow the kept ones. Returns the arrays and how many are kept.

    >>> import trommel
    >>> trommel.partition([5, 6, 7], [True, False, True])
    (array([5, 7, 6]), 2)
    """
    count, outs, single = _select(True, arrays, keep, context, indices, inputs, (f, u, m))
    return (outs[0] if single else outs), count


def _offsets(offsets: ArrayLike) -> Array:
    """Offsets of segments as the library takes them."""
    offsets = np.asarray(offsets)
    if offsets.size and (offsets.dtype.kind not in "iu" or offsets.min() < 0):
        raise InvalidArgument("INVALID_ARGUMENT", "offsets: needs integers from 0 on")
    return as_array(offsets, "offsets", np.uint64, 1)


def sort(keys: ArrayLike, payloads: Sequence[ArrayLike] = (), descending: bool = False, indices: bool = False,
         offsets: ArrayLike | None = None, context: Context | None = None) -> Any:
    """Sorts keys, stably, and moves payloads (a list of arrays) alike. Returns the keys; with payloads or indices a
    list: keys, payloads, indices. Floats: -NaN < -inf < ... < -0 < 0 < ... < inf < NaN.

    offsets  sorts each segment keys[offsets[s]:offsets[s + 1]] by itself; the others keep their places

    >>> import trommel
    >>> trommel.sort([3, 1, 2], indices=True)
    [array([1, 2, 3]), array([1, 2, 0], dtype=uint64)]
    >>> trommel.sort([3, 1, 2, 0], offsets=[0, 2, 4])
    array([1, 3, 0, 2])
    """
    keys = _plain(keys, "keys")
    payloads = [as_array(p, "a payload") for p in payloads]
    for p in payloads:
        if len(p) != len(keys):
            raise InvalidArgument("INVALID_ARGUMENT", f"a payload is {p.shape}, needs {len(keys)} rows, as keys has")
    if len(payloads) > c.TML_MAX_PAYLOADS:
        raise InvalidArgument("INVALID_ARGUMENT", f"there are {len(payloads)} payloads, needs at most "
                              f"{c.TML_MAX_PAYLOADS}")
    segments = None if offsets is None else _offsets(offsets)
    outs = [np.empty_like(a) for a in [keys, *payloads]]
    places, context = np.empty(len(keys), np.uint64), context_of(context)
    with Buffers(context) as buffers:
        desc = c.tml_sort_desc(keys=buffers.input(keys), sorted=buffers.output(outs[0]), descending=descending,
                               length=_all(keys))
        for k, p in enumerate(payloads):
            desc.payloads[k] = c.tml_payload(buffers.input(p), buffers.output(outs[k + 1]))
        if indices:
            desc.indices = buffers.output(places)
        if segments is not None:
            desc.segments.offsets = buffers.input(segments)
        context.call("sort", desc)
    outs = outs + [places] if indices else outs
    return outs[0] if len(outs) == 1 else outs


def top_k(keys: ArrayLike, k: int, smallest: bool = False, in_source_order: bool = False,
          context: Context | None = None) -> tuple[Array, Array]:
    """The k largest keys, or the smallest, and their indices; of equal keys the earlier come first. As many as there
    are keys at most. In sort's order, or in_source_order: those that equal the last one come last, all else as in keys.

    >>> import trommel
    >>> [a.tolist() for a in trommel.top_k([2, 9, 5, 9], 3)]
    [[9, 9, 5], [1, 3, 2]]
    """
    keys, context = _plain(keys, "keys"), context_of(context)
    if k < 0:
        raise InvalidArgument("INVALID_ARGUMENT", f"k is {k}, needs 0 or more")
    k = min(k, len(keys))
    values, places = np.empty(k, keys.dtype), np.empty(k, np.uint64)
    with Buffers(context) as buffers:
        context.call("top_k", c.tml_top_k_desc(
            keys=buffers.input(keys), length=_all(keys), k=_all(values), smallest=smallest,
            in_source_order=in_source_order, values=buffers.output(values), indices=buffers.output(places)))
    return values, places


def unique(values: ArrayLike, context: Context | None = None) -> tuple[Array, Array, Array]:
    """The same as runs(), by the C library's name. It is not numpy's unique: nothing is sorted, and a value that comes
    again later is there again.

    >>> import trommel
    >>> trommel.unique([3, 1, 3])[0].tolist(), trommel.unique(trommel.sort([3, 1, 3]))[0].tolist()
    ([3, 1, 3], [1, 3])
    """
    return runs(values, context)


def runs(values: ArrayLike, context: Context | None = None) -> tuple[Array, Array, Array]:
    """Runs of equal neighbours: the value of each, where it begins, how long it is. Equal is of equal bytes, so NaN
    equals itself. For distinct values, as numpy.unique's, sort first.

    >>> import trommel
    >>> [a.tolist() for a in trommel.runs([7, 7, 5, 7])]
    [[7, 5, 7], [0, 2, 3], [2, 1, 1]]
    """
    values = as_array(values, "values")
    out, context = np.empty_like(values), context_of(context)
    starts, lengths, count = (np.empty(n, np.uint64) for n in (len(values), len(values), 1))
    with Buffers(context) as buffers:
        desc = c.tml_unique_desc(values=buffers.output(out), starts=buffers.output(starts), length=_all(values),
                                 lengths=buffers.output(lengths), count=buffers.output(count))
        setattr(desc, "in", buffers.input(values))
        context.call("unique", desc)
    return tuple(a[:int(count[0])] for a in (out, starts, lengths))


def _sums(desc, count, values, weights, context):
    """Runs a histogram into count bins, and returns them."""
    if weights is not None:
        weights = _plain(weights, "weights")
        if len(weights) != len(values):
            raise InvalidArgument("INVALID_ARGUMENT", f"weights has {len(weights)} elements, needs {len(values)}")
        is_count = weights.dtype.kind in "iu" and (not weights.size or 0 <= weights.min() <= weights.max() < 2**32)
        weights = weights.astype(np.uint32 if is_count else np.float32)
    out = np.empty(count, np.uint64 if weights is None or weights.dtype.kind == "u" else np.float32)
    context = context_of(context)
    with Buffers(context) as buffers:
        desc = desc(buffers)
        desc.bins, desc.out, desc.length = count, buffers.output(out), _all(values)
        getattr(desc, "in")[0] = buffers.input(values)
        if weights is not None:
            desc.weights = buffers.input(weights)
        context.call("histogram", desc)
    return out


def bincount(bins: ArrayLike, count: int, weights: ArrayLike | None = None, context: Context | None = None) -> Array:
    """How many elements of bins (uint8, uint16 or uint32) are 0, 1, ... count - 1, or the sums of their weights, as
    histogram has them.

    >>> import numpy, trommel
    >>> trommel.bincount(numpy.array([1, 3, 1], "u1"), 4).tolist()
    [0, 2, 0, 1]
    """
    return _sums(lambda _: c.tml_histogram_desc(), count, _plain(bins, "bins"), weights, context)


def histogram(values: ArrayLike, bins: int | ArrayLike = 10, range: tuple[float, float] | None = None,
              weights: ArrayLike | None = None, context: Context | None = None) -> tuple[Array, Array]:
    """Counts (uint64) and edges, as numpy.histogram's: bins is a number of bins of equal width over range, or what the
    values span; or the edges, which may not decrease. The last bin holds its upper edge. NaN is counted nowhere.

    weights: one a value. Of integers from 0 to 2**32 - 1 the sums are exact; others are taken as float32, and the
    sums are float32, the same bits on every engine (trommel/stream.h says how near).

    >>> import trommel
    >>> [a.tolist() for a in trommel.histogram([1, 2, 2, 4], [0, 2, 4])]
    [[1, 3], [0.0, 2.0, 4.0]]
    """
    values = _plain(values, "values")
    edges = np.asarray(bins)
    if edges.ndim == 0 and not (edges.dtype.kind in "iu" and edges >= 1):
        raise InvalidArgument("INVALID_ARGUMENT", f"bins is {bins!r}, needs a whole number from 1 on, or edges")
    if edges.ndim == 0:
        low, high = range if range is not None else (values.min(), values.max()) if values.size else (0, 1)
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise InvalidArgument("INVALID_ARGUMENT", f"the range is {low} to {high}, needs two finite numbers in order")
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        edges = np.linspace(low, high, int(edges) + 1)
    elif edges.ndim != 1 or len(edges) < 2 or not (edges[:-1] <= edges[1:]).all():
        raise InvalidArgument("INVALID_ARGUMENT", "bins: needs a number, or at least two edges that do not decrease")
    edges = edges.astype(np.float32 if values.dtype in (np.float32, np.float16) else np.float64)
    compared = values.astype(edges.dtype, copy=False)
    return _sums(lambda buffers: c.tml_histogram_desc(edges=buffers.input(edges)), len(edges) - 1, compared, weights,
                 context), edges


def reduce_segments(values: ArrayLike, offsets: ArrayLike, fold: str = "sum",
                    context: Context | None = None) -> Array:
    """One number for each segment values[offsets[s]:offsets[s + 1]].

    >>> import trommel
    >>> trommel.reduce_segments([3, 1, 4, 1], [0, 1, 4], "max").tolist()
    [3, 4]
    """
    values, offsets = _plain(values, "values"), _offsets(offsets)
    out = np.empty(max(len(offsets), 1) - 1, _fold_dtype(fold, values.dtype))
    context = context_of(context)
    with Buffers(context) as buffers:
        desc = c.tml_reduce_desc(length=_all(values))
        setattr(desc, "in", buffers.input(values))
        desc.segments.offsets = buffers.input(offsets)
        desc.folds[0] = c.tml_reduce_result(choose(_FOLDS, "fold", fold), buffers.output(out))
        context.call("reduce", desc)
    return out


def reduce_by_key(keys: ArrayLike, values: ArrayLike, fold: str = "sum",
                  context: Context | None = None) -> tuple[Array, Array]:
    """The key and the fold of the values of each run of equal neighbours among keys. Sort first, with the values as
    a payload, for one result a key.

    >>> import trommel
    >>> [a.tolist() for a in trommel.reduce_by_key([7, 7, 5, 7], [1, 2, 3, 4])]
    [[7, 5, 7], [3, 3, 4]]
    """
    keys, values = as_array(keys, "keys"), _plain(values, "values")
    if keys.ndim == 0 or len(keys) != len(values):
        raise InvalidArgument("INVALID_ARGUMENT", f"keys is {keys.shape}, needs {len(values)} rows, as values has")
    kept, out = np.empty_like(keys), np.empty(len(keys), _fold_dtype(fold, values.dtype))
    starts, count, context = np.empty(len(keys), np.uint64), np.zeros(1, np.uint64), context_of(context)
    with Buffers(context) as buffers:
        runs = c.tml_unique_desc(values=buffers.output(kept), starts=buffers.output(starts), length=_all(keys),
                                 count=buffers.output(count))
        setattr(runs, "in", buffers.input(keys))
        desc = c.tml_reduce_desc(length=_all(values))
        setattr(desc, "in", buffers.input(values))
        desc.folds[0] = c.tml_reduce_result(choose(_FOLDS, "fold", fold), buffers.output(out))
        desc.segments.starts = runs.starts
        desc.segments.count = c.tml_length(count=len(keys), device=runs.count, exact=True)
        context.call("unique", runs)
        context.call("reduce", desc)
    return kept[:int(count[0])], out[:int(count[0])]


def search(values: ArrayLike, queries: ArrayLike, upper: bool = False, descending: bool = False,
           context: Context | None = None) -> Array:
    """How many of the sorted values come before each query or, with upper, before or equal. NaN comes after inf, as
    in sort.

    >>> import trommel
    >>> trommel.search([1, 3, 3, 7], [3, 0, 9]).tolist()
    [1, 0, 4]
    """
    values = _plain(values, "values")
    queries = as_array(queries, "queries", values.dtype, 1)
    out, context = np.empty(len(queries), np.uint64), context_of(context)
    with Buffers(context) as buffers:
        context.call("search", c.tml_search_desc(
            sorted=buffers.input(values), sorted_length=_all(values), queries=buffers.input(queries),
            length=_all(queries), descending=descending, upper=upper, out=buffers.output(out)))
    return out
