"""PyMCubes' marching cubes, for programs that call it: from trommel import mcubes."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .objects import Volume
from .surface import surface

if TYPE_CHECKING:
    from ._types import Array, ArrayLike


def marching_cubes(volume: ArrayLike | Volume, isovalue: float) -> tuple[Array, Array]:
    """As mcubes.marching_cubes: vertices (float64, along the volume's axes) and triangles (uint64). What differs:
    the surface is closed where it does not meet the border. A trommel.Volume is taken for its physical values alone.

    >>> import numpy as np
    >>> from trommel import mcubes
    >>> dot = np.pad([[[1.0]]], 1)
    >>> [array.shape for array in mcubes.marching_cubes(dot, 0.5)]
    [(6, 3), (8, 3)]
    """
    volume = np.asarray(volume) if isinstance(volume, Volume) else volume
    mesh = surface(volume, isovalue, direction=((0, 0, 1), (0, 1, 0), (1, 0, 0)), normals=None)
    return mesh.vertices.astype(np.float64), mesh.faces.astype(np.uint64)[:, ::-1]
