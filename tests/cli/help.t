## Help, short and long, of the program and of every command.
$ trommel
Usage: trommel [OPTION...] COMMAND ...

Meshes from volumes and point clouds, collision and subdivision of meshes, exposure of pictures, and streams reduced, scanned, sorted and compacted.

'trommel COMMAND -h' shows a command's most used options, --help all. An output
appears when it is complete, under its name; one that is an input, by whatever name,
or another output is refused before any work. "-" as an input is standard input; as
an output, "-.glb" is standard output in the format of that ending, and the summary
goes to standard error.

Options:
  -V, --version             print the version and end
      --man                 print the man page of the program, or of the command
                            that follows: trommel --man surface | man -l -
      --json-fields         print what the JSON of --json has, as Markdown
      --completion bash|zsh|fish
                            print a completion script: source <(trommel --completion
                            bash)
  -h, --help                print this and end

Commands:
  surface    Makes the mesh of an isosurface from a volume or from points
  convert    Writes a volume, points, a mesh or a picture in another format
  index      Finds the range of each brick of a volume, for surfaces of large files
  draw       Draws a mesh into a picture
  collide    Finds which triangles of two meshes meet, exactly
  distance   Makes a volume of the signed distances to a mesh
  rays       Finds what rays hit of a mesh
  subdivide  Makes smooth surfaces from coarse meshes, everywhere alike or where needed
  exposure   Measures pictures, exposes and tone-maps them
  mips       Makes the mip chain of a picture of any size
  info       Tells what is in a volume, point, mesh or picture file
  devices    Lists the devices that this machine offers, best first
  compact    Keeps the elements of an array that lie in a range or are not zero
  scan       Writes the running sums of an array, or its least or largest so far
  sort       Sorts an array, and another one with it
  reduce     Prints sum, mean, extremes and their positions in an array

trommel: give a command, such as 'trommel surface --help'
[2]
$ trommel --help
Usage: trommel [OPTION...] COMMAND ...

Meshes from volumes and point clouds, collision and subdivision of meshes, exposure of pictures, and streams reduced, scanned, sorted and compacted.

'trommel COMMAND -h' shows a command's most used options, --help all. An output
appears when it is complete, under its name; one that is an input, by whatever name,
or another output is refused before any work. "-" as an input is standard input; as
an output, "-.glb" is standard output in the format of that ending, and the summary
goes to standard error.

Options:
  -V, --version             print the version and end
      --man                 print the man page of the program, or of the command
                            that follows: trommel --man surface | man -l -
      --json-fields         print what the JSON of --json has, as Markdown
      --completion bash|zsh|fish
                            print a completion script: source <(trommel --completion
                            bash)
  -h, --help                print this and end

Commands:
  surface    Makes the mesh of an isosurface from a volume or from points
  convert    Writes a volume, points, a mesh or a picture in another format
  index      Finds the range of each brick of a volume, for surfaces of large files
  draw       Draws a mesh into a picture
  collide    Finds which triangles of two meshes meet, exactly
  distance   Makes a volume of the signed distances to a mesh
  rays       Finds what rays hit of a mesh
  subdivide  Makes smooth surfaces from coarse meshes, everywhere alike or where needed
  exposure   Measures pictures, exposes and tone-maps them
  mips       Makes the mip chain of a picture of any size
  info       Tells what is in a volume, point, mesh or picture file
  devices    Lists the devices that this machine offers, best first
  compact    Keeps the elements of an array that lie in a range or are not zero
  scan       Writes the running sums of an array, or its least or largest so far
  sort       Sorts an array, and another one with it
  reduce     Prints sum, mean, extremes and their positions in an array
$ trommel --version
trommel 0.1.0
$ trommel help surfaces
trommel: unknown command "surfaces"; did you mean surface?
Try 'trommel --help'.
[2]
$ trommel info --help >long; trommel help info | cmp - long
$ trommel surface -h
Usage: trommel surface [OPTION...] IN...

Makes the mesh of an isosurface from a volume or from points.

      --iso V[,V...]|A:B:N  isovalues; by default one is chosen
      --largest             keep only the largest component
  -o, --output FILE         the mesh: .ply .stl .obj .glb .vtp
      --png FILE            a picture of it
      --normals none|forward|central|sobel  how normals are computed
      --simplify RATIO|N    to a share of the triangles, or to N of them
      --dims X,Y,Z          samples along x, y and z of a headerless file
      --radius R            of points: reach of each
      --cell L|Sr           of points: spacing of the field's samples
      --resolution N        of points: samples along the field's longest side
      --help                all options, with defaults and ranges
$ trommel surface --help
Usage: trommel surface [OPTION...] IN...

Makes the mesh of an isosurface from a volume or from points.

IN is a volume (NRRD, NIfTI-1/2, MetaImage, MRC/CCP4, NPY, VTK, TIFF, DICOM, of
these two also a folder of slices, headerless samples) or points (PLY, XYZ, PCD,
LAS, VTK, VTU, BGEO), found by content; either may be gzipped where its format
allows.

Isovalues are physical: where a file has slope and intercept, they are applied.
Outputs are written beside their targets and renamed when complete.

Several inputs, or one named with %04d, are frames of a sequence, each a surface of
its own with its number in the outputs' names (and in those of --mask, --attribute
and --index, where they have %04d). Give --iso, and of points --cell and --radius:
otherwise each frame chooses its own. A frame without a surface becomes an empty
mesh; one that fails ends the run, and --resume goes on.

Which surface:
      --iso V[,V...]|A:B:N  isovalues in the file's physical units, A:B:N for N
                            evenly spaced ones; inside is at or above (default:
                            Otsu's method for volumes, half a lone point's height
                            for points; not with --labels)
      --labels all|N[,N...]
                            surfaces of these labels instead, a part each: whole
                            numbers, as info tells the values (for volumes; not with
                            --iso, --topology, --debug-cells)
      --smooth N            smooth the mesh N times (10 to 30, say) by Taubin's two
                            steps: what is large stays as large, boundaries stay,
                            and normals follow the triangles. Of points by a
                            Laplacian, where they are crowded, so that drops stay.
                            With --labels: one mesh of all labels' boundaries,
                            shared by the labels on both sides and smoothed N times
                            within its cells (16, say; 0: as they are); .ply and
                            .vtp have both labels of each triangle. Other labels
                            than the named ones are background, and so is 0 (not
                            with --soup, --index)
      --separate            each label as a closed manifold mesh of its own, at the
                            places of the shared ones (see --smooth), and one to a
                            file where the output's name has %d or %04d, which
                            becomes the label; of a sequence it is the frame's
                            number (for volumes; needs --labels; not with --soup,
                            --slabs, --index, --simplify, --simplify-error)
      --quads               the labels' boundaries (see --smooth) in quads, in .ply,
                            .obj or .vtp (for volumes; needs --labels; not with
                            --soup, --index, --png, --simplify, --simplify-error)
      --region X0:X1,Y0:Y1,Z0:Z1
                            only samples X0 up to, not including, X1 and so on; an
                            empty end is the volume's
      --mask FILE           a volume of the same size; where it is 0, samples count
                            as missing (for volumes)
      --topology separated|trilinear
                            where a cell's corners do not tell its topology: samples
                            inside, across a face's diagonal, are apart, or all is
                            as the trilinear interpolant has it, tunnels included
                            (not with --labels; default: separated)
      --caps                close the surface where it leaves the volume
      --flip                inside is below the isovalue: reverse the orientation of
                            triangles and normals
      --largest             keep each part's component with the most triangles
      --drop-degenerate     leave out triangles with two equal corners, which there
                            are where 32-bit floats do not tell neighbouring
                            vertices apart: axes of more than 8192 samples; what is
                            closed stays closed, but edges of four triangles may
                            arise
      --collapse S          collapse edges shorter than this share of the samples'
                            spacing (0.4, say), so that most slivers go; what is
                            closed and a manifold stays so (not with --soup,
                            --slabs, --index; 0 to 1; default: 0)

