"""Labels of an atlas: each region a mesh of its own, of one call; drawn apart."""
import matplotlib.pyplot as plt
import numpy as np
import trommel

grid = np.stack(np.meshgrid(*3 * [np.linspace(-1, 1, 64)], indexing="ij"), -1)  # an atlas of 12 regions, made up
seeds = np.random.default_rng(8).uniform(-0.7, 0.7, (12, 3))
atlas = np.linalg.norm(grid[..., None, :] - seeds, axis=-1).argmin(-1).astype(np.uint8) + 1
atlas[np.linalg.norm(grid, axis=-1) > 0.95] = 0  # 0 is outside
regions = trommel.surface(atlas, labels="all", spacing=2 / 63, origin=(-1, -1, -1))
color = np.empty((regions.face_count, 4))
for part in regions.parts:
    regions.vertices[part["vertices"]] += 0.35 * regions.vertices[part["vertices"]].mean(0)
    color[part["faces"]] = plt.cm.Set3(int(part["value"]) - 1)
regions.plot(plt.figure(figsize=(5, 5)).add_subplot(projection="3d"), color)
plt.savefig("atlas.png", dpi=80)
