## A volume, with an isovalue, with several, and with Otsu's.
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 -o fuel.ply
fuel_crop.nii.gz
  input      64 x 33 x 32 of u8, NIfTI-1, spacing 1 x 1 x 1 mm
  isovalue   30
  cells      62,496, 3,423 of them crossed
  mesh       3,416 vertices, 6,770 triangles, 10 components
  closed     no; area 2280.66 mm^2
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     fuel.ply, 166 KiB
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30,60 --caps -o fuel.stl
fuel_crop.nii.gz
  input      64 x 33 x 32 of u8, NIfTI-1, spacing 1 x 1 x 1 mm
  isovalue   30, 60
  cells      62,496, 5,962 of them crossed
  mesh       5,952 vertices, 11,876 triangles, 11 components
          30 3,448 vertices, 6,856 triangles
          60 2,504 vertices, 5,020 triangles
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     fuel.stl, 580 KiB
$ trommel surface data/volumes/fuel_crop.nii.gz --png fuel.png --size 64x48
fuel_crop.nii.gz
  input      64 x 33 x 32 of u8, NIfTI-1, spacing 1 x 1 x 1 mm
  isovalue   63.5 (Otsu's method)
  cells      62,496, 2,399 of them crossed
  mesh       2,422 vertices, 4,834 triangles, 1 component
  closed     no; area 1620.28 mm^2
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     fuel.png, 3.5 KiB
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --largest --drop-degenerate -o fuel.ply --json
{
  "trommel": "0.1.0",
  "command": "surface",
  "input": {
    "file": "data/volumes/fuel_crop.nii.gz",
    "file_bytes": 4121,
    "kind": "volume",
    "dims": [64, 33, 32],
    "type": "u8",
    "format": "NIfTI-1",
    "spacing": [1, 1, 1],
    "unit": "mm"
  },
  "iso": 30,
  "iso_origin": "given",
  "cells": 62496,
  "active_cells": 3423,
  "vertices": 3152,
  "triangles": 6278,
  "components": 1,
  "closed": false,
  "area": 2166.9590729382744,
  "volume": null,
  "parts": [
    {
      "value": 30,
      "vertex_first": 0,
      "vertices": 3152,
      "triangle_first": 0,
      "triangles": 6278
    }
  ],
  "stages": [
    {
      "name": "wait for samples",
      "seconds": #
    },
    {
      "name": "sign bits",
      "seconds": #
    },
    {
      "name": "counts",
      "seconds": #
    },
    {
      "name": "vertices",
      "seconds": #
    },
    {
      "name": "triangles",
      "seconds": #
    },
    {
      "name": "pieces",
      "seconds": #
    },
    {
      "name": "other",
      "seconds": #
    }
  ],
  "input_bytes_per_second": #,
  "peak_memory_bytes": #,
  "outputs": [
    {
      "file": "fuel.ply",
      "bytes": 157523
    }
  ],
  "surface_seconds": #,
  "scratch_bytes": 27840
}
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 -o fuel.ply -q
## Labels of an integer volume, a part each.
$ trommel surface data/volumes/brain1_label.nrrd --labels 1,3 -o brain.vtp
trommel: surface: warning: --labels: 3 has no surface: no sample of data/volumes/brain1_label.nrrd has this label, or all have
brain1_label.nrrd
  input      256 x 256 x 25 of i32, NRRD, spacing 0.78125 x 0.78125 x 6.5
  label      1, 3
  cells      1,560,600, 5,087 of them crossed
  mesh       5,094 vertices, 10,188 triangles, 2 components
  closed     yes; area 6606.9, enclosing 16099.2
           1 5,094 vertices, 10,188 triangles
           3 0 vertices, 0 triangles
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     brain.vtp, 439 KiB
$ trommel surface data/volumes/brain1_label.nrrd --labels all --smooth 4 -o brain.ply
brain1_label.nrrd
  input      256 x 256 x 25 of i32, NRRD, spacing 0.78125 x 0.78125 x 6.5
  cells      1,560,600, 5,087 of them crossed
  mesh       5,087 vertices, 10,188 triangles, 2 components
  closed     yes; area 6375.54, enclosing 16273
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     brain.ply, 269 KiB
$ trommel info brain.ply
brain.ply: mesh, PLY
  vertices   5,087
  faces      10,188
  bounds     x 26.6427994 to 63.1883621, y -20.2410698 to 34.3044281, z -10.3244629 to 36.2935181
  components 2
  boundary   none; 7 edges with more than two
  closed     yes, but no manifold: it touches itself along edges
  Euler      characteristic 0
  area       6375.53607, enclosing 16272.9574
  has        normals: no, texture coordinates: 0
$ trommel surface data/volumes/brain1_label.nrrd --labels all --smooth 4 --separate -o brain_%d.ply
brain1_label.nrrd
  input      256 x 256 x 25 of i32, NRRD, spacing 0.78125 x 0.78125 x 6.5
  label      1
  cells      1,560,600, 5,096 of them crossed
  mesh       5,096 vertices, 10,188 triangles, 2 components
  closed     yes; area 6375.23, enclosing 16272.9
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     brain_%d.ply, 1 file
$ trommel info brain_1.ply
brain_1.ply: mesh, PLY
  vertices   5,096
  faces      10,188
  bounds     x 26.6427994 to 63.1883621, y -20.2410698 to 34.3044281, z -10.3244629 to 36.2935181
  components 2
  boundary   none
  closed     yes
  Euler      characteristic 2
  area       6375.2292, enclosing 16272.9032
  has        normals: no, texture coordinates: 0
$ trommel surface data/volumes/brain1_label.nrrd --labels all --quads -o brain.stl
trommel: surface: brain.stl holds triangles only; write quads to .ply, .obj or .vtp
[1]
$ trommel surface data/volumes/brain1_label.nrrd --labels 1,3 --smooth 1001 -o brain.ply
trommel: surface: --smooth: "1001" is not accepted; give a whole number of iterations, 0 to 1000
Try 'trommel surface --help'.
[2]
$ trommel surface data/volumes/brain1_label.nrrd --labels 1,3 -o brain.vtp --json
trommel: surface: warning: --labels: 3 has no surface: no sample of data/volumes/brain1_label.nrrd has this label, or all have
{
  "trommel": "0.1.0",
  "command": "surface",
  "input": {
    "file": "data/volumes/brain1_label.nrrd",
    "file_bytes": 7517,
    "kind": "volume",
    "dims": [256, 256, 25],
    "type": "i32",
    "format": "NRRD",
    "spacing": [0.7812499999999999, 0.7812499999999999, 6.499999999999998],
    "unit": ""
  },
  "cells": 1560600,
  "active_cells": 5087,
  "vertices": 5094,
  "triangles": 10188,
  "components": 2,
  "closed": true,
  "area": 6606.903292117149,
  "volume": 16099.2431640625,
  "parts": [
    {
      "value": 1,
      "vertex_first": 0,
      "vertices": 5094,
      "triangle_first": 0,
      "triangles": 10188
    },
    {
      "value": 3,
      "vertex_first": 5094,
      "vertices": 0,
      "triangle_first": 10188,
      "triangles": 0
    }
  ],
  "stages": [
    {
      "name": "wait for samples",
      "seconds": #
    },
    {
      "name": "sign bits",
      "seconds": #
    },
    {
      "name": "counts",
      "seconds": #
    },
    {
      "name": "vertices",
      "seconds": #
    },
    {
      "name": "triangles",
      "seconds": #
    },
    {
      "name": "components",
      "seconds": #
    },
    {
      "name": "pieces",
      "seconds": #
    },
    {
      "name": "other",
      "seconds": #
    }
  ],
  "input_bytes_per_second": #,
  "peak_memory_bytes": #,
  "outputs": [
    {
      "file": "brain.vtp",
      "bytes": 449117
    }
  ],
  "surface_seconds": #,
  "scratch_bytes": 315840
}
## Points, whose field is told.
$ trommel surface data/dam_break_4732.vtk --resolution 64 -o water.ply
trommel: surface: warning: the points' spacing is 0.0645138, too fine for the grid: the radius is raised from 0.129028 to 0.171537, and what is smaller is lost; give a larger --resolution, or --radius
dam_break_4732.vtk
  input      4,732 points, VTK; field of 64 x 30 x 64 samples, radius 0.1715, spacing 0.0571789 x 0.0571789 x 0.0571789
  isovalue   0.5 (half a lone point's height)
  cells      115,101, 8,990 of them crossed
  mesh       8,992 vertices, 17,976 triangles, 2 components
  closed     yes; area 24.0304, enclosing 2.28997
  time       # s: ...
  memory     peak #
  output     water.ply, 439 KiB
$ trommel surface data/dam_break_4732.vtk --field distance --radius 0.05 --resolution 64 -o water.ply
dam_break_4732.vtk
  input      4,732 points, VTK; field of 64 x 27 x 64 samples, radius 0.05, spacing 0.053059 x 0.053059 x 0.053059
  isovalue   0 (the spheres' surface)
  cells      103,194, 9,815 of them crossed
  mesh       10,012 vertices, 20,068 triangles, 6 components
  closed     yes; area 22.9865, enclosing 0.999569
  time       # s: ...
  memory     peak #
  output     water.ply, 490 KiB
## In slabs, where whatever needs all of it is refused.
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --slabs 5 -o fuel.ply -q
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --slabs 5 -o fuel.ply --png fuel.png
trommel: surface: --slabs: in slabs there is never a whole volume or mesh; leave out --png
Try 'trommel surface --help'.
[2]
## Sequences: a row a frame. A number in the name of a lone input's output is 0.
$ for i in 1 2; do cp data/volumes/fuel_crop.nii.gz s_$i.nii.gz; done
$ trommel surface s_%d.nii.gz --iso 30 -o mesh_%03d.ply
frame     vertices    triangles     isovalue      time  file
    1        3,416        6,770           30 # s  s_1.nii.gz
    2        3,416        6,770           30 # s  s_2.nii.gz
$ trommel surface s_%d.nii.gz --iso 30 -o mesh_%03d.ply --resume --json
{
  "trommel": "0.1.0",
  "command": "surface",
  "frames": [
    {
      "frame": 1,
      "file": "s_1.nii.gz",
      "skipped": true
    },
    {
      "frame": 2,
      "file": "s_2.nii.gz",
      "skipped": true
    }
  ]
}
$ trommel surface s_%d.nii.gz --iso 30 -o mesh_%03d.ply --resume
2 frames were there already
$ trommel surface s_1.nii.gz --iso 30 -o one_%04d.ply -q; ls *.ply
brain.ply
brain_1.ply
fuel.ply
mesh_001.ply
mesh_002.ply
one_0001.ply
water.ply
## A frame without a surface becomes an empty mesh.
$ trommel surface s_1.nii.gz s_2.nii.gz --iso 900 -o none_%d.ply -q; trommel info none_1.ply
none_1.ply: mesh, PLY
  vertices   0
  faces      0
  bounds     none
  components 0
  boundary   none
  Euler      characteristic 0
  area       0
  has        normals: no, texture coordinates: 0
## Options that are not for what the input turns out to be.
$ trommel surface data/dam_break_4732.vtk --frame 3 -o x.ply
trommel: surface: --frame is for volumes; data/dam_break_4732.vtk holds points
Try 'trommel surface --help'.
[2]
$ trommel surface data/dam_break_4732.vtk -o x.ply --debug-cells x.png
trommel: surface: --debug-cells is for volumes; data/dam_break_4732.vtk holds points
Try 'trommel surface --help'.
[2]
$ trommel surface data/dam_break_4732.vtk --labels all -o x.ply
trommel: surface: --labels is for volumes; data/dam_break_4732.vtk holds points
Try 'trommel surface --help'.
[2]
$ trommel surface data/dam_break_4732.vtk --index x.tmx -o x.ply
trommel: surface: --index is for volumes; data/dam_break_4732.vtk holds points
Try 'trommel surface --help'.
[2]
$ trommel surface data/volumes/fuel_crop.nii.gz --radius 3 -o x.ply
trommel: surface: --radius is for points; data/volumes/fuel_crop.nii.gz holds a volume
Try 'trommel surface --help'.
[2]
$ trommel surface data/volumes/fuel_crop.nii.gz --skip 3 -o x.ply
trommel: surface: --skip is for headerless volumes; data/volumes/fuel_crop.nii.gz holds a volume
Try 'trommel surface --help'.
[2]
## What fails.
$ trommel surface missing.nrrd --iso 3 -o x.ply
trommel: surface: missing.nrrd: cannot be opened: No such file or directory
[1]
$ trommel surface missing.nrrd --iso 3 -o x.ply --json
trommel: surface: missing.nrrd: cannot be opened: No such file or directory
{
  "trommel": "0.1.0",
  "command": "surface",
  "error": {
    "code": 1,
    "message": "missing.nrrd: cannot be opened: No such file or directory"
  }
}
[1]
$ trommel surface data/collide_pairs.txt -o x.ply
trommel: surface: data/collide_pairs.txt: the points have no "x"; needs x, y and z
[1]
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 700 -o x.ply
trommel: surface: the surface is empty, nothing was written; the values run from 0 to 255, so choose --iso between them
[1]
$ trommel surface data/volumes/fuel_crop.nii.gz --region :,:,9:10 -o x.ply
trommel: surface: data/volumes/fuel_crop.nii.gz: has 64 x 33 x 32 samples; a surface needs two along each axis, of the region too
[1]
$ trommel surface data/volumes/fuel_crop.nii.gz --frame 3 -o x.ply
trommel: surface: data/volumes/fuel_crop.nii.gz: --frame is 3, needs less than 1, the volumes in the file
[1]
$ trommel surface data/volumes/fuel_crop.nii.gz --mask data/volumes/brain1_label.nrrd -o x.ply
trommel: surface: --mask: data/volumes/brain1_label.nrrd has 256 x 256 x 25 samples, needs 64 x 33 x 32 as the input
[1]
$ trommel surface data/volumes/fuel_crop.nii.gz --memory 16K --png x.png
trommel: surface: data/volumes/fuel_crop.nii.gz: needs 67584 bytes, --memory is 16384
[1]
$ trommel surface data/volumes/fuel_crop.nii.gz --device elsewhere -o x.ply 2>&1 | sed 's/; there are.*//'
trommel: surface: cannot start: no device matches "elsewhere"
$ trommel surface data/volumes/fuel_crop.nii.gz -o no/such/folder/x.ply
trommel: surface: --output: there is no folder no/such/folder; make it first (mkdir -p no/such/folder), or name another one
[1]
$ trommel surface data/volumes/fuel_crop.nii.gz -o /proc/x.ply
trommel: surface: /proc/x.ply: cannot be written: No such file or directory
[1]
$ printf abc >short_9x9x9_uint8.raw; trommel surface short_9x9x9_uint8.raw -o x.ply
trommel: surface: short_9x9x9_uint8.raw: holds 3 bytes after the skip of 0, needs 729 (9 x 9 x 9 x u8) or a multiple; check --dims, --type and --skip
[1]
$ for i in 1 2 3 4 5 6 7 8; do printf '\0\0\300\177'; done >nan_2x2x2_float32.raw; trommel surface nan_2x2x2_float32.raw --iso 0 -o x.ply
trommel: surface: nan_2x2x2_float32.raw: no sample is a finite number, so there is no surface
[1]
$ trommel surface nan_2x2x2_float32.raw -o x.ply
trommel: surface: nan_2x2x2_float32.raw: no sample is a finite number, so there is no surface
[1]
$ trommel surface nan_2x2x2_float32.raw --iso 0 --slabs 2 -o x.ply
trommel: surface: the surface is empty, nothing was written; choose other values (trommel info shows what the file holds)
[1]
$ trommel surface s_1.nii.gz s_2.nii.gz --iso 30 -o one.ply
trommel: surface: --output: one.ply is one name for several inputs; put %04d where each one's number goes
Try 'trommel surface --help'.
[2]
$ trommel surface s_%d.nii.gz --iso 30 -o x_%d.ply --frames 2-3
trommel: surface: s_3.nii.gz: cannot be opened: No such file or directory; nothing was done
[1]
$ ls x*
ls: cannot access 'x*': No such file or directory
[2]
$ trommel surface data/dam_break_4732.vtk --memory 1K -o x.ply
trommel: surface: data/dam_break_4732.vtk: needs 56784 bytes, --memory is 1024
[1]
## What looks like a scan is told; what fills space, moves or has radii is not.
$ awk 'BEGIN { for (i = 0; i < 900; i++) { print i % 30, int(i / 30), sin(i / 70) } }' >hills.xyz; awk 'BEGIN { for (i = 0; i < 1000; i++) print i % 10 + sin(i) / 9, int(i / 10) % 10, int(i / 100) + sin(7 * i) / 9 }' >drop.xyz; sed '1ix y z' hills.xyz >a.txt; awk 'NR > 1 { $0 = $0 " 0 0 1" } NR == 1 { $0 = $0 " nx ny nz" } { print }' a.txt >normals.txt; awk '{ print $0 (NR == 1 ? " radius" : " 1") }' a.txt >radii.txt; awk '{ print $0 (NR == 1 ? " vx vy vz" : " 0 0 1") }' a.txt >moves.txt
$ for file in hills.xyz drop.xyz normals.txt radii.txt moves.txt; do trommel surface $file --radius 2 -o x.ply -q; trommel surface $file --radius 2 -o x.ply 2>&1 >x.txt | cut -c1-78; done
trommel: surface: warning: hills.xyz: its points lie on a surface, as a scan's
trommel: surface: warning: normals.txt: its points have normals, as a scan's: 
$ trommel surface hills.xyz drop.xyz --radius 2 -o x_%d.ply 2>&1 >x.txt | cut -c1-78
trommel: surface: warning: hills.xyz: its points lie on a surface, as a scan's
## A mask or an attribute that lies elsewhere is told, in slabs, too; files without a place, the other patient's axes and --spacing are not.
$ volume() { printf 'NRRD0004\ntype: uint8\ndimension: 3\nsizes: 3 3 3\nencoding: raw\n%b\n\n' "$2" >$1; printf 'aaaaaaaaaaaaazaaaaaaaaaaaaa' >>$1; }; volume in.nrrd 'space: left-posterior-superior\nspace directions: (1,0,0) (0,2,0) (0,0,3)\nspace origin: (10,20,30)'; volume same.nrrd 'space: RAS\nspace directions: (-1,0,0) (0,-2,0) (0,0,3)\nspace origin: (-10,-20,30)'; volume moved.nrrd 'space: LPS\nspace directions: (1,0,0) (0,2,0) (0,0,3)\nspace origin: (11,20,30)'; volume other.nrrd 'spacings: 1 1 3'; trommel convert in.nrrd -o in.npy -q
$ for mask in same.nrrd in.npy moved.nrrd other.nrrd; do trommel surface in.nrrd --iso 100 --mask $mask -o x.ply -q; trommel surface in.nrrd --iso 100 --attribute $mask -o x.ply >x.txt; trommel surface in.nrrd --iso 100 --mask $mask -o x.ply --slabs 2 >x.txt; done
trommel: surface: warning: --attribute: moved.nrrd lies elsewhere than the input: it has spacing 1 x 2 x 3 and origin 11, 20, 30, the input 1 x 2 x 3 and 10, 20, 30; sample by sample it is taken as if it lay there
trommel: surface: warning: --mask: moved.nrrd lies elsewhere than the input: it has spacing 1 x 2 x 3 and origin 11, 20, 30, the input 1 x 2 x 3 and 10, 20, 30; sample by sample it is taken as if it lay there
trommel: surface: warning: --attribute: other.nrrd lies elsewhere than the input: it has spacing 1 x 1 x 3 and origin 0, 0, 0, the input 1 x 2 x 3 and 10, 20, 30; sample by sample it is taken as if it lay there
trommel: surface: warning: --mask: other.nrrd lies elsewhere than the input: it has spacing 1 x 1 x 3 and origin 0, 0, 0, the input 1 x 2 x 3 and 10, 20, 30; sample by sample it is taken as if it lay there
$ trommel surface in.nrrd --iso 100 --mask moved.nrrd -o x.ply --strict
trommel: surface: --mask: moved.nrrd lies elsewhere than the input: it has spacing 1 x 2 x 3 and origin 11, 20, 30, the input 1 x 2 x 3 and 10, 20, 30; resample it to the input's grid
[1]
$ trommel surface in.nrrd --iso 100 --spacing 1 --mask in.nrrd -o x.ply >x.txt
$ trommel surface in.nrrd --iso 100 --spacing 1 --mask moved.nrrd -o x.ply >x.txt
trommel: surface: warning: --mask: moved.nrrd lies elsewhere than the input: it has spacing 1 x 2 x 3 and origin 11, 20, 30, the input 1 x 1 x 1 and 10, 20, 30; sample by sample it is taken as if it lay there
## Points far from 0 whose own coordinates are floats.
$ for place in 0 4000000; do awk -v at=$place 'BEGIN { for (i = 0; i < 1000; i++) print i % 10 + at, int(i / 10) % 10 + at, int(i / 100) }' >x.xyz; trommel surface x.xyz --radius 2 --cell 0.5 --smooth 2 -o x.ply -q; trommel info x.ply | grep -E 'Euler|area|bounds'; done
  bounds     x -0.891192913 to 9.89119244, y -0.891192853 to 9.89119244, z -0.891192853 to 9.89119244
  Euler      characteristic 2: closed, 0 handles
  area       619.272947, enclosing 1201.61791
  bounds     x 3999999.1088071 to 4000009.8911934, y 3999999.1088071 to 4000009.8911934, z -0.89119291305542 to 9.8911933898926
  Euler      characteristic 2: closed, 0 handles
  area       619.27295, enclosing 1201.61798
## A whole isovalue of whole samples: every triangle has an area, and what is in an STL is a closed manifold by place.
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --caps -o whole.stl -q; trommel info whole.stl
whole.stl: mesh, STL
  vertices   3,448 (17,120 more lay at the same places)
  faces      6,856
  bounds     x -26.1499996 to 32, y -12.2142859 to 13.2142859, z -13.2142859 to 12.1999998
  components 10
  boundary   none
  closed     yes
  Euler      characteristic 20
  area       2319.333, enclosing 4461.9113
  has        normals: no, texture coordinates: 0
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --caps --simplify 0.1 -o few.stl -q; trommel info few.stl
few.stl: mesh, STL
  vertices   361 (1,685 more lay at the same places)
  faces      682
  bounds     x -26.1499996 to 32, y -12.2142859 to 13.2142859, z -13.2142859 to 12.1999998
  components 10
  boundary   none
  closed     yes
  Euler      characteristic 20
  area       2279.20795, enclosing 4257.17249
  has        normals: no, texture coordinates: 0
$ trommel surface data/volumes/ct_lung_small.mha --iso=-500 --caps --topology trilinear -o lung.stl -q; trommel info lung.stl
lung.stl: mesh, STL
  vertices   49,227 (244,899 more lay at the same places)
  faces      98,042
  bounds     x -152.460999 to 0.531000018, y -148.985992 to 61.3779984, z -1432 to -1117
  components 118
  boundary   none
  closed     yes
  Euler      characteristic 206
  area       442288.536, enclosing 6056939.26
  has        normals: no, texture coordinates: 0
$ trommel surface data/volumes/ct_lung_small.mha --iso=-500 --caps --simplify 0.1 -o lung.stl -q; trommel info lung.stl
lung.stl: mesh, STL
  vertices   5,016 (24,354 more lay at the same places)
  faces      9,790
  bounds     x -152.460999 to 0.531000018, y -148.985992 to 61.3779984, z -1432 to -1117
  components 73
  boundary   none
  closed     yes
  Euler      characteristic 121
  area       442091.617, enclosing 6056723.66
  has        normals: no, texture coordinates: 0
$ trommel surface data/volumes/ct_lung_small.mha --iso=-500 --caps --collapse 0.4 -o lung.stl -q; trommel info lung.stl
lung.stl: mesh, STL
  vertices   42,531 (211,083 more lay at the same places)
  faces      84,538
  bounds     x -152.460999 to 0.531000018, y -148.985992 to 61.3779984, z -1432 to -1117
  components 146
  boundary   none
  closed     yes
  Euler      characteristic 262
  area       441357.927, enclosing 6055677.44
  has        normals: no, texture coordinates: 0
## The same in slabs.
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --caps --slabs 3 -o slabs.stl | grep closed; cmp whole.stl slabs.stl && echo same
  closed     yes; area 2319.33 mm^2, enclosing 4461.91 mm^3
same
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --caps --slabs 3 -o slabs.ply | grep closed
  closed     yes; area 2319.33 mm^2, enclosing 4461.91 mm^3
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --caps --largest -o largest.ply | grep -E 'mesh|closed'; trommel info largest.ply | grep -E 'vertices|closed|area'
  mesh       3,184 vertices, 6,364 triangles, 1 component
  closed     yes; area 2205.63 mm^2, enclosing 4432.82 mm^3
  vertices   3,184
  closed     yes
  Euler      characteristic 2: closed, 0 handles
  area       2205.63381, enclosing 4432.81877