Output:
  -o, --output FILE         the mesh: .ply .stl .obj .glb .vtp
      --png FILE            a picture of it (not with --quads)
      --debug-cells FILE    a picture of the triangles of each cell, slice beside
                            slice: 0 to 5 (or more) are black, blue, green, yellow,
                            orange, red; of the samples alone, without what --caps
                            adds or --largest drops (for volumes; not with --labels,
                            --iso V,V..., --iso A:B:N)
      --by triangles|place  colours of that picture; place: x in red, y in green, z
                            in blue, of the cells that have triangles, which are
                            also shown side by side, as compaction leaves them (for
                            volumes; needs --debug-cells; default: triangles)
      --cells FILE.npy      the number of each triangle's cell: that of its lowest
                            sample, x + nx (y + ny z) (for volumes; needs --output
                            or --png; not with --simplify, --simplify-error)
      --normals none|forward|central|sobel
                            how normals follow from the samples (default: central)
      --attribute FILE|NAME[,NAME...]
                            a volume of the same size whose values are put on the
                            vertices; of points the names of what they carry, as
                            info lists them, such as velocity,color: its mean by the
                            kernel (for volumes or points; needs --output or --png;
                            not with --color)
      --soup                three vertices for each triangle, no indices (needs
                            --output or --png; not with --smooth, --separate,
                            --quads, --collapse, --indices64, --simplify,
                            --simplify-error)
      --indices64           64-bit indices, for more than 2^32 vertices (needs
                            --output; not with --soup, --simplify, --simplify-error)
      --simplify RATIO|N    fewer triangles: a share below 1, such as 0.1, or a
                            number; vertices that stay keep their place, normal and
                            values, and where labels meet they all stay, so that for
                            labels --simplify-error is better; what is closed stays
                            closed, triangles have an area, edges of four triangles
                            are cut apart, and small parts go (needs --output or
                            --png; not with --separate, --quads, --soup, --cells,
                            --indices64, --slabs, --index, --iso V,V..., --iso
                            A:B:N)
      --simplify-error E    as few triangles as leave the surface about where it
                            was: E, in the input's units, bounds the mean over the
                            planes that a vertex stands for, and single points lie
                            farther; with --simplify, what is reached first (needs
                            --output or --png; not with --separate, --quads, --soup,
                            --cells, --indices64, --slabs, --index, --iso V,V...,
                            --iso A:B:N; 1e-30 or more)
      --check               tell how far the vertices that were there lie from the
                            simplified mesh, and which of its triangles meet others
                            (needs --simplify or --simplify-error)

Input (for volumes):
      --dims X,Y,Z          samples along x (fastest), y and z; also read from a
                            name such as engine_256x256x128_uint8.raw.gz (for
                            headerless volumes; needs --type)
      --type u8|i8|u16|i16|u32|i32|u64|i64|f16|f32|f64
                            type of the samples; the names of numpy and C do, too,
                            such as uint16 or >u2 (for headerless volumes; needs
                            --dims)
      --big-endian          byte order of the samples (default: little-endian; for
                            headerless volumes)
      --skip BYTES          bytes before the first sample, unzipped (for headerless
                            volumes)
      --spacing A,B,C       spacing of samples along x, y and z, or one number for
                            all three, in place of the file's own; with a unit, such
                            as 0.5mm or 200um,200um,1mm, that is the volume's
      --frame N             which volume of a 4-D file, or component of a vector
                            file (0 to 4294967295; default: 0)

Volumes larger than memory:
      --slabs LAYERS        read, work and write in slabs of this many layers (of
                            points: of their field), for the same mesh; 0: where a
                            volume needs more than --memory, or half of what is
                            free, and where that is faster: on the CPU, a raw volume
                            or a compressed one (not with --separate, --collapse,
                            --simplify, --simplify-error; 0 to 1000000000; default:
                            0)
      --index FILE          what 'trommel index' made of the volume: bricks that the
                            surface does not cross are not read, where samples are
                            raw and in one file (for volumes; not with --smooth,
                            --separate, --quads, --collapse, --simplify,
                            --simplify-error)

Sequences:
      --frames FIRST-LAST   of an input named with %04d: these numbers, each of
                            which must be there (default: the files that are)
      --resume              leave frames alone whose outputs are there and newer
                            than their inputs; whether other options made them is
                            not looked at

Field (for points):
      --field sum|distance|density|anisotropic
                            sum of a kernel around each point, distance to spheres
                            around them, or density as smoothed particle
                            hydrodynamics has it: a sum of cubic splines, each
                            divided by those of all points at its own, about 1
                            inside, with the surface at 0.6; anisotropic: a density
                            of ellipsoids that follow the surface, so that it has no
                            bumps (default: sum)
      --kernel wendland|poly6|metaball
                            shape of the kernel (not with --field density, --field
                            anisotropic; default: wendland)
      --radius R            reach of a point; 0: the file's, or from the points'
                            median spacing (0 or more; default: 0)
      --cell L|Sr           spacing of the field's samples in the points' units, or
                            as a share of the radius, as 0.25r, on a lattice through
                            0 that all frames of a sequence share, so that what
                            stands still does not flicker; a half to an eighth of
                            the radius (default: from --resolution; not with
                            --resolution)
      --bounds X0:X1,Y0:Y1,Z0:Z1
                            the field's box in the points' units; an empty end is
                            the points' own; --caps closes what it cuts
      --resolution N        samples along the field's longest side (not with --cell;
                            2 to 16384; default: 128)

