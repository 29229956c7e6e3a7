"""An animated splash as a sequence of meshes. All frames' samples lie at multiples of cell, so nothing flickers."""
import matplotlib.pyplot as plt
import numpy as np
import trommel

start = trommel.load_points("tests/data/dam_break_4732.vtk").positions  # y is up
velocity = start * [0.5, 4.5, 0.5]
figure = plt.figure(figsize=(9, 3))
for frame, t in enumerate((0, 0.15, 0.3)):
    moved = np.maximum(start + velocity * t - [0, 4.9 * t**2, 0], [-9, 0, -9])
    water = trommel.field(moved, cell=0.04, radius=0.12).surface()
    water.save(f"splash_{frame:04}.ply")
    water.vertices = water.vertices[:, [2, 0, 1]]  # matplotlib has z up
    water.plot(figure.add_subplot(1, 3, frame + 1, projection="3d"), "skyblue").set_title(f"{t} s")
plt.savefig("splash.png", dpi=80)
