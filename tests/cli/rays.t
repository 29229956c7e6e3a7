$ printf 'v 0 0 0\nv 4 0 0\nv 0 4 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n' > solid.obj
$ printf 'x,y,z,nx,ny,nz\n1,1,-2,0,0,1\n1,1,9,0,0,-2\n2,2,-1,0,0,1\n9,9,9,0,0,1\n0.5,0.5,0.5,1,0,0\n' > rays.csv
$ trommel rays solid.obj --rays rays.csv -o hits.csv; cat hits.csv
solid.obj
  mesh       4 vertices, 4 triangles, OBJ
  rays       5, 3 hit
  time       # s: ...
  memory     peak #
  output     hits.csv, 72 bytes
ray,triangle,t,u,v
0,0,2,0.25,0.25
1,2,3.5,0.25,0.5
4,2,2.5,0.125,0.125
$ trommel rays solid.obj --rays rays.csv --find all -o all.csv -q; cat all.csv
ray,triangle,t
0,0,2
0,2,4
1,2,3.5
1,0,4.5
4,2,2.5
$ trommel rays solid.obj --rays rays.csv --find count -o count.csv -q; cat count.csv
ray,hits
0,2
1,2
2,0
3,0
4,1
$ trommel rays solid.obj --rays rays.csv --find any --limit 2 -o any.csv -q; cat any.csv
ray,hit
0,1
1,0
2,0
3,0
4,0
$ trommel rays solid.obj --rays rays.csv --find all --json
{
  "trommel": "0.1.0",
  "command": "rays",
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
  "rays": 5,
  "rays_that_hit": 3,
  "hits": 5,
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
      "name": "rays",
      "seconds": #
    }
  ],
  "peak_memory_bytes": #,
  "outputs": []
}
$ trommel rays solid.obj --rays rays.csv -o t.npy -q; trommel info t.npy
t.npy: volume, NPY
  samples    5 x 1 x 1 = 5 of f32, 20 bytes
  spacing    1 x 1 x 1
  origin     0, 0, 0
  values     2 to 3.5, mean 2.66667; 2 infinite
  histogram  |@                    @                                         @|
  isovalue   3 (suggested by Otsu's method)
$ trommel rays solid.obj --camera 9,8,7,1,1,1 --size 64x48 -o depth.pfm -q; trommel info depth.pfm
depth.pfm: picture, PFM
  picture    64 x 48, 1 x f32, PFM
  luminance  11.3254 to 11.9379, mean 11.6298, geometric mean 11.6291; 2,730 infinite
  histogram  |                                       @                        | -16 to +16 stops
$ trommel rays solid.obj --camera 9,8,7,1,1,1 --size 64x48 -o depth.png
solid.obj
  mesh       4 vertices, 4 triangles, OBJ
  rays       3,072, 342 hit
  time       # s: ...
  memory     peak #
  output     depth.png, 350 bytes
$ trommel rays solid.obj
trommel: rays: needs --rays or --camera
Try 'trommel rays --help'.
[2]
$ trommel rays solid.obj --rays rays.csv -o depth.png
trommel: rays: --output depth.png: a picture is of depths, which need --camera and --find nearest
Try 'trommel rays --help'.
[2]
$ trommel rays solid.obj --camera 9,8,7,1,1,1 --find any -o depth.pfm
trommel: rays: --output depth.pfm: a picture is of depths, which need --camera and --find nearest
Try 'trommel rays --help'.
[2]
$ trommel rays solid.obj --rays rays.csv --find all -o all.npy
trommel: rays: --output all.npy: all hits go into .csv
Try 'trommel rays --help'.
[2]
$ trommel rays solid.obj --rays rays.csv --direction way
trommel: rays: rays.csv: the points have no attribute "way"; they have normal; a ray needs a direction: columns nx, ny and nz, or three that --direction names
[1]
$ printf '1 2 3\n' > points.xyz; trommel rays solid.obj --rays points.xyz
trommel: rays: points.xyz: the points have no attribute "normal"; they have none; a ray needs a direction: columns nx, ny and nz, or three that --direction names
[1]
$ printf 'x,y,z,way\n1,1,1,1\n' > one.csv; trommel rays solid.obj --rays one.csv --direction way
trommel: rays: one.csv: 'way' is 1 of three numbers, which a direction needs
[1]
$ trommel rays solid.obj --rays rays.csv --camera 9,8,7,1,1,1
trommel: rays: --rays and --camera exclude each other; leave one of them out
Try 'trommel rays --help'.
[2]
$ trommel rays --help
Usage: trommel rays [OPTION...] MESH

Finds what rays hit of a mesh.

MESH (OBJ, PLY, STL, OFF, glTF, VTP). Whether a ray hits a triangle is exact: none
slips between two that share an edge, or hits both. t tells where, in lengths of the
direction; u and v are the weights of the triangle's second and third corner.

Rays:
      --rays FILE           points where rays begin (CSV, XYZ, PLY, PCD, VTK), with
                            their directions (not with --camera)
      --direction NAME      the three columns of --rays that are the direction; nx,
                            ny, nz are 'normal' (needs --rays; default: normal)
      --camera X,Y,Z,TX,TY,TZ[,FOV]|FILE
                            a camera instead of --view: where the eye is, where it
                            looks, and the angle from bottom to top in degrees; --up
                            is up. Or a text of 16 numbers, the matrix from the
                            camera to the world, row by row; it looks along its -z,
                            its y is up, as in glTF, Blender and NeRF's transforms
                            (not with --rays)
      --fov DEGREES         angle from the picture's bottom to its top, where
                            --camera has none (needs --camera; 0.1 to 170; default:
                            45)
      --size WxH            in pixels (needs --camera; default: 1200x900)
      --up auto|z|y|x|-z|-y|-x
                            the axis that points up; auto: y for OBJ and glTF, z for
                            all others (needs --camera; default: auto)
      --limit T             how far they go, in lengths of their direction: 1 makes
                            segments of them; 0: no limit (0 to 1e+30; default: 0)

Hits:
      --find nearest|any|count|all
                            the nearest hit of each ray; whether there is any; how
                            many there are; or all (default: nearest)
      --skip-broken         leave out triangles with coordinates that are too large,
                            instead of refusing the mesh

Output:
  -o, --output FILE         the hits: .csv, with triangles and weights of their
                            corners; .npy, t or the number of hits; with --camera
                            the depths, along the direction it looks in, as a
                            picture: .pfm, or .png, the nearer the brighter

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
  trommel rays part.stl --rays probes.csv -o hits.csv
    of columns x, y, z, nx, ny, nz
  trommel rays room.obj --rays pairs.csv --limit 1 --find any -o blocked.npy
  trommel rays part.stl --camera 9,9,9,0,0,0 --size 640x480 -o depth.png
## Far from 0, of a mesh whose own coordinates are floats.
$ printf 'v 4000001 5000000 100\nv 4000001 5000001 100\nv 4000001 5000000 101\nf 1 2 3\n' >far.obj
$ printf 'x,y,z,nx,ny,nz\n4000000.875,5000000.2,100.2,1,0,0\n4000001.001,5000000.2,100.2,1,0,0\n' >far.csv
$ trommel rays far.obj --rays far.csv -o hits.csv -q && cat hits.csv
ray,triangle,t,u,v
0,0,0.125,0.199999988,0.199999988