Picture (needs --png):
      --size WxH            in pixels (default: 1200x900)
      --view AZ,EL          turn about the vertical and elevation, in degrees (-360
                            to 360; default: 30,20)
      --up auto|z|y|x|-z|-y|-x
                            the axis that points up; auto: y for OBJ and glTF, z for
                            all others. A GLB, which is y-up, is turned by it (needs
                            --png or --output FILE.glb; default: auto)
      --color RRGGBB        of the surface; several parts and attributes bring their
                            own (not with --attribute, --iso V,V..., --iso A:B:N,
                            --labels all, --labels N,N...; default: d9c7a8)

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
  trommel surface head.nii.gz --iso 300 -o skull.ply --png skull.png
  trommel surface engine_256x256x128_uint8.raw.gz -o engine.glb
  trommel surface particles.vtk --attribute velocity -o water.vtp
  trommel surface atlas.nrrd --labels all -o organs.vtp
  trommel surface atlas.nrrd --labels all --smooth 16 -o organs.ply
  trommel surface atlas.nrrd --labels all --separate -o organ_%d.stl
  trommel surface frame_%04d.ply --radius 0.1 --cell 0.02 -o water_%04d.ply --resume
$ trommel index -h
Usage: trommel index [OPTION...] IN

Finds the range of each brick of a volume, for surfaces of large files.

  -o, --output FILE         the index; default: IN with .tmx after it
      --dims X,Y,Z          samples along x, y and z of a headerless file
      --help                all options, with defaults and ranges
$ trommel index --help
Usage: trommel index [OPTION...] IN

Finds the range of each brick of a volume, for surfaces of large files.

IN is a volume. Its bricks' least and largest samples go into a file of 1/128 of its
samples' number in bytes. With it, 'trommel surface --index' looks only at bricks
that the surface crosses, and of raw samples in one file reads no others, but for
512 rows (up to 16 MiB all) by which the index of another volume is known.

Output:
  -o, --output FILE         the index, for 'surface --index': .tmx (default: IN with
                            .tmx after it)

Input (for volumes):
      --dims X,Y,Z          samples along x (fastest), y and z; also read from a
                            name such as engine_256x256x128_uint8.raw.gz (for
                            headerless volumes; needs --type)
      --type u8|i8|u16|i16|u32|i32|u64|i64|f16|f32|f64
                            type of the samples; the names of numpy and C do, too,
                            such as uint16 or >u2 (for headerless volumes; needs
                            --dims)
      --big-endian          byte order of the samples (default: little-endian; for
                            headerless volumes)
      --skip BYTES          bytes before the first sample, unzipped (for headerless
                            volumes)
      --spacing A,B,C       spacing of samples along x, y and z, or one number for
                            all three, in place of the file's own; with a unit, such
                            as 0.5mm or 200um,200um,1mm, that is the volume's
      --frame N             which volume of a 4-D file, or component of a vector
                            file (0 to 4294967295; default: 0)

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
  trommel index big.nhdr -o big.tmx
  trommel surface big.nhdr --index big.tmx --iso 120 -o big.ply
$ trommel collide -h
Usage: trommel collide [OPTION...] A [B]

Finds which triangles of two meshes meet, exactly.

      --translate X,Y,Z     move B
      --rotate X,Y,Z        before that, rotate B about x, y, z, in degrees
      --pose FILE           many poses of B, a matrix each
      --find pairs|first|count|distance|inside  what of all this
      --self                which triangles of A meet each other
      --fail-if never|contact|none  exit with 3 if they meet, or do not
      --method auto|depth-first|breadth-first  on the CPU, or as a stream
  -o, --output FILE         the pairs: .csv .json .npy
      --png FILE            a picture of the triangles that meet
      --help                all options, with defaults and ranges
$ trommel collide --help
Usage: trommel collide [OPTION...] A [B]

Finds which triangles of two meshes meet, exactly.

A and B are meshes (OBJ, PLY, STL, OFF, glTF, VTP), found by content; polygons are
cut into triangles. Each pair of triangles that have a point in common is found,
with its class: crossing (along a line), touching (at a corner or edge), coplanar
(overlapping in one plane), degenerate (one of them has no area). The answer is
exact for the vertices as the pose leaves them, in 32-bit floats: no tolerance, no
pair missed or made up.

Triangles count from 0. A mesh inside of the other one, touching it nowhere, meets
it nowhere; --find inside tells which of its vertices are in there, or which points
where B is points (XYZ, PCD, LAS, VTK, PLY without faces). A must then be closed.

Where B is:
      --translate X,Y,Z     translate B, in the meshes' units (not with --pose,
                            --self; default: 0,0,0)
      --rotate X,Y,Z        before that, rotate it about x, then y, then z, in
                            degrees (not with --pose, --self; default: 0,0,0)
      --scale S             before that, scale it by this factor (not with --pose,
                            --self; 1e-30 to 1e+30; default: 1)
      --pose FILE           many poses instead: a matrix of 12 or 16 numbers a line,
                            row by row, that takes B to A; or NPY of (n,3,4) or
                            (n,4,4) (not with --translate, --rotate, --scale, --find
                            inside, --self)

What to find:
      --find pairs|first|count|distance|inside
                            pairs: which triangles meet; first: one pair for each
                            pose, whether they meet at all; count: how many pairs,
                            and not which; distance: the smallest distance of A and
                            B instead, and where it is; inside: which of B's
                            vertices, or of points, lie in A (default: pairs)
      --inside even-odd|winding|solid-angle
                            where a ray crosses A an odd number of times; or where A
                            winds about the point, as it does in each of several
                            parts that overlap; or, of an A that may be open, where
                            it covers half of all directions or more (needs --find
                            inside; default: even-odd)
      --self                which triangles of A meet each other; neighbours only
                            where they meet elsewhere, too (not with --find
                            distance, --find inside, --pose, --translate, --rotate,
                            --scale)
      --classes NAME[,NAME...]
                            only pairs that are crossing, touching, coplanar or
                            degenerate (default: all; not with --find distance,
                            --find inside)
      --fail-if never|contact|none
                            exit with 3, outputs written, where there is contact in
                            some pose, or none in any; --classes chooses what
                            counts, and --find first is quickest (default: never)
      --method auto|depth-first|breadth-first
                            how pairs of boxes are followed: one by one on the CPU,
                            or as a stream on the device; the answer is the same,
                            but for which pair --find first gives (default: auto)
      --skip-broken         leave out triangles with coordinates that are too large,
                            instead of refusing the mesh

Output:
  -o, --output FILE         the pairs, or of --find count and distance what there is
                            for each pose, of inside for each point: .csv .json, and
                            of all but distance .npy
      --segments FILE       the lines along which triangles cross: .obj (not with
                            --find count, --find distance, --find inside)
      --png FILE            a picture of both, in the first pose with a pair, the
                            triangles that meet lit (not with --find count, --find
                            inside)

Picture (needs --png):
      --size WxH            in pixels (default: 1200x900)
      --view AZ,EL          turn about the vertical and elevation, in degrees (-360
                            to 360; default: 30,20)
      --up auto|z|y|x|-z|-y|-x
                            the axis that points up; auto: y for OBJ and glTF, z for
                            all others. A GLB, which is y-up, is turned by it (needs
                            --png or --output FILE.glb; default: auto)
      --fit contact|all     what fills the picture (default: contact)

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
  trommel collide robot.obj room.obj --translate 0,0,1.5 --png contact.png
  trommel collide part.stl --self -o pairs.csv --segments lines.obj
  trommel collide a.ply b.ply --pose poses.npy --find count -o counts.csv
  trommel collide a.ply b.ply --find distance
  trommel collide part.stl scan.xyz --find inside -o sides.npy
  trommel collide part.stl housing.stl --find first --fail-if contact -q
