$ printf 'v 0 0 0\nv 4 0 0\nv 0 4 0\nf 1 2 3\n' >a.obj
$ printf 'v 0 0 -1\nv 0 0 1\nv 0 4 1\nf 1 2 3\n' >b.obj
$ printf 'v 0 0 0\nv 4 0 0\nv 0 4 0\nv 1 1 -1\nv 1 1 1\nv 1 3 1\nf 1 2 3\nf 4 5 6\n' >pair.obj
$ printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n' >quad.obj
$ printf 'v 0 0 0\nv 3e38 0 0\nv 0 1 0\nf 1 2 3\n' >far.obj
$ printf '1 0 0 1 0 1 0 1 0 0 1 0\n1 0 0 9 0 1 0 0 0 0 1 0\n' >poses.txt
$ trommel collide a.obj b.obj --translate 1,1,0 -o pairs.csv --segments lines.obj
a.obj and b.obj
  A          3 vertices, 1 triangle, OBJ
  B          3 vertices, 1 triangle, OBJ
  pairs      1: 1 crossing
  tested     1 pairs of triangles, 0 pairs exactly
  time       # s: ...
  memory     peak #
  output     pairs.csv, 60 bytes
  output     lines.obj, 32 bytes
$ cat pairs.csv lines.obj
pose,a,b,class,x0,y0,z0,x1,y1,z1
0,0,0,crossing,1,1,0,1,3,0
# Trommel
v 1 1 0
v 1 3 0
l 1 2
$ trommel collide a.obj b.obj --translate 5,1,0
a.obj and b.obj
  A          3 vertices, 1 triangle, OBJ
  B          3 vertices, 1 triangle, OBJ
  pairs      0; they do not meet
  tested     0 pairs of triangles, 0 pairs exactly
  time       # s: ...
  memory     peak #
$ trommel collide a.obj b.obj | grep pairs
  pairs      1: 1 touching
  tested     1 pairs of triangles, 1 pairs exactly
$ trommel collide a.obj b.obj --classes crossing,coplanar | grep pairs
  pairs      0; they do not meet
  tested     1 pairs of triangles, 1 pairs exactly
$ trommel collide a.obj b.obj --rotate 0,90,0 --scale 0.5 --translate 1,1,0 | grep pairs
  pairs      1: 1 coplanar
  tested     1 pairs of triangles, 1 pairs exactly
$ trommel collide quad.obj b.obj
quad.obj and b.obj
  A          4 vertices, 2 triangles, OBJ; 1 face cut into triangles
  B          3 vertices, 1 triangle, OBJ
  pairs      2: 2 touching
  tested     2 pairs of triangles, 2 pairs exactly
  time       # s: ...
  memory     peak #
$ trommel collide pair.obj --self -o self.json; cat self.json
pair.obj with itself
  A          6 vertices, 2 triangles, OBJ
  pairs      1: 1 crossing
  tested     1 pairs of triangles, 0 pairs exactly
  time       # s: ...
  memory     peak #
  output     self.json, 104 bytes
{
  "pairs": [
    {
      "pose": 0,
      "a": 0,
      "b": 1,
      "class": "crossing"
    }
  ]
}
## Neighbours are no pairs.
$ trommel collide quad.obj --self | grep pairs
  pairs      0; no triangle meets another
  tested     1 pairs of triangles, 1 pairs exactly
$ trommel collide a.obj b.obj --pose poses.txt --find count -o counts.csv
a.obj and b.obj
  A          3 vertices, 1 triangle, OBJ
  B          3 vertices, 1 triangle, OBJ
  pairs      1: 1 crossing
  contact    in 1 of 2 poses
  tested     1 pairs of triangles, 0 pairs exactly
  time       # s: ...
  memory     peak #
  output     counts.csv, 19 bytes
