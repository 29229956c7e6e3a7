"""Trommel: isosurfaces, fields of points, exposure, collision, subdivision and streams, on arrays.

    import trommel
    mesh = trommel.surface(trommel.load_volume("head.nrrd"), 300)
    mesh.save("skull.ply")
"""
from ._library import (Cancelled, Context, Error, FileError, InvalidArgument, OutOfMemory, Unsupported, Warning, devices)
from .files import load_mesh, load_picture, load_points, load_volume, save_picture, save_points, save_volume
from .images import Measurement, expose, measure as measure_picture, mips, tonemap
from .kernels import Kernel, map
from .meshes import Contacts, Tree, collide, distance, load_tree, subdivide
from .objects import Points, Volume
from .slabs import labels_to_file, surface_to_file
from .streams import bincount, compact, histogram, partition, reduce, reduce_by_key, reduce_segments, runs, scan, search, \
    sort, top_k, unique
from .surface import Field, Mesh, field, otsu, surface, surface_labels
from . import _abi, mcubes, measure

__version__ = f"{_abi.TML_VERSION >> 20}.{_abi.TML_VERSION >> 10 & 1023}.{_abi.TML_VERSION & 1023}"
__all__ = ["bincount", "Cancelled", "collide", "compact", "Contacts", "Context", "devices", "distance", "Error",
           "expose", "Field", "field", "FileError", "histogram", "InvalidArgument", "Kernel", "labels_to_file",
           "load_mesh", "load_picture", "load_points", "load_tree", "load_volume", "map", "mcubes", "measure",
           "measure_picture", "Measurement", "Mesh", "mips", "otsu", "OutOfMemory", "partition", "Points", "reduce",
           "reduce_by_key", "reduce_segments", "runs", "save_picture", "save_points", "save_volume", "scan", "search", "sort",
           "subdivide", "surface", "surface_labels", "surface_to_file", "tonemap", "top_k", "Tree", "unique",
           "Unsupported", "Volume", "Warning"]