$ trommel subdivide -h
Usage: trommel subdivide [OPTION...] IN

Makes smooth surfaces from coarse meshes, everywhere alike or where needed.

      --levels N            divide every triangle into four N times
      --edge L              until no edge is longer than L
      --pixels P            until no edge is longer than P pixels in the picture
      --budget N            make no more than N triangles
      --limit               put the vertices on the limit surface
  -o, --output FILE         the mesh: .ply .stl .obj .glb .vtp
      --png FILE            a picture of it, a colour for each level
      --help                all options, with defaults and ranges
$ trommel subdivide --help
Usage: trommel subdivide [OPTION...] IN

Makes smooth surfaces from coarse meshes, everywhere alike or where needed.

IN is a mesh (OBJ, PLY, STL, OFF, glTF, VTP), found by content; polygons are cut
into triangles. Loop's scheme, as OpenSubdiv has it: boundaries, creases, any number
of triangles around a vertex.

With --edge, --pixels, --angle or --distance only what is too coarse is divided;
vertices lie on the limit surface, there are no cracks, and the mesh is closed where
the input is. With --pixels, --png is the very picture whose pixels were counted,
unless --camera says where from.

How fine:
      --levels N            divide every triangle into four N times (default: 2,
                            when nothing else is asked; not with --edge, --pixels,
                            --angle, --distance; 0 to 12)
      --edge L              until no edge is longer, in the mesh's units (not with
                            --levels, --pixels, --angle, --distance, --limit; 1e-30
                            to 1e+30)
      --pixels P            until no edge is longer in the picture of --size that
                            --view shows, or --camera; what it does not show stays
                            coarse (not with --levels, --edge, --angle, --distance,
                            --limit; 0.001 to 1000000)
      --angle D             until the surface turns by no more degrees along or
                            across an edge (not with --levels, --edge, --pixels,
                            --distance, --limit; 0.001 to 180)
      --distance L          until no edge's middle is farther from the surface, in
                            the mesh's units (not with --levels, --edge, --pixels,
                            --angle, --limit; 1e-30 to 1e+30)
      --depth N             divide no triangle more often than that (needs --edge,
                            --pixels, --angle or --distance; 1 to 12; default: 8)
      --budget N            make no more triangles: alone the deepest level that
                            fits, with --levels at most that one, elsewhere the
                            largest errors go first; 0: any number (0 to 4294967295;
                            default: 0)
      --camera X,Y,Z,TX,TY,TZ[,FOV]|FILE
                            a camera instead of --view: where the eye is, where it
                            looks, and the angle from bottom to top in degrees; --up
                            is up. Or a text of 16 numbers, the matrix from the
                            camera to the world, row by row; it looks along its -z,
                            its y is up, as in glTF, Blender and NeRF's transforms
                            (needs --pixels)
      --fov DEGREES         angle from the picture's bottom to its top, where
                            --camera has none (needs --camera; 0.1 to 170; default:
                            45)

The surface:
      --limit               put the vertices where infinitely many levels would;
                            --edge, --pixels, --angle and --distance always do (not
                            with --edge, --pixels, --angle, --distance)
      --normals none|limit  of the limit surface (default: none)
      --creases file|none|angle:D
                            sharp edges: those of the file (OBJ), none, or where
                            triangles meet at more degrees (default: file)
      --sharpness S         of those edges, in levels; 10 and more: infinitely sharp
                            (needs --creases angle:D; 0 to 1000000; default: 10)
      --boundary smooth|corners|pinned
                            a curve, one that keeps the corners of single triangles,
                            or the boundary as it is (default: smooth)
      --seams corners|smooth|pinned|linear
                            the same for texture coordinates (needs --output
                            FILE.obj; default: corners)
      --warren              Warren's weights instead of Loop's own
      --slivers             close gaps between levels by thin triangles instead of
                            dividing neighbours (needs --edge, --pixels, --angle or
                            --distance)

Input:
      --weld auto|never|always
                            make vertices at equal places one; auto: in STL and glTF
                            (default: auto)
      --fix                 repair inconsistent orientation, duplicate faces, edges
                            of more than two triangles and vertices of several fans,
                            instead of refusing them

Output:
  -o, --output FILE         the mesh: .ply .stl .obj .glb .vtp; texture coordinates
                            need .obj
      --png FILE            a picture of its triangles, a colour for each level

Picture (needs --png or --pixels):
      --size WxH            in pixels (default: 1200x900)
      --view AZ,EL          turn about the vertical and elevation, in degrees (-360
                            to 360; default: 30,20)
      --up auto|z|y|x|-z|-y|-x
                            the axis that points up; auto: y for OBJ and glTF, z for
                            all others. A GLB, which is y-up, is turned by it (needs
                            --png, --pixels or --output FILE.glb; default: auto)

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
  trommel subdivide spot.obj -o smooth.ply --levels 3 --limit --normals limit
  trommel subdivide bolt.stl -o bolt.ply --angle 5 --creases angle:40 --png bolt.png
  trommel subdivide hero.obj --pixels 4 --view 60,10 --png view.png
  trommel subdivide hero.obj -o view.obj --pixels 4 --camera 2,-6,3,0,0,1
$ trommel exposure -h
Usage: trommel exposure [OPTION...] IN...

Measures pictures, exposes and tone-maps them.

      --meter average|centre|spot|matrix|FILE  which pixels count how much
      --clip LOW,HIGH       leave out the darkest and the brightest percent
      --ev STOPS            bias: +1 is twice as bright
  -o, --output FILE         the picture: .png, or linear .exr .pfm .hdr
      --tone NAME           tone curve, such as agx or srgb (none)
      --histogram FILE      a plot of the histogram (.svg)
      --help                all options, with defaults and ranges
$ trommel exposure --help
Usage: trommel exposure [OPTION...] IN...

Measures pictures, exposes and tone-maps them.

IN is a picture: Radiance, PFM, PNG, JPEG or OpenEXR, found by content. Every pixel
is measured once, so that one of N weighs exactly 1/N. NaN and infinite pixels are
counted and left out.

The picture is multiplied by key / average * 2^ev. Several inputs are frames of a
sequence: the average follows what is measured at the speed of --adapt.

Of several processes (trommel-mpi) each takes one frame of as many.