$ cat counts.csv
pose,pairs
0,1
1,0
$ trommel collide a.obj b.obj --pose poses.txt --json
{
  "trommel": "0.1.0",
  "command": "collide",
  "a": {
    "file": "a.obj",
    "file_bytes": 32,
    "kind": "mesh",
    "vertices": 3,
    "triangles": 1,
    "format": "OBJ",
    "faces": 1,
    "polygons": 0,
    "welded_vertices": 0
  },
  "b": {
    "file": "b.obj",
    "file_bytes": 33,
    "kind": "mesh",
    "vertices": 3,
    "triangles": 1,
    "format": "OBJ",
    "faces": 1,
    "polygons": 0,
    "welded_vertices": 0
  },
  "poses": 2,
  "pair_count": 1,
  "classes": {
    "crossing": 1,
    "touching": 0,
    "coplanar": 0,
    "degenerate": 0
  },
  "poses_in_contact": 1,
  "node_pairs": 1,
  "step_pairs": [1],
  "tested": 1,
  "unsure": 0,
  "pose_pairs": [
    1,
    0
  ],
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "trees",
      "seconds": #
    },
    {
      "name": "collide",
      "seconds": #
    }
  ],
  "peak_memory_bytes": #,
  "outputs": []
}
$ trommel collide a.obj b.obj --translate 5,0,1 --find distance -o far.csv; cat far.csv
a.obj and b.obj
  A          3 vertices, 1 triangle, OBJ
  B          3 vertices, 1 triangle, OBJ
  distance   1
  on A       4, 0, 0 (triangle 0)
  on B       5, 0, 0 (triangle 0)
  time       # s: ...
  memory     peak #
  output     far.csv, 56 bytes
pose,distance,a,b,ax,ay,az,bx,by,bz
0,1,0,0,4,0,0,5,0,0
$ trommel collide a.obj b.obj --translate 5,0,1 --find distance --json
{
  "trommel": "0.1.0",
  "command": "collide",
  "a": {
    "file": "a.obj",
    "file_bytes": 32,
    "kind": "mesh",
    "vertices": 3,
    "triangles": 1,
    "format": "OBJ",
    "faces": 1,
    "polygons": 0,
    "welded_vertices": 0
  },
  "b": {
    "file": "b.obj",
    "file_bytes": 33,
    "kind": "mesh",
    "vertices": 3,
    "triangles": 1,
    "format": "OBJ",
    "faces": 1,
    "polygons": 0,
    "welded_vertices": 0
  },
  "poses": 1,
  "distances": [
    {
      "distance": 1,
      "a": 0,
      "b": 0,
      "point_a": [4, 0, 0],
      "point_b": [5, 0, 0]
    }
  ],
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "trees",
      "seconds": #
    },
    {
      "name": "distance",
      "seconds": #
    }
  ],
  "peak_memory_bytes": #,
  "outputs": []
}
$ trommel collide far.obj --self -o x.npy
trommel: collide: far.obj: vertex 1, corner 1 of triangle 0, is (3e+38, 0, 0), needs finite coordinates within 2^100; --skip-broken leaves such triangles out
[1]
$ trommel collide far.obj --self --skip-broken -q
$ trommel collide a.obj b.obj --pose a.obj
trommel: collide: a.obj: line 1 is not a pose; needs 12 numbers, three rows of four, or 16 of which the last row is 0 0 0 1
[1]
$ trommel collide a.obj data/volumes/fuel_crop.nii.gz
trommel: collide: data/volumes/fuel_crop.nii.gz is a volume, and not a mesh; 'trommel surface data/volumes/fuel_crop.nii.gz -o fuel_crop.nii.ply' makes a mesh of it
[1]
$ trommel collide a.obj missing.obj --json
trommel: collide: missing.obj: cannot be opened: No such file or directory
{
  "trommel": "0.1.0",
  "command": "collide",
  "error": {
    "code": 1,
    "message": "missing.obj: cannot be opened: No such file or directory"
  }
}
[1]
$ trommel collide a.obj b.obj --segments b.obj
trommel: collide: --segments: b.obj is an input, which would be lost; name another one
Try 'trommel collide --help'.
[2]
## For scripts: what was found is the exit status, whatever is asked for.
$ trommel collide a.obj b.obj --fail-if contact -q
[3]
$ trommel collide a.obj b.obj --find first --fail-if contact -q
[3]
$ trommel collide a.obj b.obj --find count --fail-if contact -q
[3]
$ trommel collide a.obj b.obj --find distance --fail-if contact -q
[3]
$ trommel collide a.obj b.obj --fail-if none -q
$ trommel collide a.obj b.obj --translate 5,1,0 --fail-if contact -q
$ trommel collide a.obj b.obj --translate 5,1,0 --fail-if none -q
[3]
$ trommel collide a.obj b.obj --translate 5,1,0 --find distance --fail-if none -q
[3]
$ trommel collide a.obj b.obj --fail-if contact --classes coplanar -q
$ trommel collide a.obj nowhere.obj --fail-if contact
trommel: collide: nowhere.obj: cannot be opened: No such file or directory
[1]
$ printf 'v 0 0 0\nv 4 0 0\nv 0 4 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n' > solid.obj; printf '1 1 1\n3 3 3\n1 1 2\n' > points.xyz
$ trommel collide solid.obj points.xyz --find inside -o sides.csv; cat sides.csv
solid.obj and points.xyz
  A          4 vertices, 4 triangles, OBJ
  B          3 points, XYZ
  points     1 inside, 1 on the surface, 1 outside
  time       # s: ...
  memory     peak #
  output     sides.csv, 35 bytes
