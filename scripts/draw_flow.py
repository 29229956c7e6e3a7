#!/usr/bin/env python3
"""Draws docs/images/flow.svg: how data goes through the library. draw_flow.py >docs/images/flow.svg

Boxes stand in three columns and four rows. The colours follow the reader's scheme, light or dark."""

WIDTH, HEIGHT = 960, 490
LEFT, MIDDLE, RIGHT = (20, 210), (290, 380), (730, 210)  # x and width of a column
TOP, BOX, STEP = 66, 70, 100  # y of the first row, a box's height, from row to row

STYLE = """
    .page { fill: #ffffff; } .context { fill: #eef3f8; stroke: #8aa0b5; }
    .yours { fill: #ffffff; stroke: #8a8f98; } .ours { fill: #d9e8f7; stroke: #3a78b5; }
    .title { fill: #14181d; font-weight: 600; } .text { fill: #3c4650; } .note { fill: #55616d; }
    .arrow { stroke: #55616d; fill: none; } .head { fill: #55616d; }
    @media (prefers-color-scheme: dark) {
        .page { fill: #0f141a; } .context { fill: #18212b; stroke: #5c7288; }
        .yours { fill: #0f141a; stroke: #7d8794; } .ours { fill: #1d3a57; stroke: #6ba6de; }
        .title { fill: #f0f4f8; } .text { fill: #c3ccd6; } .note { fill: #a3aeba; }
        .arrow { stroke: #a3aeba; } .head { fill: #a3aeba; }
    }"""


def row(number):
    return TOP + number * STEP


def box(kind, x, y, width, title, *lines):
    """A box with a title and at most two lines, centred."""
    middle, first = x + width / 2, y + BOX / 2 + 5 - 9 * len(lines)
    out = [f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{BOX}" rx="6"/>',
           f'<text class="title" x="{middle:g}" y="{first:g}">{title}</text>']
    out += [f'<text class="text" x="{middle:g}" y="{first + 18 * (i + 1):g}">{line}</text>'
            for i, line in enumerate(lines)]
    return out


def arrow(x0, y0, x1, y1, label="", both=False, beside=(0, 0)):
    start = ' marker-start="url(#head)"' if both else ""
    out = [f'<path class="arrow" d="M {x0} {y0} L {x1} {y1}" marker-end="url(#head)"{start}/>']
    if label:
        out.append(f'<text class="note" x="{(x0 + x1) / 2 + beside[0]:g}" '
                   f'y="{(y0 + y1) / 2 + beside[1]:g}">{label}</text>')
    return out


def across(number, to_right, label="", left=True, both=False):
    """An arrow between the middle column and one beside it."""
    y = row(number) + BOX // 2
    ends = (LEFT[0] + LEFT[1] + 4, MIDDLE[0] - 5) if left else (MIDDLE[0] + MIDDLE[1] + 4, RIGHT[0] - 5)
    x0, x1 = ends if to_right else ends[::-1]
    return arrow(x0, y, x1, y, label, both, (0, -8))


def down(number, label, both=False):
    """An arrow from a row of the middle column to the next one."""
    x = MIDDLE[0] + MIDDLE[1] // 2
    return arrow(x, row(number) + BOX + 4, x, row(number + 1) - 5, "", both) + [
        f'<text class="note" x="{x + 12}" y="{row(number) + BOX + 20}" '
        f'style="text-anchor:start">{label}</text>']


def engines():
    names, gap = ("CPU", "Vulkan", "OpenGL", "float tier"), 8
    width = (MIDDLE[1] - gap * (len(names) - 1)) / len(names)
    lines = (("SIMD,", "threads"), ("compute", "shaders"), ("ES 3,", "WebGL 2"), ("ES 2,", "WebGL 1"))
    out = []
    for i, name in enumerate(names):
        out += box("ours", MIDDLE[0] + i * (width + gap), row(3), width, name, *lines[i])
    return out


