$ printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n' >quad.obj
$ trommel convert data/volumes/fuel_crop.nii.gz -o fuel.nrrd
fuel_crop.nii.gz
  input      64 x 33 x 32 of u8, NIfTI-1
  time       # s: ...
  memory     peak #
  output     fuel.nrrd, 66 KiB
$ trommel convert data/volumes/fuel_crop.nii.gz -o fuel.nrrd --json
{
  "trommel": "0.1.0",
  "command": "convert",
  "input": {
    "file": "data/volumes/fuel_crop.nii.gz",
    "file_bytes": 4121,
    "kind": "volume",
    "format": "NIfTI"
  },
  "stages": [
    {
      "name": "load",
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
      "file": "fuel.nrrd",
      "bytes": 67851
    }
  ]
}
$ trommel convert data/points/points_cloudcompare.xyz -o points.ply
points_cloudcompare.xyz
  input      101 points, XYZ
  time       # s: ...
  memory     peak #
  output     points.ply, 4.2 KiB
$ trommel convert quad.obj -o quad.glb --up y
quad.obj
  input      4 vertices, 2 triangles, OBJ
  time       # s: ...
  memory     peak #
  output     quad.glb, 1008 bytes
$ trommel convert quad.obj -o quad.glb --json
{
  "trommel": "0.1.0",
  "command": "convert",
  "input": {
    "file": "quad.obj",
    "file_bytes": 42,
    "kind": "mesh",
    "format": "OBJ"
  },
  "stages": [
    {
      "name": "load",
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
      "file": "quad.glb",
      "bytes": 1008
    }
  ]
}
$ trommel convert data/pictures/old-rle_551x276.hdr -o old.pfm
old-rle_551x276.hdr
  input      551 x 276, 3 x f32, Radiance
  time       # s: ...
  memory     peak #
  output     old.pfm, 1.7 MiB
