"""Where a scan's wall, moved inwards to make it hollow, meets itself: exactly, by pairs of triangles."""
import matplotlib.pyplot as plt
import numpy as np
import trommel

scan = trommel.load_volume("tests/data/volumes/ct_lung_small.mha")
skin = trommel.surface(scan, 150, caps=True, largest=True)
wall = trommel.Mesh(skin.vertices - 1.5 * skin.normals, skin.faces, origin=skin.origin)  # 1.5 mm inwards
meeting = trommel.collide(wall)
color = np.tile([0.85, 0.85, 0.85], (wall.face_count, 1))
color[meeting.pairs["a"]] = color[meeting.pairs["b"]] = 0.9, 0.1, 0.1
axes = wall.plot(plt.figure(figsize=(5, 5)).add_subplot(projection="3d"), color, elevation=15)
axes.set_title(f"{len(meeting):,} pairs of {wall.face_count:,} triangles meet")
plt.savefig("self_intersections.png", dpi=80)