Measuring:
      --meter average|centre|spot|matrix|FILE
                            which pixels weigh how much; FILE: a picture, laid over
                            the region, black where pixels are left out and white
                            where they weigh most (default: average)
      --region X0:X1,Y0:Y1  only pixels X0 up to, not including, X1 and so on, from
                            the top left; an empty end is the picture's
      --luminance rec709|rec2020|acescg|max-rgb
                            how red, green and blue make luminance (not with
                            --weights; default: rec709)
      --weights R,G,B       luminance by these shares of the three, scaled to a sum
                            of 1 (not with --luminance; 0 to 1000000)
      --floor L             luminances below it count as it; 0: pixels that are
                            black (below 2^-100) or negative are left out of the
                            mean of logarithms and of the histogram (0 to 1e+30;
                            default: 0)
      --linear              PNG and JPEG hold linear values (default: sRGB, unless
                            the file says otherwise; for pictures of integers)
      --values linear|log2|ln|log10
                            what a picture of floats holds: linear values, or
                            logarithms, as a pass leaves them that meters by log
                            luminance (for pictures of floats; default: linear)

Exposure:
      --by mean|median      the average is this of the logarithms (not with --ev100,
                            --percentile; default: mean)
      --percentile P        the average is the luminance than which that many
                            percent of the pixels are darker (not with --by,
                            --ev100, --clip; 0 to 100)
      --clip LOW,HIGH       the mean only between these percentages of the pixels,
                            from dark to bright (needs --by mean; not with
                            --percentile, --ev100; 0 to 100)
      --ev100 EV            this exposure value at ISO 100, whatever was measured:
                            as if the average were 2^(EV - 3) cd/m2 (not with --by,
                            --percentile, --clip; -100 to 100)
      --ev STOPS            bias: +1 is twice as bright (-100 to 100; default: 0)
      --key GREY            what the average becomes, of a white of 1 (1e-06 to
                            1000000; default: 0.18)
      --limits MIN,MAX      the average's EV100 stays between these (default: no
                            limits; -100 to 100)

Sequences (for sequences):
      --adapt UP[,DOWN]     speed in stops a second, towards brighter and towards
                            darker pictures (default: 3,1; not with --no-adapt;
                            0.001 to 1000000)
      --fps N               frames a second (not with --no-adapt; 0.001 to 1000000;
                            default: 30)
      --no-adapt            each picture by itself (not with --adapt, --fps)
      --frames FIRST-LAST   of an input named with %04d: these numbers, each of
                            which must be there (default: the files that are)

Output:
  -o, --output FILE         the picture, exposed and tone-mapped: .png, or .exr,
                            .pfm and .hdr with linear values; of several inputs with
                            %04d for the number: the input's, or from 0
      --tone srgb|reinhard|reinhard-extended|hable|aces-fit|agx|neutral
                            tone curve; srgb: none, clipped at 1 (needs --output;
                            default: agx)
      --white L             the exposed luminance that becomes white (needs
                            --output; needs --tone reinhard-extended; 0.001 to
                            1000000; default: 4)
      --bits auto|8|16|32   bits of each channel: 8 or 16 of a .png, 16 (half
                            floats) or 32 of an .exr; auto: 8 and 32 (needs --output
                            FILE.png or --output FILE.exr; default: auto)
      --histogram FILE      a plot of the histogram (.svg), with mean, median, clip
                            and middle grey
      --ascii               draw the summary's histogram in ASCII (default where the
                            locale is not UTF-8) (for one input; not with --json,
                            --quiet)

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
  trommel exposure scene.hdr -o scene.png --histogram histogram.svg
  trommel exposure scene.exr --meter centre --clip 5,95 --ev +1 -o scene.png
  trommel exposure frame*.exr --adapt 3,1 --fps 24 -o out%04d.png
  trommel exposure photo.jpg --json
$ trommel mips -h
Usage: trommel mips [OPTION...] IN

Makes the mip chain of a picture of any size.

      --filter area|kaiser  mean of the area, or sharper
      --levels N            how many levels; default: down to 1 x 1
      --log                 levels of log2 of luminance
  -o, --output FILE         name.png: writes name_0.png, name_1.png ...
      --sheet FILE.png      a picture of the smaller levels
      --help                all options, with defaults and ranges
$ trommel mips --help
Usage: trommel mips [OPTION...] IN

Makes the mip chain of a picture of any size.

IN is a picture: Radiance, PFM, PNG, JPEG or OpenEXR, found by content. A level has
half of the width and height of the one above, rounded down, at least 1. Averages
are of linear light and of unpremultiplied alpha.

Levels:
      --filter area|kaiser  area: each texel is the mean of the area it covers,
                            exact for every size; kaiser: sharper, may ring
                            (default: area)
      --levels N            how many, the picture itself counted; 0: down to 1 x 1
                            (0 to 64; default: 0)
      --last                write the last of the levels alone
      --log                 from level 1 on, of log2 of Rec. 709 luminance, of 2^-16
                            at least: for local exposure; to .exr or .pfm
      --linear              PNG and JPEG hold linear values, normals say (default:
                            sRGB, unless the file says otherwise; for pictures of
                            integers)
      --values linear|log2|ln|log10
                            what a picture of floats holds: linear values, or
                            logarithms, as a pass leaves them that meters by log
                            luminance. Levels are linear, but with --log (for
                            pictures of floats; default: linear)

Output:
  -o, --output FILE         name.png: writes name_0.png, name_1.png ..., level 0
                            being the picture; the number may stand elsewhere, as
                            %02d. Integers become .png, floats .exr, or .pfm or .hdr
                            without alpha
      --sheet FILE.png      a picture of the levels from the first that fits into
                            256 x 256 pixels on, side by side, enlarged; floats so
                            that their mean is a middle grey

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
  trommel mips albedo.png -o albedo.png
  trommel mips sky.hdr --filter kaiser -o sky_%02d.hdr
  trommel mips sky.hdr --sheet levels.png
  trommel mips sky.hdr --log --levels 5 --last -o surroundings.exr
$ trommel info -h
Usage: trommel info [OPTION...] FILE

Tells what is in a volume, point, mesh or picture file.

      --dims X,Y,Z          samples along x, y and z of a headerless file
      --help                all options, with defaults and ranges
$ trommel info --help
Usage: trommel info [OPTION...] FILE

Tells what is in a volume, point, mesh or picture file.

Volumes: NRRD, NIfTI-1/2, MetaImage, MRC/CCP4, NPY, VTK (.vtk, .vti), TIFF, DICOM,
of these two also a folder of slices, and headerless samples (--dims and --type).
Points: PLY, XYZ, PCD, LAS, VTK, VTU, BGEO. Meshes: OBJ, PLY, STL, OFF, glTF, VTP.
Pictures: Radiance, PFM, PNG, JPEG, OpenEXR. Indices that 'trommel index' made. The
format is found by content. The histogram's height is logarithmic.

