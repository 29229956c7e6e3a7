$ printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n' >quad.obj
$ printf '1 0 0 0.5 0 1 0 0.5 0 0 1 3 0 0 0 1\n' >camera.txt
$ trommel draw quad.obj -o quad.png --size 64x48
quad.obj
  input      4 vertices, 2 triangles, OBJ; 1 face cut into triangles
  time       # s: ...
  memory     peak #
  output     quad.png, 2.2 KiB
$ trommel draw quad.obj -o quad.png --size 64x48 --camera camera.txt --background none --json
{
  "trommel": "0.1.0",
  "command": "draw",
  "input": {
    "file": "quad.obj",
    "file_bytes": 42,
    "kind": "mesh",
    "vertices": 4,
    "triangles": 2,
    "format": "OBJ",
    "faces": 1,
    "polygons": 1,
    "welded_vertices": 0
  },
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "picture",
      "seconds": #
    }
  ],
  "peak_memory_bytes": #,
  "outputs": [
    {
      "file": "quad.png",
      "bytes": 281
    }
  ]
}
$ trommel draw quad.obj -o x.png --fov 30
trommel: draw: --fov needs --camera
Try 'trommel draw --help'.
[2]
$ trommel draw quad.obj -o x.png --camera camera.txt --view 3,4
trommel: draw: --camera and --view exclude each other; leave one of them out
Try 'trommel draw --help'.
[2]
$ trommel draw quad.obj -o x.png --camera quad.obj
trommel: draw: quad.obj: 'v 0 0 0
v 1 0 0
' is not a number; needs 16 numbers
[1]
$ trommel draw data/volumes/fuel_crop.nii.gz -o x.png
trommel: draw: data/volumes/fuel_crop.nii.gz is a volume, and not a mesh; 'trommel surface data/volumes/fuel_crop.nii.gz -o fuel_crop.nii.ply' makes a mesh of it
[1]
$ trommel draw missing.obj -o x.png --json
trommel: draw: missing.obj: cannot be opened: No such file or directory
{
  "trommel": "0.1.0",
  "command": "draw",
  "error": {
    "code": 1,
    "message": "missing.obj: cannot be opened: No such file or directory"
  }
}
[1]
$ ls x*
ls: cannot access 'x*': No such file or directory
[2]