point,side
0,inside
1,outside
2,on
$ trommel collide solid.obj solid.obj --scale 0.5 --find inside --inside winding --json
{
  "trommel": "0.1.0",
  "command": "collide",
  "a": {
    "file": "solid.obj",
    "file_bytes": 64,
    "kind": "mesh",
    "vertices": 4,
    "triangles": 4,
    "format": "OBJ",
    "faces": 4,
    "polygons": 0,
    "welded_vertices": 0
  },
  "b": {
    "file": "solid.obj",
    "file_bytes": 64,
    "kind": "mesh",
    "vertices": 4,
    "triangles": 4,
    "format": "OBJ",
    "faces": 4,
    "polygons": 0,
    "welded_vertices": 0
  },
  "poses": 1,
  "inside": 0,
  "on": 4,
  "outside": 0,
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "trees",
      "seconds": #
    },
    {
      "name": "inside",
      "seconds": #
    }
  ],
  "peak_memory_bytes": #,
  "outputs": []
}
$ trommel collide solid.obj solid.obj --translate 9,0,0 --find inside --fail-if contact -q
$ trommel collide a.obj points.xyz --find inside --inside solid-angle
a.obj and points.xyz
  A          3 vertices, 1 triangle, OBJ
  B          3 points, XYZ
  points     0 inside, 0 on the surface, 3 outside
  time       # s: ...
  memory     peak #
$ trommel collide a.obj points.xyz --find inside
trommel: collide: a.obj: the mesh is not closed: triangle 0 has an edge, from (4, 0, 0) to (0, 4, 0), that belongs to an odd number of triangles; close the mesh, or ask by --inside solid-angle
[1]
## Far from 0, where floats have half metres: what a file says to the millimetre decides, in either order.
$ box() { for z in 100 101; do for y in 5000000 5000001; do printf "v %s $y $z\nv %s $y $z\n" $1 $2; done; done; printf 'f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n'; }; box 4000000 4000001 >west.obj; box 4000001.001 4000002.001 >east.obj; box 4000000.9 4000001.9 >over.obj; box 4000001.1 4000002.1 >next.obj; box 4000000.1 4000001.1 >beside.obj; printf '4000001.5 5000000.5 100.5\n4000001.0005 5000000.5 100.5\n4000001.001 5000000.5 100.5\n' >far.xyz
$ for pair in 'west east' 'east west' 'west over' 'over west' 'next beside' 'beside next'; do set -- $pair; echo $pair $(trommel collide $1.obj $2.obj | grep pairs -m1); done
west east pairs 0; they do not meet
east west pairs 0; they do not meet
west over pairs 52: 40 touching, 12 coplanar
over west pairs 52: 40 touching, 12 coplanar
next beside pairs 62: 60 touching, 2 coplanar
beside next pairs 62: 60 touching, 2 coplanar
$ trommel collide west.obj east.obj --find distance | grep -E 'distance  |on'
  distance   0.0010000001639127731
  on A       4000001, 5000001, 100 (triangle 0)
  on B       4000001.001, 5000001, 100 (triangle 0)
$ trommel collide east.obj west.obj --find distance | grep -E 'distance  |on'
  distance   0.0009999871253967285
  on A       4000001.001, 5000001, 100 (triangle 0)
  on B       4000001, 5000001, 100 (triangle 0)
$ trommel collide west.obj east.obj --translate -0.002,0,0 --find first | grep pairs
  pairs      1: 1 touching
  steps      |=*@| pairs of boxes, at most 4
  tested     16 pairs of triangles, 4 pairs exactly
$ trommel collide west.obj east.obj --rotate 0,0,360 --find first | grep pairs
  pairs      0; they do not meet
  tested     0 pairs of triangles, 0 pairs exactly
$ trommel collide east.obj far.xyz --find inside | grep points
  B          3 points, XYZ
  points     1 inside, 1 on the surface, 1 outside
$ trommel collide west.obj east.obj --segments far_lines.obj -o far.csv -q && cat far.csv
pose,a,b,class,face_a,face_b,x0,y0,z0,x1,y1,z1
$ trommel collide west.obj over.obj -o far.csv --segments far_lines.obj -q && sed -n 3p far.csv && sed -n 2,3p far_lines.obj
0,0,6,touching,0,3,4000000.9,5000001,100,4000000.9,5000001,100
v 4000000.9 5000001 100
v 4000001 5000001 100