Input (for volumes):
      --dims X,Y,Z          samples along x (fastest), y and z; also read from a
                            name such as engine_256x256x128_uint8.raw.gz (for
                            headerless volumes; needs --type)
      --type u8|i8|u16|i16|u32|i32|u64|i64|f16|f32|f64
                            type of the samples; the names of numpy and C do, too,
                            such as uint16 or >u2 (for headerless volumes; needs
                            --dims)
      --big-endian          byte order of the samples (default: little-endian; for
                            headerless volumes)
      --skip BYTES          bytes before the first sample, unzipped (for headerless
                            volumes)
      --spacing A,B,C       spacing of samples along x, y and z, or one number for
                            all three, in place of the file's own; with a unit, such
                            as 0.5mm or 200um,200um,1mm, that is the volume's
      --frame N             which volume of a 4-D file, or component of a vector
                            file (0 to 4294967295; default: 0)

Output:
      --ascii               draw the histogram in ASCII (default where the locale is
                            not UTF-8) (for volumes or pictures; not with --json)
      --png FILE            a picture of up to 16 slices of a volume, with the
                            isovalue's line in red and missing samples in blue (for
                            volumes)
      --iso V               of that line (default: by Otsu's method; for volumes;
                            needs --png)

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
  -h, --help                --help: print this and end; -h: the most used options, a
                            line each

Examples:
  trommel info head.nii.gz
  trommel info samples.raw --dims 256,256,128 --type u16 --big-endian
  trommel info part.stl --json
$ trommel draw -h
Usage: trommel draw [OPTION...] MESH

Draws a mesh into a picture.

  -o, --output FILE         the picture (.png)
      --size WxH            in pixels
      --view AZ,EL          turn about the vertical and elevation, in degrees
      --up auto|z|y|x|-z|-y|-x  the axis that points up
      --color RRGGBB        of the surface (d9c7a8)
      --background studio|none|RRGGBB  studio, a colour, or none
      --help                all options, with defaults and ranges
$ trommel draw --help
Usage: trommel draw [OPTION...] MESH

Draws a mesh into a picture.

The camera takes in the whole mesh; but where that is more than half as large again
as what holds 95 % of its area, such as with crumbs far away, only that. --png of
other commands makes such pictures of their results.

Picture:
  -o, --output FILE         the picture: .png
      --size WxH            in pixels (default: 1200x900)
      --view AZ,EL          turn about the vertical and elevation, in degrees (not
                            with --camera; -360 to 360; default: 30,20)
      --up auto|z|y|x|-z|-y|-x
                            the axis that points up; auto: y for OBJ and glTF, z for
                            all others. A GLB, which is y-up, is turned by it
                            (default: auto)
      --camera X,Y,Z,TX,TY,TZ[,FOV]|FILE
                            a camera instead of --view: where the eye is, where it
                            looks, and the angle from bottom to top in degrees; --up
                            is up. Or a text of 16 numbers, the matrix from the
                            camera to the world, row by row; it looks along its -z,
                            its y is up, as in glTF, Blender and NeRF's transforms
                            (not with --view)
      --fov DEGREES         angle from the picture's bottom to its top, where
                            --camera has none (needs --camera; 0.1 to 170; default:
                            45)
      --color RRGGBB        of the surface (default: d9c7a8)
      --background studio|none|RRGGBB
                            studio: light grey and the mesh's shadow; none:
                            transparent (default: studio)

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
  trommel draw bunny.ply -o bunny.png
  trommel draw part.stl --view 120,35 --background none -o part.png
  trommel draw room.glb --camera pose.txt --fov 60 -o view.png
    what a camera saw: its matrix from camera to world
$ trommel convert -h
Usage: trommel convert [OPTION...] IN

Writes a volume, points, a mesh or a picture in another format.

  -o, --output FILE         the file; its ending names the format
      --simplify RATIO|N    to a share of the triangles, or to N of them
      --dims X,Y,Z          samples along x, y and z of a headerless file
      --help                all options, with defaults and ranges
$ trommel convert --help
Usage: trommel convert [OPTION...] IN

Writes a volume, points, a mesh or a picture in another format.

IN is a volume (a DICOM series by its folder or one of its files, a TIFF stack or
folder of slices, VTK, NRRD and others), points, a mesh or a picture, found by
content. Samples, positions and pixels stay what they are; PNG and JPEG become
floats of linear light where the output has floats, and floats never become a PNG,
for which 'trommel exposure' is. Polygons are cut into triangles.

Output:
  -o, --output FILE         the file; volumes: .nrrd .mha .npy .raw; points: .ply;
                            meshes: .ply .stl .obj .glb .vtp; pictures: .png .exr
                            .hdr .pfm

Place and size (for points or meshes):
      --scale S|X,Y,Z       multiply coordinates, such as by 25.4 to make
                            millimetres of inches; three factors are for x, y and z,
                            and what they mirror keeps its outside (default: 1)
      --rotate X,Y,Z        then rotate about x, then y, then z, in degrees, about 0
                            (default: 0,0,0)
      --translate X,Y,Z     then translate (default: 0,0,0)

Meshes (for meshes):
      --weld auto|never|always
                            make vertices at equal places one; auto: in STL
                            (default: auto)
      --up auto|z|y|x|-z|-y|-x
                            the axis that points up in IN; a GLB is y-up, so its
                            node turns the mesh; auto: y for OBJ and glTF, z for all
                            others (needs --output FILE.glb; default: auto)
      --smooth N            smooth N times (10 to 30, say) by Taubin's two steps,
                            before --simplify: what is large stays as large,
                            boundaries stay, and normals follow the triangles (0 to
                            1000; default: 0)
      --simplify RATIO|N    fewer triangles: a share below 1, such as 0.1, or a
                            number; vertices that stay keep their place, normal and
                            values, and where labels meet they all stay, so that for
                            labels --simplify-error is better; what is closed stays
                            closed, triangles have an area, edges of four triangles
                            are cut apart, and small parts go (for meshes)
      --simplify-error E    as few triangles as leave the surface about where it
                            was: E, in the input's units, bounds the mean over the
                            planes that a vertex stands for, and single points lie
                            farther; with --simplify, what is reached first (for
                            meshes; 1e-30 or more)
      --check               tell how far the vertices that were there lie from the
                            simplified mesh, and which of its triangles meet others
                            (needs --simplify or --simplify-error)

Pictures (for pictures of integers):
      --linear              PNG and JPEG hold linear values (default: sRGB, unless
                            the file says otherwise)

Input (for volumes):
      --dims X,Y,Z          samples along x (fastest), y and z; also read from a
                            name such as engine_256x256x128_uint8.raw.gz (for
                            headerless volumes; needs --type)
      --type u8|i8|u16|i16|u32|i32|u64|i64|f16|f32|f64
                            type of the samples; the names of numpy and C do, too,
                            such as uint16 or >u2 (for headerless volumes; needs
                            --dims)
      --big-endian          byte order of the samples (default: little-endian; for
                            headerless volumes)
      --skip BYTES          bytes before the first sample, unzipped (for headerless
                            volumes)
      --spacing A,B,C       spacing of samples along x, y and z, or one number for
                            all three, in place of the file's own; with a unit, such
                            as 0.5mm or 200um,200um,1mm, that is the volume's
      --frame N             which volume of a 4-D file, or component of a vector
                            file (0 to 4294967295; default: 0)

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
  trommel convert scans/ct -o ct.nrrd
  trommel convert part.stl -o part.glb
  trommel convert part_inches.stl --scale 25.4 -o part_mm.stl
  trommel convert survey.las -o survey.ply
  trommel convert sky.hdr -o sky.exr
