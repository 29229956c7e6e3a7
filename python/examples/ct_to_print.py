"""The ribs of a CT as one closed body, for a 3-D printer."""
import matplotlib.pyplot as plt
import trommel

ct = trommel.load_volume("tests/data/volumes/ct_lung_small.mha")
ribs = trommel.surface(ct, 150, caps=True, largest=True)  # from 150 HU on; in mm
facts = ribs.examine()
assert facts["components"] == 1 and facts["boundary_edges"] == 0  # it holds water
ribs.save("ct_to_print.stl")
axes = ribs.plot(plt.figure(figsize=(5, 5)).add_subplot(projection="3d"), "wheat", elevation=15)
axes.set_title(f"{ribs.face_count:,} triangles, {facts['volume'] / 1000:.0f} cm$^3$")
plt.savefig("ct_to_print.png", dpi=80)
