$ printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n' >cube.obj
$ printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n' >torn.obj
$ printf 'v 0 0 0\nv 1 0 0\n' >points.obj
$ trommel subdivide cube.obj -o smooth.ply
cube.obj
  input      8 vertices, 12 triangles, OBJ; 6 faces cut into triangles
  edges      18, 0 on the boundary, 0 sharp; valence to 5
  mesh       98 vertices, 192 triangles
  levels     2: 192
  time       # s: ...
  memory     peak #
  output     smooth.ply, 3.8 KiB
$ trommel subdivide cube.obj --levels 3 --limit --normals limit --creases angle:60 -o smooth.ply --json
{
  "trommel": "0.1.0",
  "command": "subdivide",
  "input": {
    "file": "cube.obj",
    "file_bytes": 124,
    "kind": "mesh",
    "vertices": 8,
    "triangles": 12,
    "format": "OBJ",
    "faces": 6,
    "polygons": 6,
    "welded_vertices": 0
  },
  "edges": 18,
  "boundary_edges": 0,
  "sharp_edges": 12,
  "max_valence": 5,
  "removed_triangles": 0,
  "duplicate_triangles": 0,
  "flipped_triangles": 0,
  "split_vertices": 0,
  "vertices": 386,
  "triangles": 768,
  "level_triangles": [0, 0, 0, 768],
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "topology",
      "seconds": #
    },
    {
      "name": "subdivide",
      "seconds": #
    },
    {
      "name": "save",
      "seconds": #
    }
  ],
  "peak_memory_bytes": #,
  "outputs": [
    {
      "file": "smooth.ply",
      "bytes": 19507
    }
  ]
}
$ trommel subdivide cube.obj --edge 0.3 -o fine.obj
cube.obj
  input      8 vertices, 12 triangles, OBJ; 6 faces cut into triangles
  edges      18, 0 on the boundary, 0 sharp; valence to 5
  mesh       98 vertices, 192 triangles
  levels     2: 192
  error      0.7308 of what was allowed
  time       # s: ...
  memory     peak #
  output     fine.obj, 5.2 KiB
$ trommel subdivide cube.obj --pixels 40 --camera 4,-5,3,0.5,0.5,0.5 --size 1920x1080 --depth 2 -o view.ply
cube.obj
  input      8 vertices, 12 triangles, OBJ; 6 faces cut into triangles
  edges      18, 0 on the boundary, 0 sharp; valence to 5
  mesh       98 vertices, 192 triangles
  levels     1: 4, 2: 188
  error      1.008 of what was allowed; --depth 2 allows no finer triangles
  time       # s: ...
  memory     peak #
  output     view.ply, 3.8 KiB
$ trommel subdivide cube.obj --distance 0.001 --budget 500 -o fine.ply --json
{
  "trommel": "0.1.0",
  "command": "subdivide",
  "input": {
    "file": "cube.obj",
    "file_bytes": 124,
    "kind": "mesh",
    "vertices": 8,
    "triangles": 12,
    "format": "OBJ",
    "faces": 6,
    "polygons": 6,
    "welded_vertices": 0
  },
  "edges": 18,
  "boundary_edges": 0,
  "sharp_edges": 0,
  "max_valence": 5,
  "removed_triangles": 0,
  "duplicate_triangles": 0,
  "flipped_triangles": 0,
  "split_vertices": 0,
  "vertices": 250,
  "triangles": 496,
  "level_triangles": [0, 0, 208, 288],
  "error": 11.831077185100934,
  "is_within_budget": false,
  "is_within_depth": true,
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "topology",
      "seconds": #
    },
    {
      "name": "subdivide",
      "seconds": #
    },
    {
      "name": "save",
      "seconds": #
    }
  ],
  "peak_memory_bytes": #,
  "outputs": [
    {
      "file": "fine.ply",
      "bytes": 9653
    }
  ]
}
$ trommel subdivide torn.obj --fix -o mended.ply
torn.obj
  input      5 vertices, 3 triangles, OBJ
  edges      9, 9 on the boundary, 0 sharp; valence to 2
  mended     0 triangles removed, 0 reversed, 4 vertices split
  mesh       45 vertices, 48 triangles
  levels     2: 48
  time       # s: ...
  memory     peak #
  output     mended.ply, 1.3 KiB
$ trommel subdivide torn.obj -o x.ply
trommel: subdivide: edge 0-1 is used by 3 triangles (0, 1, 2), needs one or two; take the others away, or set --fix
[1]
$ trommel subdivide points.obj -o x.ply
trommel: subdivide: points.obj: has 2 vertices and no faces, needs a face
[1]
$ trommel subdivide cube.obj -o cube.obj
trommel: subdivide: --output: cube.obj is an input, which would be lost; name another one
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide missing.obj -o x.ply --json
trommel: subdivide: missing.obj: cannot be opened: No such file or directory
{
  "trommel": "0.1.0",
  "command": "subdivide",
  "error": {
    "code": 1,
    "message": "missing.obj: cannot be opened: No such file or directory"
  }
}
[1]
$ ls x*
ls: cannot access 'x*': No such file or directory
[2]
## A budget alone is for the deepest level: 4, 16, 64 triangles.
$ printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >tetra.obj
$ trommel subdivide tetra.obj --budget 255 -o b.ply -q && trommel info b.ply | grep faces
  faces      64
$ trommel subdivide tetra.obj --budget 256 -o b.ply -q && trommel info b.ply | grep faces
  faces      256
$ trommel subdivide tetra.obj --budget 4 -o b.ply -q && trommel info b.ply | grep faces
  faces      4
$ trommel subdivide tetra.obj --budget 255 --levels 1 -o b.ply -q && trommel info b.ply | grep faces
  faces      16
$ trommel subdivide tetra.obj --budget 3 -o none.ply
trommel: subdivide: --budget is 3, needs 4 at least, the triangles of the mesh
[1]
## Pixels are the picture's own where no camera is given.
$ trommel subdivide tetra.obj --pixels 60 --view 0,0 --size 640x480 -q -o view.ply && trommel info view.ply | grep faces
  faces      36
$ trommel subdivide tetra.obj --pixels 60 --view 0,0 --size 1280x960 -q -o view.ply && trommel info view.ply | grep faces
  faces      216
## A camera from a file sees what one of numbers does.
$ printf '1 0 0 0.5\n0 1 0 0.5\n0 0 1 4\n0 0 0 1\n' >pose.txt
$ trommel subdivide tetra.obj --pixels 60 --camera 0.5,0.5,4,0.5,0.5,0.5,30 -q -o numbers.ply
$ trommel subdivide tetra.obj --pixels 60 --fov 30 --camera pose.txt -q -o file.ply
$ cmp numbers.ply file.ply
$ trommel subdivide tetra.obj --pixels 60 --camera gone.txt -o none.ply
trommel: subdivide: gone.txt: cannot be read; --camera needs a text of 16 numbers
[1]