$ trommel devices -h
Usage: trommel devices [OPTION...]

Lists the devices that this machine offers, best first.

  -v, --verbose             also the tests of OpenGL ES devices
      --measure             measure what --backend auto decides by, and keep it
      --help                all options, with defaults and ranges
$ trommel devices --help
Usage: trommel devices [OPTION...]

Lists the devices that this machine offers, best first.

--device takes a number or part of a name from this list.

What to list:
  -v, --verbose             also what OpenGL ES devices were seen to do, and the
                            path that is chosen for it; with --measure also GPUs in
                            software, which --backend auto does not take
      --measure             measure what --backend auto weighs, on an idle machine,
                            a few seconds for each GPU: how long opening and closing
                            it and compiling its pipelines take, copies to it and
                            from it, and how fast this processor makes surfaces;
                            kept in $XDG_CACHE_HOME/trommel or ~/.cache/trommel
                            until processor, GPUs or drivers change

Messages:
      --json                print the summary as one JSON object
  -h, --help                --help: print this and end; -h: the most used options, a
                            line each

Examples:
  trommel devices
  trommel devices --verbose --json
$ trommel compact -h
Usage: trommel compact [OPTION...] IN

Keeps the elements of an array that lie in a range or are not zero.

      --at-least A          keep those not below A
      --at-most B           keep those not above B
      --nonzero             keep those that are not 0
  -o, --output FILE.npy     where to write
      --indices             write positions instead of elements
      --help                all options, with defaults and ranges
$ trommel compact --help
Usage: trommel compact [OPTION...] IN

Keeps the elements of an array that lie in a range or are not zero.

The elements stay in their order. Bounds are included; for integers a fractional
bound counts inwards. Arrays are NPY; with --xyz and --crossed the input is a volume
in any format that surface takes.

Which elements to keep:
      --at-least A          those not below A (not with --nonzero, --crossed)
      --at-most B           those not above B (not with --nonzero, --crossed)
      --nonzero             those that are not 0 (NaN is not 0) (not with
                            --at-least, --at-most, --crossed)
      --crossed V           of a volume's cells, those that the isovalue V crosses,
                            each by its lowest sample (not with --at-least,
                            --at-most, --nonzero)

Output:
  -o, --output FILE.npy     where to write
      --xyz                 write the x, y, z of the kept samples of a volume (u32,
                            a row each), x along a row of samples, as the columns of
                            numpy's argwhere from the last one on (not with
                            --indices)
      --values FILE.npy     write the kept samples themselves, too (needs --xyz)
      --indices             write the positions of the kept elements (u64), not the
                            elements (not with --xyz)
      --method auto|look-back|reduce-then-scan|histopyramid
                            how counts become positions; the result is the same
                            (default: auto)

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
  trommel compact in.npy --at-least 0.5 -o out.npy
  trommel compact scan.nii.gz --crossed 300 --xyz -o cells.npy
  trommel compact labels.npy --nonzero --indices -o where.npy
$ trommel scan -h
Usage: trommel scan [OPTION...] IN.npy

Writes the running sums of an array, or its least or largest so far.

      --fold sum|min|max    sums, or the least or largest so far
      --start V             a number before the first element
      --inclusive           let each result include its own element
  -o, --output FILE.npy     where to write
      --help                all options, with defaults and ranges
$ trommel scan --help
Usage: trommel scan [OPTION...] IN.npy

Writes the running sums of an array, or its least or largest so far.

Sums of integers are written as u64 or i64, sums of floats in the input's type (f16
as f32), extremes in the input's type (of at least 32 bits).