parts = [
    f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
    f'<rect class="context" x="{MIDDLE[0] - 18}" y="20" width="{MIDDLE[1] + 36}" height="440" rx="10" '
    'stroke-dasharray="5 4"/>',
    f'<text class="title" x="{MIDDLE[0] + MIDDLE[1] / 2:g}" y="46">a context: one device, its buffers, its scratch</text>',
    *box("ours", *MIDDLE[:1], row(0), MIDDLE[1], "buffers", "volumes, points, meshes, pictures, counts:",
         "arrays on the device, with lengths there"),
    *box("ours", *MIDDLE[:1], row(1), MIDDLE[1], "programs", "surface, labels, field, mesh,",
         "tree, collide, subdivide, image"),
    *box("ours", *MIDDLE[:1], row(2), MIDDLE[1], "streams", "map, reduce, histogram, scan, compact, sort,",
         "expand, search ... one by one, or recorded"),
    *engines(),
    *down(0, "read and written by", both=True),
    *down(1, "are made of"),
    *down(2, "run on"),
    *box("yours", *LEFT[:1], row(0), LEFT[1], "files", "NRRD, DICOM, TIFF, LAS,", "OBJ ... by trommel-io"),
    *box("yours", *LEFT[:1], row(1), LEFT[1], "your memory", "arrays, VkBuffers,", "textures: used in place"),
    *box("yours", *LEFT[:1], row(2), LEFT[1], "your kernels", "functions in the common", "subset of C and GLSL"),
    *box("yours", *LEFT[:1], row(3), LEFT[1], "your device", "threads, allocator,", "hooks: if you like"),
    *across(0, True),
    f'<path class="arrow" d="M {LEFT[0] + LEFT[1] + 4} {row(1) + 35} L 252 {row(1) + 35} L 252 {row(0) + 52} '
    f'L {MIDDLE[0] - 5} {row(0) + 52}" marker-end="url(#head)"/>',
    *across(2, True),
    *across(3, True),
    *box("yours", *RIGHT[:1], row(0), RIGHT[1], "files", "PLY, STL, OBJ, GLB, NPY,", "PNG ... by trommel-io"),
    *box("yours", *RIGHT[:1], row(1), RIGHT[1], "your renderer", "vertices, indices, draw", "commands: no readback"),
    *box("yours", *RIGHT[:1], row(2), RIGHT[1], "your program", "numbers on the host:", "a read, which may wait"),
    *across(0, True, left=False),
    f'<path class="arrow" d="M {MIDDLE[0] + MIDDLE[1] + 4} {row(0) + 52} L 708 {row(0) + 52} L 708 {row(1) + 35} '
    f'L {RIGHT[0] - 5} {row(1) + 35}" marker-end="url(#head)"/>',
    f'<path class="arrow" d="M 708 {row(1) + 35} L 708 {row(2) + 35} L {RIGHT[0] - 5} {row(2) + 35}" '
    'marker-end="url(#head)"/>',
    f'<text class="note" x="{RIGHT[0] + RIGHT[1] / 2:g}" y="{row(3) + 22}">The command, Python and</text>',
    f'<text class="note" x="{RIGHT[0] + RIGHT[1] / 2:g}" y="{row(3) + 40}">the npm package stand on</text>',
    f'<text class="note" x="{RIGHT[0] + RIGHT[1] / 2:g}" y="{row(3) + 58}">the same calls.</text>',
]

print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
      'font-family="system-ui, sans-serif" font-size="14" text-anchor="middle">')
print("<title>How data goes through Trommel: from files and memory into buffers of a context, through programs, "
      "streams and engines, to files, a renderer or the host</title>")
print(f"<style>{STYLE}\n</style>")
print('<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
      'orient="auto-start-reverse"><path class="head" d="M 0 0 L 8 4 L 0 8 z"/></marker></defs>')
print("\n".join(parts))
print("</svg>")
