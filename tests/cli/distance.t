$ printf 'v 0 0 0\nv 4 0 0\nv 0 4 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n' > solid.obj; grep -v '^f 1 3' solid.obj > open.obj
$ trommel distance solid.obj --cell 1 -o solid.nrrd
solid.obj
  mesh       4 vertices, 4 triangles, OBJ
  samples    11 x 11 x 11, 1 apart, 1 inside
  time       # s: ...
  memory     peak #
  output     solid.nrrd, 5.4 KiB
$ trommel surface solid.nrrd --iso 0 --flip -o again.ply
solid.nrrd
  input      11 x 11 x 11 of f32, NRRD, spacing 1 x 1 x 1
  isovalue   0
  cells      1,000, 8 of them crossed
  mesh       6 vertices, 8 triangles, 1 component
  closed     yes; area 6.91468, enclosing 1.32943
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     again.ply, 503 bytes
$ trommel distance solid.obj --resolution 16 --band 2 -o narrow.mha --json
{
  "trommel": "0.1.0",
  "command": "distance",
  "input": {
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
  "dims": [16, 16, 16],
  "cell": 0.4444444444444444,
  "inside": 165,
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "tree",
      "seconds": #
    },
    {
      "name": "distances",
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
      "file": "narrow.mha",
      "bytes": 16728
    }
  ]
}
$ trommel distance solid.obj --cell 0.5 --margin 1 --inside winding -o solid.npy
trommel: distance: warning: solid.npy: does not hold spacing, origin and directions; .nrrd and .mha do
solid.obj
  mesh       4 vertices, 4 triangles, OBJ
  samples    11 x 11 x 11, 0.5 apart, 35 inside
  time       # s: ...
  memory     peak #
  output     solid.npy, 5.3 KiB
$ trommel distance open.obj -o none.nrrd
trommel: distance: open.obj: the mesh is not closed: triangle 1 has an edge, from (4, 0, 0) to (0, 4, 0), that belongs to an odd number of triangles; close the mesh, or ask by --inside solid-angle, or give --unsigned
[1]
$ trommel distance open.obj --unsigned -o open.nrrd -q
$ trommel distance open.obj --cell 0.5 --margin 1 --inside solid-angle -o open.npy
trommel: distance: warning: open.npy: does not hold spacing, origin and directions; .nrrd and .mha do
open.obj
  mesh       4 vertices, 3 triangles, OBJ
  samples    11 x 11 x 11, 0.5 apart, 55 inside
  time       # s: ...
  memory     peak #
  output     open.npy, 5.3 KiB
$ trommel distance open.obj --unsigned --inside winding -o none.nrrd
trommel: distance: --inside and --unsigned exclude each other; leave one of them out
Try 'trommel distance --help'.
[2]
$ trommel distance solid.obj --resolution 8 --margin 4 -o none.nrrd
trommel: distance: --margin: two of 4 cells leave nothing of --resolution 8 for the mesh
Try 'trommel distance --help'.
[2]
$ trommel distance solid.obj --cell 1e-9 -o none.nrrd
trommel: distance: solid.obj: is 4 along its longest side, which needs more than 2^40 samples; give a larger --cell
[1]
$ trommel distance solid.obj --cell 0.01 --memory 1M -o none.nrrd
trommel: distance: 67419143 samples are more than --memory has room for; give a larger --cell or a lower --resolution
[1]
$ printf 'v 0 0 0\n' > nothing.obj; trommel distance nothing.obj -o none.nrrd
trommel: distance: nothing.obj: has no triangles to be far from
[1]
$ trommel distance solid.obj
trommel: distance: give -o NAME.nrrd (or .mha .npy .raw)
Try 'trommel distance --help'.
[2]
$ ls *.nrrd
open.nrrd
solid.nrrd
$ trommel distance --help
Usage: trommel distance [OPTION...] MESH

Makes a volume of the signed distances to a mesh.

MESH (OBJ, PLY, STL, OFF, glTF, VTP) must be closed, unless --inside solid-angle or
--unsigned is given. Samples inside are negative, exactly those inside. 'trommel
surface --iso 0 --flip' makes a mesh of the volume again, and another isovalue a
thicker or thinner one.

