"""A million points sorted by Morton code, so that neighbours in space are neighbours in memory."""
import matplotlib.pyplot as plt
import numpy as np
import trommel

points = np.random.default_rng(1).normal(0.5, 0.15, (1_000_000, 2)).clip(0, 1).astype(np.float32)
code = np.zeros(len(points), np.uint32)
for bit in range(16):  # the bits of x and y by turns
    for axis in (0, 1):
        code |= ((points[:, axis] * 65535).astype(np.uint32) >> bit & 1) << 2 * bit + axis
code, ordered = trommel.sort(code, [points])
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5))
for axis, rows, title in zip(axes, (points, ordered), ("as they come", "by Morton code")):
    axis.scatter(*rows[::10].T, c=np.arange(100_000) // 2500, s=0.3, cmap="prism")  # a colour for every 25,000 rows
    axis.set(title=title, aspect="equal", xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
plt.savefig("morton.png", dpi=80)