$ trommel convert data/volumes/fuel_crop.nii.gz -o x.ply
trommel: convert: --output: x.ply is not a format for a volume, which data/volumes/fuel_crop.nii.gz is; a volume is written as .nrrd .mha .npy .raw; 'trommel surface' makes a mesh of it
Try 'trommel convert --help'.
[2]
$ trommel convert data/pictures/old-rle_551x276.hdr -o x.png
trommel: convert: data/pictures/old-rle_551x276.hdr: has pixels of floats, which a .png cuts off at 1; expose and tone-map it: trommel exposure data/pictures/old-rle_551x276.hdr -o x.png
[1]
$ trommel convert quad.obj -o x.png
trommel: convert: --output: x.png is not a format for a mesh, which quad.obj is; a mesh is written as .ply .stl .obj .glb .vtp
Try 'trommel convert --help'.
[2]
$ trommel convert quad.obj -o x.ply --frame 2
trommel: convert: --frame is for volumes; quad.obj holds a mesh
Try 'trommel convert --help'.
[2]
$ trommel convert quad.obj -o quad.obj
trommel: convert: --output: quad.obj is an input, which would be lost; name another one
Try 'trommel convert --help'.
[2]
$ trommel convert missing.obj -o x.ply --json
trommel: convert: missing.obj: cannot be opened: No such file or directory
{
  "trommel": "0.1.0",
  "command": "convert",
  "error": {
    "code": 1,
    "message": "missing.obj: cannot be opened: No such file or directory"
  }
}
[1]
$ ls x*
ls: cannot access 'x*': No such file or directory
[2]
## A DICOM series, by its folder or one of its files.
$ trommel info data/volumes/dicom/oblique
oblique: volume, DICOM
  samples    64 x 64 x 4 = 16,384 of i16, 32 KiB
  spacing    2.34375 x 2.34375 x 4 mm
  origin     -136.268, -50.1227, 36.6436 mm
  axes       x (0.60883, 0.790737, 0.063724)  y (-0.142762, 0.188227, -0.971694)  z (-0.78035, 0.582499, 0.227485)
  space      left-posterior-superior
  values     0 to 1537, mean 369.976
  histogram  |#@@#*****####@@@@#######*######****++++++++==-:::...:          .|
  isovalue   440 (suggested by Otsu's method)
$ trommel convert data/volumes/dicom/oblique/003.dcm -o mr.mha -q; trommel info mr.mha
mr.mha: volume, MetaImage
  samples    64 x 64 x 4 = 16,384 of i16, 32 KiB
  spacing    2.34375 x 2.34375 x 4 mm
  origin     -136.268, -50.1227, 36.6436 mm
  axes       x (0.60883, 0.790737, 0.063724)  y (-0.142762, 0.188227, -0.971694)  z (-0.78035, 0.582499, 0.227485)
  space      left-posterior-superior
  values     0 to 1537, mean 369.976
  histogram  |#@@#*****####@@@@#######*######****++++++++==-:::...:          .|
  isovalue   440 (suggested by Otsu's method)
$ trommel convert data/volumes/dicom/oblique -o mr.ply
trommel: convert: --output: mr.ply is not a format for a volume, which data/volumes/dicom/oblique is; a volume is written as .nrrd .mha .npy .raw; 'trommel surface' makes a mesh of it
Try 'trommel convert --help'.
[2]
## Colours and what else vertices carry.
$ printf 'v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\n' >red.obj; trommel convert red.obj -o red.glb -q; trommel convert red.glb -o red.ply -q; trommel info red.ply | tail -1
  attributes color (3)
$ trommel convert red.ply -o red.stl 2>&1 >/dev/null
trommel: convert: warning: red.stl holds no color of vertices; use .ply, .glb or .vtp to keep it
$ printf 'v 4000000 0 0\nv 4000000.1 0 0\nv 4000000 0.1 0\nf 1 2 3\n' >far.obj; trommel convert far.obj -o far.stl 2>&1 >/dev/null
trommel: convert: warning: far.stl: STL holds floats, which are 0.25 apart at coordinates of 4000000, and the mesh's edges are about 0.1 long: its shape and closedness suffer; use .ply, .obj or .glb
$ printf 'NRRD0004\ntype: uint8\ndimension: 3\nsizes: 3 3 3\nspace dimension: 3\nspace directions: (0.1,0,0) (0,0.1,0) (0,0,0.1)\nspace origin: (4000000,5000000,100)\nencoding: ascii\n\n0 0 0 0 0 0 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0\n' >far.nrrd; trommel surface far.nrrd --iso 4 -o far.stl 2>&1 >/dev/null
trommel: surface: warning: far.stl: STL holds floats, which are 0.5 apart at coordinates of 5000000, and the mesh's edges are about 0.079 long: its shape and closedness suffer; use .ply, .obj or .glb
$ trommel surface far.nrrd --iso 4 -o far.ply 2>&1 >/dev/null; trommel info far.ply | grep Euler
  Euler      characteristic 2: closed, 0 handles
## Pipes.
$ cat quad.obj | trommel convert - -o -.stl -q | trommel info -
standard input: mesh, STL
  vertices   4 (2 more lay at the same places)
  faces      2
  bounds     x 0 to 1, y 0 to 1, z 0 to 0
  components 1
  boundary   4 edges with one triangle
  closed     no: it has a boundary
  Euler      characteristic 1
  area       1
  has        normals: no, texture coordinates: 0
$ trommel convert quad.obj -o -.ply >quad.ply
quad.obj
  input      4 vertices, 2 triangles, OBJ
  time       # s: ...
  memory     peak #
  output     standard output, 275 bytes
$ trommel collide - - <quad.obj
trommel: collide: "-" is named twice; standard input can be read once
Try 'trommel collide --help'.
[2]
## Scaled, rotated, moved; what is mirrored keeps its outside; far from 0 nothing is lost.
$ printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn -1 -1 -1\nvn 1 0 0\nvn 0 1 0\nvn 0 0 1\nf 1//1 3//3 2//2\nf 1//1 2//2 4//4\nf 1//1 4//4 3//3\nf 2//2 3//3 4//4\n' >tet.obj
$ trommel convert tet.obj --scale 25.4 -o x.obj -q && grep '^v ' x.obj
v 0 0 0
v 25.4 0 0
v 0 25.4 0
v 0 0 25.4
$ trommel convert tet.obj --scale 2,1,1 --rotate 0,0,90 --translate 10,0,0 -o x.obj -q && grep '^v' x.obj
v 10 0 0
v 10 2 0
v 9 0 0
v 10 0 1
vn 0.6666667 -0.33333334 -0.6666667
vn 0 1 0
vn -1 0 0
vn 0 0 1
$ trommel convert tet.obj --scale=-1,1,1 -o x.obj -q && cat x.obj && trommel info x.obj | grep enclosing
# Trommel made by trommel
v 0 0 0
v -1 0 0
v 0 1 0
v 0 0 1
vn 0.57735026 -0.57735026 -0.57735026
vn -1 0 0
vn 0 1 0
vn 0 0 1
f 1//1 2//2 3//3
f 1//1 4//4 2//2
f 1//1 3//3 4//4
f 2//2 4//4 3//3
  area       2.3660254, enclosing 0.166666667
$ trommel convert tet.obj --translate 4000000,5000000,100 -o x.ply -q && trommel info x.ply | grep -E 'bounds|enclosing'; trommel convert x.ply --translate=-4000000,-5000000,-100 -o y.obj -q && grep '^v ' y.obj
  bounds     x 4000000 to 4000001, y 5000000 to 5000001, z 100 to 101
  area       2.3660254, enclosing 0.166666667
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
$ printf 'x,y,z,radius\n1,2,3,0.5\n4,5,6,1\n' >balls.csv; trommel convert balls.csv --scale 2 --rotate 90,0,0 -o x.ply -q && trommel info x.ply | grep -E 'bounds|radi'
  bounds     x 2 to 8, y -12 to -6, z 4 to 10
  radius     one a point; 20.7846 suggested
$ trommel convert tet.obj --scale 1,2 -o x.obj; trommel convert tet.obj --scale 0 -o x.obj; trommel convert data/volumes/ball30_gz.nrrd --scale 2 -o x.nrrd
trommel: convert: --scale: give one factor, or three for x, y and z, such as 25.4
Try 'trommel convert --help'.
trommel: convert: --scale: a factor of 0 leaves nothing; give others, such as 25.4
Try 'trommel convert --help'.
trommel: convert: --scale is for points or meshes; data/volumes/ball30_gz.nrrd holds a volume
Try 'trommel convert --help'.
[2]