Samples:
      --cell L              distance of neighbouring samples, in the mesh's units
                            (not with --resolution; 1e-30 to 1e+30)
      --resolution N        samples along the longest side instead, the margins
                            among them (not with --cell; 8 to 65536; default: 128)
      --margin N            cells around the mesh, at least (1 to 1024; default: 3)

Distances:
      --band N              exact up to this many cells from the mesh, and that much
                            beyond, with the sign; faster; 0: exact everywhere (0 to
                            1000000; default: 0)
      --inside even-odd|winding|solid-angle
                            negative where a ray crosses the mesh an odd number of
                            times; or where the mesh winds about the sample, as it
                            does in each of several parts that overlap; or, of a
                            mesh that may be open, where it covers half of all
                            directions or more (not with --unsigned; default:
                            even-odd)
      --unsigned            positive inside, too: the mesh may then be open (not
                            with --inside)
      --skip-broken         leave out triangles with coordinates that are too large,
                            instead of refusing the mesh

Output:
  -o, --output FILE         the volume, of 32-bit floats: .nrrd .mha .npy .raw

Device and limits:
      --backend auto|cpu|vulkan|gl
                            engine to run on; auto: a GPU where it shortens the
                            whole command, as with millions of points; gl: OpenGL ES
                            (default: auto)
      --device NAME         part of a device's name, or its number (trommel devices
                            lists them); by-rank: of several processes
                            (trommel-mpi), each machine's take its GPUs in turn
      --threads N           worker threads of the CPU engine; 0: one for each
                            processor (0 to 1024; default: 0)
      --memory SIZE         refuse an input that needs more memory than this, such
                            as 512M or 4G; surface goes through a volume that does
                            in slabs
      --strict              refuse a file of which something would be left out or
                            assumed, instead of a warning
      --device-memory SIZE  take no more than this of a GPU's memory on Vulkan;
                            surfaces of larger volumes are made in slabs (not with
                            --backend cpu, --backend gl)
      --gl-path auto|integer|float|float-packed|packed
                            how values travel through textures, on OpenGL ES,
                            instead of the best way that its device passes the tests
                            of (trommel devices --verbose) (not with --backend cpu,
                            --backend vulkan; default: auto)
      --no-cache            neither read nor keep what a GPU's driver compiled (in
                            $XDG_CACHE_HOME/trommel or ~/.cache/trommel) (not with
                            --backend cpu)

Messages:
      --json                print the summary as one JSON object
  -q, --quiet               print no summary and no progress; errors still show
  -h, --help                --help: print this and end; -h: the most used options, a
                            line each

Examples:
  trommel distance part.stl --cell 0.5 -o part.nrrd
  trommel surface part.nrrd --iso 2 --flip -o thicker.ply
  trommel distance part.stl --resolution 512 --band 3 -o narrow.nrrd
  trommel distance scan.ply --inside solid-angle -o scan.nrrd
## Far from 0 the samples, and what is made of a mesh there, are as near 0.
$ cube() { for z in 0 1; do for y in 0 1; do printf 'v %s %s %s\nv %s %s %s\n' $1 $(($2 + y)) $z $(($1 + 1)) $(($2 + y)) $z; done; done; printf 'f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n'; }; cube 0 0 >near.obj; cube 4000000 5000000 >away.obj
$ for place in near away; do trommel distance $place.obj --cell 0.1 -o $place.nrrd -q; trommel surface $place.nrrd --iso 0.05 --flip -o x.ply -q; trommel info x.ply | grep -E 'Euler|area'; done
  Euler      characteristic 2: closed, 0 handles
  area       6.86584823, enclosing 1.31516651
  Euler      characteristic 2: closed, 0 handles
  area       6.86584824, enclosing 1.31516657
$ for place in near away; do trommel subdivide $place.obj --levels 3 -o x.ply -q; trommel info x.ply | grep -E 'area'; trommel convert x.ply --smooth 5 -o y.ply -q; trommel info y.ply | grep -E 'area'; trommel draw $place.obj --size 64x48 -o $place.png -q; done; cmp near.png away.png && echo same
  area       2.5509529, enclosing 0.379603365
  area       2.56099083, enclosing 0.381896543
  area       2.5509529, enclosing 0.379603365
  area       2.56099086, enclosing 0.381896547
same
