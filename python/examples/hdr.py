"""HDR to sRGB: exposed by its average and tone-mapped, beside what clipping makes of it."""
import matplotlib.pyplot as plt
import numpy as np
import trommel

hdr = 8 * trommel.load_picture("tests/data/pictures/image1_128x85.hdr")  # linear floats; three stops too bright
average = trommel.measure_picture(hdr).geometric_mean
pictures = {"clipped": np.clip(hdr, 0, 1)**(1 / 2.2), "exposed, AgX": trommel.expose(hdr, "agx"),
            "exposed, Reinhard": trommel.tonemap(hdr, "reinhard", scale=0.18 / average)}
figure, axes = plt.subplots(1, 3, figsize=(9, 2.4))
for axis, (title, picture) in zip(axes, pictures.items()):
    axis.imshow(picture)
    axis.set(title=title, xticks=[], yticks=[])
trommel.save_picture("hdr_srgb.png", pictures["exposed, AgX"])
plt.savefig("hdr.png", dpi=80)