Scan:
      --fold sum|min|max    what of the elements so far: their sum, the least or the
                            largest; the latter two pass over NaN (default: sum)
      --start V             a number that comes before the first element (default:
                            of sums 0, else the type's largest or smallest)
      --inclusive           let each result include its own element (default:
                            exclude it)
  -o, --output FILE.npy     where to write

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
  trommel scan counts.npy -o offsets.npy
  trommel scan heights.npy --fold max --inclusive -o horizon.npy
$ trommel reduce -h
Usage: trommel reduce [OPTION...] IN.npy

Prints sum, mean, extremes and their positions in an array.

      --sum                 the sum: exact for integers, in double for floats
      --mean                the mean
      --min                 the least element
      --max                 the greatest element
      --argmin              the position of the first least element
      --argmax              the position of the first greatest element
      --help                all options, with defaults and ranges
$ trommel reduce --help
Usage: trommel reduce [OPTION...] IN.npy

Prints sum, mean, extremes and their positions in an array.

Sums of integers are exact modulo 2^64. NaN makes sum and mean NaN.

What to compute (default: all):
      --sum                 the sum: exact for integers, in double for floats
      --mean                the mean
      --min                 the least element; NaN is ignored
      --max                 the greatest element; NaN is ignored
      --argmin              the position of the first least element
      --argmax              the position of the first greatest element

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
  -h, --help                --help: print this and end; -h: the most used options, a
                            line each

Examples:
  trommel reduce in.npy --sum
## No line is longer than 84 characters.
$ for command in surface index collide subdivide exposure mips info convert draw devices compact scan reduce; do trommel $command --help; trommel $command -h; done | awk 'length > 84'
## A manual of macros, without empty lines, for roff.
$ trommel --man | head -20
.TH TROMMEL 1 "" "trommel 0.1.0" "User Commands"
.SH NAME
trommel \- Meshes from volumes and point clouds, collision and subdivision of meshes, exposure of pictures, and streams reduced, scanned, sorted and compacted
.SH SYNOPSIS
.B trommel
\fICOMMAND\fR [\fIOPTION\fR...] [\fIOPERAND\fR...]
.SH DESCRIPTION
\&'trommel COMMAND \-h' shows a command's most used options, \-\-help all. An output appears when it is complete, under its name; one that is an input, by whatever name, or another output is refused before any work. "\-" as an input is standard input; as an output, "\-.glb" is standard output in the format of that ending, and the summary goes to standard error.
.TP
.BR trommel\-surface (1)
Makes the mesh of an isosurface from a volume or from points.
.TP
.BR trommel\-convert (1)
Writes a volume, points, a mesh or a picture in another format.
.TP
.BR trommel\-index (1)
Finds the range of each brick of a volume, for surfaces of large files.
.TP
.BR trommel\-draw (1)
Draws a mesh into a picture.
$ trommel --man mips
.TH TROMMEL-MIPS 1 "" "trommel 0.1.0" "User Commands"
.SH NAME
trommel\-mips \- Makes the mip chain of a picture of any size
.SH SYNOPSIS
.B trommel mips
[\fIOPTION\fR...]
.I "IN"
.SH DESCRIPTION
IN is a picture: Radiance, PFM, PNG, JPEG or OpenEXR, found by content. A level has half of the width and height of the one above, rounded down, at least 1. Averages are of linear light and of unpremultiplied alpha.
.SH OPTIONS
.SS Levels
.TP
\fB\-\-filter\fR \fIarea|kaiser\fR
area: each texel is the mean of the area it covers, exact for every size; kaiser: sharper, may ring (default: area)
.TP
\fB\-\-levels\fR \fIN\fR
how many, the picture itself counted; 0: down to 1 x 1 (0 to 64; default: 0)
.TP
\fB\-\-last\fR
write the last of the levels alone
.TP
\fB\-\-log\fR
from level 1 on, of log2 of Rec. 709 luminance, of 2^\-16 at least: for local exposure; to .exr or .pfm
.TP
\fB\-\-linear\fR
PNG and JPEG hold linear values, normals say (default: sRGB, unless the file says otherwise; for pictures of integers)
.TP
\fB\-\-values\fR \fIlinear|log2|ln|log10\fR
what a picture of floats holds: linear values, or logarithms, as a pass leaves them that meters by log luminance. Levels are linear, but with \-\-log (for pictures of floats; default: linear)
.SS Output
.TP
\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR
name.png: writes name_0.png, name_1.png ..., level 0 being the picture; the number may stand elsewhere, as %02d. Integers become .png, floats .exr, or .pfm or .hdr without alpha
.TP
\fB\-\-sheet\fR \fIFILE.png\fR
a picture of the levels from the first that fits into 256 x 256 pixels on, side by side, enlarged; floats so that their mean is a middle grey
.SS Device and limits
.TP
\fB\-\-backend\fR \fIauto|cpu|vulkan|gl\fR
engine to run on; auto: a GPU where it shortens the whole command, as with millions of points; gl: OpenGL ES (default: auto)
.TP
\fB\-\-device\fR \fINAME\fR
part of a device's name, or its number (trommel devices lists them); by\-rank: of several processes (trommel\-mpi), each machine's take its GPUs in turn
.TP
\fB\-\-threads\fR \fIN\fR
worker threads of the CPU engine; 0: one for each processor (0 to 1024; default: 0)
.TP
\fB\-\-memory\fR \fISIZE\fR
refuse an input that needs more memory than this, such as 512M or 4G; surface goes through a volume that does in slabs
.TP
\fB\-\-strict\fR
refuse a file of which something would be left out or assumed, instead of a warning
.TP
\fB\-\-device\-memory\fR \fISIZE\fR
take no more than this of a GPU's memory on Vulkan; surfaces of larger volumes are made in slabs (not with \-\-backend cpu, \-\-backend gl)
.TP
\fB\-\-gl\-path\fR \fIauto|integer|float|float\-packed|packed\fR
how values travel through textures, on OpenGL ES, instead of the best way that its device passes the tests of (trommel devices \-\-verbose) (not with \-\-backend cpu, \-\-backend vulkan; default: auto)
.TP
\fB\-\-no\-cache\fR
neither read nor keep what a GPU's driver compiled (in $XDG_CACHE_HOME/trommel or ~/.cache/trommel) (not with \-\-backend cpu)
.SS Messages
.TP
\fB\-\-json\fR
print the summary as one JSON object
.TP
\fB\-q\fR, \fB\-\-quiet\fR
print no summary and no progress; errors still show
.TP
\fB\-h\fR, \fB\-\-help\fR
\-\-help: print this and end; \-h: the most used options, a line each
.SH EXAMPLES
.nf
  trommel mips albedo.png \-o albedo.png
  trommel mips sky.hdr \-\-filter kaiser \-o sky_%02d.hdr
  trommel mips sky.hdr \-\-sheet levels.png
  trommel mips sky.hdr \-\-log \-\-levels 5 \-\-last \-o surroundings.exr
.fi
.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
It failed; a message says why.
.TP
.B 2
The command line is wrong.
.TP
.B 3
Done, and what \-\-fail\-if names was found.
.TP
.B 130
Cancelled by Ctrl\-C.
.SH SEE ALSO
.BR trommel (1),
.BR trommel\-surface (1),
.BR trommel\-convert (1),
.BR trommel\-index (1),
.BR trommel\-draw (1),
.BR trommel\-collide (1),
.BR trommel\-distance (1),
.BR trommel\-rays (1),
.BR trommel\-subdivide (1),
.BR trommel\-exposure (1),
.BR trommel\-info (1),
.BR trommel\-devices (1),
.BR trommel\-compact (1),
.BR trommel\-scan (1),
.BR trommel\-sort (1),
.BR trommel\-reduce (1)
$ for command in surface index collide subdivide exposure mips info convert draw devices compact scan reduce; do trommel --man $command; done | grep -c '^$'
0
[1]
$ trommel --completion bash | head -20
# bash completion for trommel, made by: trommel --completion bash
# Folders and the files of these endings; all files where there are none.
_trommel_files() {
    local ending IFS=$'\n'
    COMPREPLY=()
    for ending; do
        COMPREPLY+=($(compgen -f -X "!*$ending" -- "$word") $(compgen -f -X "!*${ending^^}" -- "$word"))
    done
    ((${#COMPREPLY[@]})) && COMPREPLY+=($(compgen -d -- "$word"))
    ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- "$word"))
}
_trommel() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]} options= endings=
    compopt -o filenames 2>/dev/null
    case $command:$before in
        surface:--iso) return ;;
        surface:--labels) return ;;
        surface:--smooth) return ;;
        surface:--region) return ;;
$ trommel --completion zsh | head -8
#compdef trommel
# made by: trommel --completion zsh
local -a commands=(
    'surface:Makes the mesh of an isosurface from a volume or from points'
    'convert:Writes a volume, points, a mesh or a picture in another format'
    'index:Finds the range of each brick of a volume, for surfaces of large files'
    'draw:Draws a mesh into a picture'
    'collide:Finds which triangles of two meshes meet, exactly'
$ trommel --completion fish | head -12
# fish completion for trommel, made by: trommel --completion fish
# Files of these endings first, then folders, then the others.
function __trommel_files
    set -l files (complete -C "__fish_command_without_completions "(commandline -ct))
    set -l endings (string join "|" (string escape --style=regex -- $argv))
    string match -ri -- "^.*(?:$endings)\$" $files
    string match -r -- "^.*/\$" $files
    string join -- \n $files
end
complete -c trommel -n '__fish_use_subcommand' -l version -s V -d 'print the version and end'
complete -c trommel -n '__fish_use_subcommand' -l man -d 'print the man page of the program, or of the command that follows: trommel --man surface | man -l -'
complete -c trommel -n '__fish_use_subcommand' -l json-fields -d 'print what the JSON of --json has, as Markdown'
