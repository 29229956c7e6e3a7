"""Calls as a program with types has them: checked by mypy, never run. What it has to refuse is marked."""
from pathlib import Path

import numpy as np
import trommel
from trommel import mcubes, measure

volume = np.zeros((8, 8, 8), np.float32)
mesh: trommel.Mesh = trommel.surface(volume, [0.5, 0.7], spacing=(1, 1, 2), mask=volume > 0)
mesh.save(Path("a.ply"), up="z")
count: int = mesh.face_count
normals = mesh.normals
if normals is not None:
    normals.sum()
again: trommel.Mesh = trommel.load_mesh("a.ply", weld=True)
surface: trommel.Mesh = trommel.field([[0.0, 0.0, 0.0]], radius=1.0).surface(caps=True)
head = trommel.load_volume("head.nrrd", strict=True)
skull: trommel.Mesh = trommel.surface(head, "auto")
isovalue: float = trommel.otsu(head)
hounsfield: np.ndarray = np.asarray(head)
unit: str = head.unit
survey = trommel.load_points("survey.las")
drops = trommel.field(survey)
colors: np.ndarray = drops.mean(np.ones((len(survey), 3)), drops.surface())
made = trommel.Volume(volume, 0.5, slope=2)
written: dict[str, int] = trommel.surface_to_file(b"b.ply", head.values, 3, spacing=head.spacing)
tree = trommel.Tree(([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]]))
pairs = trommel.collide(tree, mesh, np.eye(4)[None], want="all").pairs["a"]
depths: np.ndarray = tree.signed_distance(mesh.vertices, rule="winding")
kept_tree: trommel.Tree = trommel.load_tree("a.tree")
largest: trommel.Mesh = mesh.clean(largest=True)
soft: trommel.Mesh = mesh.smooth(10, method="laplacian", step=0.3)
trommel.save_volume("v.nrrd", head, spacing=(1, 1, 2))
trommel.save_points("p.ply", trommel.load_points("q.ply"))
smooth: trommel.Mesh = trommel.subdivide(mesh, 2)
picture = trommel.expose(np.ones((4, 4, 3)), "agx", dtype=np.uint16)
mean: float = trommel.measure_picture(picture).mean
corner: float = trommel.measure_picture(picture, region=(0, 0, 2, 2), luminance=(1, 0, 0), mask=[[1]]).mean
values, starts, lengths = trommel.unique([1, 1, 2])
first_of_each = trommel.runs([1, 1, 2])[0]
large = trommel.Kernel("bool is_large(float x) { return x > 1.0f; }")
kept = trommel.compact([1.0, 2.0], large)
rows, number = trommel.partition(np.arange(3), [1, 0, 1])
context = trommel.Context("cpu", threads=2, progress=lambda stage, fraction: fraction < 0.5)
levels: list[np.ndarray] = trommel.mips(picture, context=context)
vertices, faces = mcubes.marching_cubes(volume, 0.5)
everything = measure.marching_cubes(volume, 0.5, spacing=(1, 1, 2))

trommel.surface(volume, 0.5, caps="yes")  # type: ignore[arg-type]
trommel.surface(volume, 0.5, spacings=2)  # type: ignore[call-arg]
trommel.sort([1], context="cpu")  # type: ignore[arg-type]
trommel.load_mesh(3)  # type: ignore[arg-type]
trommel.Context(progress=3)  # type: ignore[arg-type]
trommel.tonemap(picture, 3)  # type: ignore[arg-type]
text: str = trommel.bincount([1], 2)  # type: ignore[assignment]
