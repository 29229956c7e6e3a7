"""Open edges of a surface of small integers at a level that is a sample's value: scikit-image's, and none."""
import matplotlib.pyplot as plt
import numpy as np
import skimage.measure
import trommel.measure

volume = np.random.default_rng(1).integers(-3, 4, (40, 40, 40)).astype(np.float32)
volume[[0, -1]] = volume[:, [0, -1]] = volume[:, :, [0, -1]] = -3  # so that no surface meets the border
figure = plt.figure(figsize=(9, 5))
for place, (name, package) in enumerate({"scikit-image": skimage.measure, "trommel": trommel.measure}.items(), 1):
    vertices, faces, *_ = package.marching_cubes(volume, 0.0)
    edges, count = np.unique(np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)), axis=0, return_counts=True)
    is_open = edges[count == 1]
    axes = figure.add_subplot(1, 2, place, projection="3d")
    is_near = (vertices[faces].max((1, 2)) < 16) & (vertices[faces][..., 1].min(1) < 8)  # a corner of it
    trommel.Mesh(vertices, faces[is_near]).plot(axes)
    for edge in is_open[vertices[is_open].max((1, 2)) < 16]:
        axes.plot(*vertices[edge].T, color="red", linewidth=2, zorder=9)
    axes.set_title(f"{name}: {len(is_open):,} open edges of {len(edges):,}")
plt.savefig("leak.png", dpi=80)
