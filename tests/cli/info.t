## Volumes, points, meshes, pictures, arrays: indices are in index.t.
$ trommel info data/volumes/fuel_crop.nii.gz
fuel_crop.nii.gz: volume, NIfTI-1
  samples    64 x 33 x 32 = 67,584 of u8, 66 KiB
  spacing    1 x 1 x 1 mm
  origin     -31, -16, -16 mm
  space      right-anterior-superior
  comment    NRRD i2nii v1.0.0707
  values     0 to 255, mean 7.54343
  histogram  |@***++++++================-=--==-=---=--=------------::-=-:: ::-|
  isovalue   63.5 (suggested by Otsu's method)
$ trommel info data/volumes/fuel_crop.nii.gz --json | sed 's/"bins": .*/"bins": .../'
{
  "trommel": "0.1.0",
  "command": "info",
  "file": "data/volumes/fuel_crop.nii.gz",
  "file_bytes": 4121,
  "kind": "volume",
  "format": "NIfTI-1",
  "dims": [64, 33, 32],
  "type": "u8",
  "volumes": 1,
  "frame": 0,
  "spacing": [1, 1, 1],
  "unit": "mm",
  "origin": [-31, -16, -16],
  "direction": [1, 0, 0, 0, 1, 0, 0, 0, 1],
  "space": "right-anterior-superior",
  "comment": "NRRD i2nii v1.0.0707",
  "min": 0,
  "max": 255,
  "mean": 7.54342743844697,
  "slope": 1,
  "intercept": 0,
  "nans": 0,
  "infinities": 0,
  "suggested_iso": 63.5,
  "histogram": {
    "first": 0,
    "step": 1,
    "bins": ...
  }
}
$ trommel info data/volumes/anatomical_be_int16.nii
anatomical_be_int16.nii: volume, NIfTI-1
  samples    33 x 41 x 25 = 33,825 of i16, 66 KiB
  spacing    2 x 2 x 2 mm
  origin     32, -40, -16 mm
  axes       x (-1, 0, 0)  y (0, 1, 0)  z (0, 0, 1)
  space      right-anterior-superior
  comment    spm - 3D normalized
  values     -610 to 30393, mean 8401.07
  histogram  |-=+******####@@@@@@@@@@@@##*+=-:::.:.: :.. ... .  :..... . ... :|
  isovalue   7625.5 (suggested by Otsu's method)
$ trommel info data/dam_break_4732.vtk
dam_break_4732.vtk: points, VTK
  points     4,732
  bounds     x -1.51526892 to 1.51521325, y -0.015251494 to 1.01684713, z -1.51508963 to 1.51522827
  spacing    0.0645138, the median distance to the sixth-nearest neighbour
  radius     none in the file; 0.129028 suggested
  attributes id, velocity (3)
$ trommel info data/dam_break_4732.vtk --json
{
  "trommel": "0.1.0",
  "command": "info",
  "file": "data/dam_break_4732.vtk",
  "file_bytes": 189526,
  "kind": "points",
  "format": "VTK",
  "points": 4732,
  "dropped": 0,
  "lower": [-1.5152689218521118, -0.015251494012773037, -1.5150896310806274],
  "upper": [1.5152132511138916, 1.0168471336364746, 1.515228271484375],
  "sixth_neighbour_distance": 0.06451380368385397,
  "suggested_radius": 0.12902760736770794,
  "has_radii": false,
  "value_name": null,
  "value_min": null,
  "value_max": null,
  "attributes": [
    {
      "name": "id",
      "components": 1
    },
    {
      "name": "velocity",
      "components": 3
    }
  ]
}
$ trommel info data/points/bunny397.pcd
bunny397.pcd: points, PCD
  points     397
  bounds     x -0.0939380005 to 0.0595620014, y 0.0374200009 to 0.184499994, z -0.0550259985 to 0.0578030013
  spacing    0.011354, the median distance to the sixth-nearest neighbour
  radius     none in the file; 0.0227079 suggested
$ printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nt crease 2/1/0 0 1 3\n' >cube.obj
$ trommel info cube.obj
cube.obj: mesh, OBJ
  vertices   8
  faces      6, 6 of them with more than three corners; as triangles 12
  bounds     x 0 to 1, y 0 to 1, z 0 to 1
  components 1
  boundary   none
  closed     yes
  Euler      characteristic 2: closed, 0 handles
  area       6, enclosing 1
  has        normals: no, texture coordinates: 0, sharp edges: 1
$ trommel info cube.obj --json
{
  "trommel": "0.1.0",
  "command": "info",
  "file": "cube.obj",
  "file_bytes": 145,
  "kind": "mesh",
  "format": "OBJ",
  "vertices": 8,
  "welded_vertices": 0,
  "faces": 6,
  "polygons": 6,
  "concave_polygons": 0,
  "crossed_polygons": 0,
  "skipped": 0,
  "triangles": 12,
  "degenerate_triangles": 0,
  "origin": [0, 0, 0],
  "lower": [0, 0, 0],
  "upper": [1, 1, 1],
  "components": 1,
  "boundary_edges": 0,
  "nonmanifold_edges": 0,
  "misoriented_edges": 0,
  "closed": true,
  "euler": 2,
  "area": 6,
  "volume": 0.9999999999999999,
  "has_normals": false,
  "texture_coordinates": 0,
  "value_name": null,
  "creases": 1,
  "corners": 0,
  "comment": ""
}
## Why a mesh is not closed: open, wound unlike, walls that several share; and two bodies that touch along an edge.
$ printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n' >open.obj; trommel info open.obj | tail -n +6
  boundary   3 edges with one triangle
  closed     no: it has a boundary
  Euler      characteristic 1
  area       1.5
  has        normals: no, texture coordinates: 0
$ (cat open.obj; echo f 2 4 3) >twisted.obj; trommel info twisted.obj | tail -n +6
  boundary   none; 3 edges with two wound against each other
  closed     no: its triangles are not wound alike
  Euler      characteristic 2
  area       2.3660254
  has        normals: no, texture coordinates: 0
$ (cat open.obj; echo v 1 1 1; echo f 2 3 4; echo f 2 3 5; echo f 3 4 5; echo f 4 2 5) >wall.obj; trommel info wall.obj | tail -n +6
  boundary   none; 3 edges with more than two
  closed     no: more than two triangles meet at edges
  Euler      characteristic 3
  area       4.96410162
  has        normals: no, texture coordinates: 0
$ (cat open.obj; echo v -1 0 0; echo v 0 -1 0; echo f 2 3 4; echo f 1 6 5; echo f 1 5 4; echo f 1 4 6; echo f 5 6 4) >touch.obj; trommel info touch.obj | tail -n +6
  boundary   none; 1 edge with more than two
  closed     yes, but no manifold: it touches itself along edges
  Euler      characteristic 3
  area       4.73205081, enclosing 0.333333333
  has        normals: no, texture coordinates: 0
## Welding an STL by place flattens a triangle, of which nothing is left: the mesh is closed all the same.
$ (cat open.obj; echo v 1 0 0; echo f 5 3 4; echo f 2 5 4; echo f 2 3 5) >flat.obj; trommel convert flat.obj -o flat.stl -q; trommel info flat.stl
flat.stl: mesh, STL
  vertices   4 (14 more lay at the same places)
  faces      6; 2 triangles without area
  bounds     x 0 to 1, y 0 to 1, z 0 to 1
  components 1
  boundary   none
  closed     yes
  Euler      characteristic 2: closed, 0 handles
  area       2.3660254, enclosing 0.166666667
  has        normals: no, texture coordinates: 0
$ trommel info open.obj --json | grep -E 'edges|closed|area|volume|degenerate'
  "degenerate_triangles": 0,
  "boundary_edges": 3,
  "nonmanifold_edges": 0,
  "misoriented_edges": 0,
  "closed": false,
  "area": 1.5,
  "volume": null,
$ trommel info data/pictures/old-rle_551x276.hdr
old-rle_551x276.hdr: picture, Radiance
  picture    551 x 276, 3 x f32, Radiance
  luminance  0.23245 to 0.26755, mean 0.241209, geometric mean 0.240752
  histogram  |                           @@                                   | -16 to +16 stops
$ trommel info data/pictures/basn2c16.png --json
{
  "trommel": "0.1.0",
  "command": "info",
  "file": "data/pictures/basn2c16.png",
  "file_bytes": 302,
  "kind": "picture",
  "format": "PNG",
  "width": 32,
  "height": 32,
  "channels": 3,
  "type": "u16",
  "srgb": false,
  "x": 0,
  "y": 0,
  "full_width": 32,
  "full_height": 32,
  "comment": "",
  "min": 0.0722000002861023,
  "max": 0.9277999997138977,
  "mean": 0.47630932980246143,
  "geometric_mean": 0.4228940497322393,
  "nans": 0,
  "infinities": 0
}
$ head -c 64 /dev/zero >zero_4x4x4_uint8.raw; trommel info zero_4x4x4_uint8.raw --spacing 1,1,2
zero_4x4x4_uint8.raw: volume, raw
  samples    4 x 4 x 4 = 64 of u8, 64 bytes
  spacing    1 x 1 x 2
  origin     0, 0, 0
  values     0 to 0, mean 0
  histogram  |@                                                               |
  isovalue   0 (suggested by Otsu's method)
$ printf 'NRRD0004\ntype: uchar\ndimension: 4\nsizes: 2 2 2 5\nencoding: raw\n\n' >five.nrrd; head -c 40 /dev/zero >>five.nrrd; trommel info five.nrrd --frame 4
five.nrrd: volume, NRRD
  samples    2 x 2 x 2 = 8 of u8, 8 bytes
  volumes    5, of which this is number 4 (--frame)
  spacing    1 x 1 x 1
  origin     0, 0, 0
  values     0 to 0, mean 0
  histogram  |@                                                               |
  isovalue   0 (suggested by Otsu's method)
$ printf 'ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\nend_header\n' >none.ply; trommel info none.ply
none.ply: points, PLY
  points     0
## What is not for the file.
$ trommel info cube.obj --frame 3
trommel: info: --frame is for volumes; cube.obj holds a mesh
Try 'trommel info --help'.
[2]
$ trommel info data/dam_break_4732.vtk --ascii
trommel: info: --ascii is for volumes or pictures; data/dam_break_4732.vtk holds points
Try 'trommel info --help'.
[2]
$ trommel info data/volumes/fuel_crop.nii.gz --dims 3,3,3
trommel: info: --dims needs --type
Try 'trommel info --help'.
[2]
## What fails, with the reason of the format that the file has.
$ trommel info missing.nrrd
trommel: info: missing.nrrd: cannot be opened: No such file or directory
[1]
$ printf 'no format' >noise.bin; trommel info noise.bin
trommel: info: noise.bin: is of no format known here: volumes are NRRD, NIfTI, MetaImage, MRC, NPY, VTK, TIFF and DICOM (headerless samples need --dims and --type), points PLY, XYZ, PCD, LAS, VTK, VTU and BGEO, meshes OBJ, PLY, STL, OFF, glTF and VTP, pictures Radiance, PFM, PNG, JPEG and OpenEXR
[1]
$ : >empty.off; trommel info empty.off
trommel: info: empty.off: the file is empty
[1]
$ printf 'NRRD0004\ntype: fish\n\n' >bad.nrrd; trommel info bad.nrrd
trommel: info: bad.nrrd: type is "fish", needs a C type's name, such as "unsigned short"
[1]
$ printf 'v 0 0 0\nf 1 1 2\n' >bad.obj; trommel info bad.obj
trommel: info: bad.obj: line 2: names vertex 2, the file has 1
[1]
$ printf 'v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\nf 1 2\n' >two.obj; trommel info two.obj
trommel: info: warning: two.obj: 1 face of fewer than three different corners is left out (line 5: a face has 2 corners, needs at least 3)
two.obj: mesh, OBJ
  vertices   3
  faces      2; as triangles 1
  bounds     x 0 to 1, y 0 to 1, z 0 to 0
  components 1
  boundary   3 edges with one triangle
  closed     no: it has a boundary
  Euler      characteristic 1
  area       0.5
  has        normals: no, texture coordinates: 0
  attributes color (3)
$ trommel info two.obj --strict
trommel: info: two.obj: 1 face of fewer than three different corners is left out (line 5: a face has 2 corners, needs at least 3)
[1]
$ printf '1 2 3\r4 five 6\r7 8 9\r1 1 1\r' >cr.xyz; trommel info cr.xyz | head -2
trommel: info: warning: cr.xyz: 1 row is left out (line 2, column 2 is "five", which is no number)
cr.xyz: points, XYZ
  points     3
$ printf 'Once upon a time\n' >prose.txt; trommel info prose.txt
trommel: info: prose.txt: the points have no "x"; needs x, y and z
[1]
$ printf 'TMLINDX1 and no more' >cut.tmx; trommel info cut.tmx --json
trommel: info: cut.tmx: is no index of bricks; make one with "trommel index"
{
  "trommel": "0.1.0",
  "command": "info",
  "error": {
    "code": 1,
    "message": "cut.tmx: is no index of bricks; make one with \"trommel index\""
  }
}
[1]
$ head -c 300 data/volumes/fuel_crop.nii.gz >cut.nii.gz; trommel info cut.nii.gz
trommel: info: cut.nii.gz: its compressed data are cut short after 5547 bytes
[1]
$ head -c 12 data/volumes/fuel_crop.nii.gz >head.nii.gz; trommel info head.nii.gz
trommel: info: head.nii.gz: its compressed data are cut short after 0 bytes
[1]
$ gzip -c data/volumes/fuel_crop.nii.gz >twice.nii.gz; trommel info twice.nii.gz
trommel: info: twice.nii.gz: is gzip of gzip; gunzip it once
[1]
$ printf '\037\213\010 no gzip either' >noise.ply.gz; trommel info noise.ply.gz
trommel: info: noise.ply.gz: its compressed data are damaged after 0 bytes: unknown header flags set
[1]
$ printf 'ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n' >ply
$ { cat ply; printf 'element face 2\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 0\n1 1\n'; } >faces.ply; trommel info faces.ply
trommel: info: faces.ply: face 0: a face has 1 corners, needs at least 3
[1]
$ { cat ply; printf 'end_header\n0 0 0\n1 0 0\n0 1 x\n'; } >points.ply; trommel info points.ply
trommel: info: points.ply: row 2 of 3 of element vertex is no row of numbers, or the file ends in it
[1]
## A folder of TIFF slices, 9 before 10.
$ mkdir rec; for i in 8 9 10; do cp data/volumes/tiff/seq-1c-8b-tiled-deflate-20f3db0c.tiff rec/s$i.tif; done; echo taken >rec/log.txt; trommel info rec --spacing 1,1,0.5
rec: volume, TIFF
  samples    16 x 16 x 3 = 768 of u8, 768 bytes
  spacing    1 x 1 x 0.5
  origin     0, 0, 0
  comment    files left out, which are not TIFF: 1
  values     0 to 255, mean 127.5
  histogram  |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
  isovalue   127.5 (suggested by Otsu's method)
$ trommel surface rec --iso 100 --slabs 1 -o rec.ply -q; trommel surface rec --iso 100 -o one.ply -q; cmp rec.ply one.ply
$ trommel surface rec/s8.tif --iso 100 -o one.ply
trommel: surface: rec/s8.tif: has 16 x 16 x 1 samples; a surface needs two along each axis, of the region too; where it is a slice of several, name their folder
[1]
$ mv rec/s9.tif rec/s7.tif; trommel info rec | grep comment
  comment    numbers are missing before s10.tif
$ cp data/volumes/tiff/multipage_u8_2.tif rec/s11.tif; trommel info rec
trommel: info: rec/s11.tif: has 10 x 15 samples of u8, needs 16 x 16 of u8 as s7.tif, the first of its folder; put the slices of one stack into a folder of their own
[1]
$ mkdir none; trommel info none
trommel: info: none: is a folder without TIFF or DICOM pictures; pass a regular file, or a folder with TIFF slices or a DICOM series
[1]
## A length has the unit of its file; what the file does not say is told.
$ trommel info data/volumes/tiff/dots_f32_lzw_3.tif
trommel: info: warning: data/volumes/tiff/dots_f32_lzw_3.tif: does not say the spacing along z, but 0.0352734 cm along x; 1 is taken; give --spacing
dots_f32_lzw_3.tif: volume, TIFF
  samples    75 x 70 x 3 = 15,750 of f32, 62 KiB
  spacing    0.0352734 x 0.0352734 x 1 cm
  origin     0, 0, 0 cm
  values     0 to 221, mean 213.212
  histogram  |*-::. .:  ::  :  .:  .    :   :.     :       :        :        @|
  isovalue   119 (suggested by Otsu's method)
$ trommel info --strict data/volumes/tiff/dots_f32_lzw_3.tif
trommel: info: data/volumes/tiff/dots_f32_lzw_3.tif: does not say the spacing along z, but 0.0352734 cm along x; 1 is taken; give --spacing
[1]
$ trommel surface data/volumes/tiff/dots_f32_lzw_3.tif --spacing 0.0352734,0.0352734,0.1 --iso 100 -o dots.ply
dots_f32_lzw_3.tif
  input      75 x 70 x 3 of f32, TIFF, spacing 0.0352734 x 0.0352734 x 0.1 cm
  isovalue   100
  cells      10,212, 365 of them crossed
  mesh       451 vertices, 722 triangles, 3 components
  closed     no; area 0.666718 cm^2
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     dots.ply, 20 KiB
