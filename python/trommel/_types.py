"""Names of types, for annotations: read by type checkers alone."""
import os
from typing import Any, Protocol, Union

from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._library import Context

__all__ = ["Array", "ArrayLike", "Context", "DTypeLike", "MeshLike", "Path"]

Array = NDArray[Any]


class HasMesh(Protocol):
    """A Mesh, a trimesh."""
    vertices: Any
    faces: Any


MeshLike = Union[HasMesh, tuple[ArrayLike, ArrayLike], list[ArrayLike]]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
