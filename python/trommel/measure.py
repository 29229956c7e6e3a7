"""scikit-image's marching cubes, for programs that call it: from trommel import measure."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Sequence

import numpy as np

from ._library import TYPES, context_of, scalar_type
from .objects import Volume
from .streams import compact, scan
from .surface import surface

if TYPE_CHECKING:
    from ._types import Array, Context


_UNIT = (1.0, 1.0, 1.0)


def marching_cubes(volume: Array | Volume, level: float | None = None, *, spacing: Sequence[float] = _UNIT,
                   gradient_direction: str = "descent", step_size: int = 1, allow_degenerate: bool = True,
                   method: str = "lewiner", mask: Array | None = None,
                   context: Context | None = None) -> tuple[Array, ...]:
    """As skimage.measure.marching_cubes: vertices, faces, normals, values, along the volume's axes.

    What differs: the surface is closed wherever it does not meet the border or the mask, also where samples equal
    the level, by each method; "lewiner" has the trilinear interpolant's topology. The volume is read in its own type. Normals are perpendicular to the surface
    also where the spacing differs between axes. values of a vertex that is exactly at a sample are those of the
    eight cells there. context: as of all functions. A trommel.Volume is taken for its physical values and its spacing;
    its origin and direction are not, since vertices are along the volume's axes: surface() places them.

    >>> import numpy as np
    >>> from trommel import measure
    >>> vertices, faces, normals, values = measure.marching_cubes(np.eye(4).reshape(4, 2, 2), 0.5)
    >>> len(vertices) == len(normals) == len(values), faces.max() < len(vertices)
    (True, True)
    """
    if isinstance(volume, Volume):
        spacing = tuple(reversed(volume.spacing)) if spacing is _UNIT else spacing
        volume = np.asarray(volume)
    if not isinstance(volume, np.ndarray) or volume.ndim != 3:
        raise ValueError("Input volume should be a 3D numpy array.")
    if min(volume.shape) < 2:
        raise ValueError("Input array must be at least 2x2x2.")
    if method not in ("lewiner", "lorensen", "_lorensen"):
        raise ValueError("method should be one of 'lewiner', 'lorensen' or '_lorensen'.")
    if mask is not None and method == "_lorensen":
        raise NotImplementedError("Parameter `mask` is not implemented for method \"_lorensen\"")
    if gradient_direction not in ("descent", "ascent"):
        raise ValueError(f"Incorrect input {gradient_direction} in `gradient_direction`, see docstring.")
    if len(spacing) != 3:
        raise ValueError("`spacing` must consist of three floats.")
    step = int(step_size)
    if step < 1:
        raise ValueError("step_size must be at least one.")
    if mask is not None and mask.shape != volume.shape:
        raise ValueError("volume and mask must have the same shape.")
    if volume.dtype.str[1:] not in TYPES or volume.dtype in (bool, np.float16):
        volume = volume.astype(np.float32)
    level = _middle(volume) if level is None else float(level)
    samples = volume
    volume = np.ascontiguousarray(volume[::step, ::step, ::step], volume.dtype.newbyteorder("="))
    # The direction gives vertices in the order of the volume's axes.
    is_short = method == "_lorensen"
    mesh = surface(volume, level, direction=((0, 0, 1), (0, 1, 0), (1, 0, 0)), drop_degenerate=not allow_degenerate,
                   normals=None if is_short else "central",
                   topology="trilinear" if method == "lewiner" else "separated", context=context)
    vertices, faces, normals = mesh.vertices, mesh.faces, mesh.normals
    if not len(faces):
        _check_level(samples, level)
    values = None if is_short else _values(volume, vertices, context)
    if mask is not None:
        vertices, faces, normals, values = _masked(vertices, faces, normals, values,
                                                   mask[::step, ::step, ::step] != 0)
    if not len(faces):
        raise RuntimeError("No surface found at the given iso value.")
    steps = np.asarray(spacing, float)
    if normals is not None and not np.array_equal(steps, (1, 1, 1)):
        normals = normals / steps.astype(np.float32)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.float32(1e-30))
    if step != 1 or not np.array_equal(steps, (1, 1, 1)):
        vertices = vertices * (step * steps)
    faces = faces.view(np.dtype(f"i{faces.itemsize}"))
    if gradient_direction == "descent":
        faces = faces[:, ::-1]
    return (vertices, faces) if is_short else (vertices, faces, normals, values)


def _range(volume):
    """The smallest and the largest sample. NaN does not count."""
    with np.errstate(invalid="ignore"):
        return np.fmin.reduce(volume, axis=None), np.fmax.reduce(volume, axis=None)


def _middle(volume):
    low, high = _range(volume)
    return 0.5 * (float(low) + float(high))


def _check_level(volume, level):
    """Has the surface no triangles because the level lies outside the data? Where there are any it lies within."""
    low, high = _range(volume)
    if level < low or level > high:
        raise ValueError("Surface level must be within volume data range.")


def _masked(vertices, faces, normals, values, mask):
    """Keeps the triangles of cells whose corner farthest from the origin is in the mask, and their vertices."""
    cells = np.minimum(vertices[faces].mean(axis=1).astype(np.intp), np.array(mask.shape) - 2)
    faces = compact(faces, mask[tuple(cells.T + 1)])
    used = np.zeros(len(vertices), bool)
    used[faces] = True
    return (compact(vertices, used), scan(used)[faces].astype(faces.dtype), compact(normals, used),
            compact(values, used))


def _values(volume, vertices, context):
    context = context_of(context)
    values = np.empty(len(vertices), np.float32)
    dims = (ctypes.c_uint64 * 3)(*reversed(volume.shape))
    context.call("cell_ranges", volume.ctypes.data, scalar_type(volume.dtype), dims, vertices.ctypes.data,
                 len(vertices), values.ctypes.data)
    return values
