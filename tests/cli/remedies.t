## Each message that names a way out, and the way out, followed.
$ cp data/volumes/ball30_gz.nrrd ball.nrrd; cp data/volumes/brain1_label.nrrd atlas.nrrd; cp data/points/points_cloudcompare.xyz p.xyz; cp data/pictures/image1_128x85.hdr sun.hdr; cp data/pictures/basn2c16.png pic.png; printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >tet.obj; printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n' >open.obj; trommel convert tet.obj -o tet.stl -q; trommel convert ball.nrrd -o ball.npy -q; for i in 0 1 2 3 4 5 6 7 8 9; do echo "$i,0,0,0,0,1"; done >line.csv; sed '1ix,y,z,wayx,wayy,wayz' line.csv >ways.csv
## A file or a word in a command's place.
$ trommel ball.nrrd 2>&1 | head -1; trommel info ball.nrrd | head -1; trommel surface ball.nrrd -o ball.ply -q && echo done
trommel: ball.nrrd is a volume, and a command goes before it: 'trommel info ball.nrrd' tells what is in it, 'trommel surface ball.nrrd -o ball.ply' makes a mesh of it
ball.nrrd: volume, NRRD
done
$ trommel p.xyz 2>&1 | head -1; trommel surface p.xyz -o p.ply -q && echo done
trommel: p.xyz is points, and a command goes before it: 'trommel info p.xyz' tells what is in it, 'trommel surface p.xyz -o p.ply' makes a mesh of them
done
$ trommel tet.stl 2>&1 | head -1; trommel draw tet.stl -o tet.png -q && echo done
trommel: tet.stl is a mesh, and a command goes before it: 'trommel info tet.stl' tells what is in it, 'trommel draw tet.stl -o tet.png' makes a picture of it
done
$ trommel pic.png 2>&1 | head -1; trommel exposure pic.png -o pic_exposed.png -q && echo done
trommel: pic.png is a picture, and a command goes before it: 'trommel info pic.png' tells what is in it, 'trommel exposure pic.png -o pic_exposed.png' exposes it
done
$ trommel simplify ball.ply 2>&1 | head -1; trommel convert ball.ply --simplify 10% -o small.ply -q && echo done
trommel: simplify is no command; 'trommel convert MESH --simplify 10% -o NAME.ply' leaves a tenth of a mesh's triangles, and --simplify of 'trommel surface' does at once
done
$ trommel smooth ball.ply 2>&1 | head -1; trommel convert ball.ply --smooth 20 -o round.ply -q && echo done
trommel: smooth is no command; 'trommel convert MESH --smooth 20 -o NAME.ply' smooths a mesh, and --smooth of 'trommel surface' does at once
done
$ trommel weld tet.stl 2>&1 | head -1; trommel convert tet.stl --weld always -o x.ply -q && echo done
trommel: weld is no command; 'trommel convert MESH --weld always -o NAME.ply' makes vertices at equal places one
done
$ trommel scale tet.obj 2>&1 | head -1; trommel convert tet.obj --scale 25.4 -o x.stl -q && trommel info x.stl | grep bounds
trommel: scale is no command; 'trommel convert IN --scale 25.4 -o NAME.stl' makes millimetres of inches, and --rotate and --translate move what is in a file
  bounds     x 0 to 25.3999996, y 0 to 25.3999996, z 0 to 25.3999996
$ trommel offset tet.obj 2>&1 | head -1; trommel distance tet.obj -o x.nrrd -q && trommel surface x.nrrd --iso 0.1 --flip -o x.ply -q && echo done
trommel: offset is no command; 'trommel distance MESH -o NAME.nrrd' makes a volume of distances, of which 'trommel surface NAME.nrrd --iso 2 --flip -o NAME.ply' makes a mesh that is 2 thicker
done
$ trommel repair open.obj 2>&1 | head -1; trommel distance open.obj --inside solid-angle -o x.nrrd -q && trommel surface x.nrrd --iso 0 --flip -o x.ply -q && trommel info x.ply | grep Euler
trommel: repair is no command; 'trommel distance MESH --inside solid-angle -o NAME.nrrd' and 'trommel surface NAME.nrrd --iso 0 --flip -o NAME.ply' close an open mesh
  Euler      characteristic 2: closed, 0 handles
$ trommel view ball.nrrd 2>&1 | head -1; trommel surface ball.nrrd --png x.png -q && echo done
trommel: view is no command; 'trommel draw MESH -o NAME.png' makes a picture of a mesh, and 'trommel surface IN --png NAME.png' of a volume's or points' surface
done
$ trommel labels atlas.nrrd 2>&1 | head -1; trommel surface atlas.nrrd --labels all -o x.ply -q && echo done
trommel: labels is no command; 'trommel surface VOLUME --labels all -o NAME.ply' makes meshes of labels
done
$ trommel crop ball.nrrd 2>&1 | head -1; trommel surface ball.nrrd --region 0:20,:,: -o x.ply -q && echo done
trommel: crop is no command; 'trommel surface VOLUME --region 0:64,:,: -o NAME.ply' takes a part of a volume, and --bounds of points
done
$ trommel intersect tet.obj 2>&1 | head -1; trommel collide tet.obj tet.stl -q && trommel collide tet.obj tet.stl --find distance -q && trommel collide tet.obj tet.stl --find inside -q && echo done
trommel: intersect is no command; 'trommel collide A B' finds where two meshes meet, --find distance how far they are apart, and --find inside what lies inside
done
$ trommel raycast tet.obj 2>&1 | head -1; sed '1ix,y,z,nx,ny,nz' line.csv >probes.csv; trommel rays tet.obj --rays probes.csv -o x.csv -q && echo done
trommel: raycast is no command; 'trommel rays MESH --rays FILE -o NAME.csv' finds what rays hit
done
$ trommel tonemap sun.hdr 2>&1 | head -1; trommel exposure sun.hdr -o x.png -q && echo done
trommel: tonemap is no command; 'trommel exposure PICTURE -o NAME.png' exposes and tone-maps a picture
done
$ trommel mipmaps pic.png 2>&1 | head -1; trommel mips pic.png -o x_%d.png -q && echo done
trommel: mipmaps is no command; 'trommel mips PICTURE -o NAME_%d.png' makes a picture's levels
done
$ trommel subdiv tet.obj 2>&1 | head -1; trommel subdivide tet.obj -o x.ply -q && echo done
trommel: subdiv is no command; 'trommel subdivide MESH -o NAME.ply' makes a smooth surface of a coarse mesh
done
$ trommel sum ball.npy 2>&1 | head -1; trommel reduce ball.npy | grep -c sum
trommel: sum is no command; 'trommel reduce ARRAY.npy' prints sum, mean and extremes of an array
1
$ trommel cumsum ball.npy 2>&1 | head -1; trommel scan ball.npy -o x.npy -q && echo done
trommel: cumsum is no command; 'trommel scan ARRAY.npy -o NAME.npy' writes running sums of an array
done
$ trommel nonzero ball.npy 2>&1 | head -1; trommel compact ball.npy --nonzero -o x.npy -q && echo done
trommel: nonzero is no command; 'trommel compact ARRAY.npy --nonzero -o NAME.npy' keeps what is not 0
done
$ trommel argsort ball.npy 2>&1 | head -1; trommel sort ball.npy -o x.npy -q && echo done
trommel: argsort is no command; 'trommel sort ARRAY.npy -o NAME.npy' sorts an array
done
$ trommel load tet.obj 2>&1 | head -1; trommel convert tet.obj -o x.ply -q && echo done
trommel: load is no command; 'trommel convert IN -o NAME.ply' writes it in the format of that ending
done
$ trommel version 2>&1 | head -1; trommel --version | grep -c trommel
trommel: version is an option: 'trommel --version'
1
## A file of another kind.
$ trommel draw ball.nrrd -o x.png 2>&1 | head -1; trommel surface ball.nrrd -o ball.ply -q && trommel draw ball.ply -o x.png -q && echo done
trommel: draw: ball.nrrd is a volume, and not a mesh; 'trommel surface ball.nrrd -o ball.ply' makes a mesh of it
done
$ trommel surface tet.stl -o x.ply 2>&1 | head -1; trommel distance tet.stl -o tet.nrrd -q && trommel surface tet.nrrd --iso 0 --flip -o x.ply -q && echo done
trommel: surface: tet.stl is a mesh, and not a volume; 'trommel distance tet.stl -o tet.nrrd' makes a volume of it
done
$ trommel reduce ball.nrrd 2>&1 | head -1; trommel convert ball.nrrd -o ball.npy -q && trommel reduce ball.npy | grep -c sum
trommel: reduce: ball.nrrd is a volume, and not an array (NPY); 'trommel convert ball.nrrd -o ball.npy' makes one of it
1
$ trommel sort tet.stl -o x.npy 2>&1 | head -1; trommel convert tet.stl --simplify 10% -o tet.glb -q && echo done
trommel: sort: tet.stl is a mesh, and not an array (NPY); 'trommel convert tet.stl --simplify 10% -o tet.glb' leaves a tenth of its triangles
done
## Open meshes.
$ trommel distance open.obj -o x.nrrd 2>&1 | head -1; trommel distance open.obj --inside solid-angle -o x.nrrd -q && trommel distance open.obj --unsigned -o x.nrrd -q && echo done
trommel: distance: open.obj: the mesh is not closed: triangle 1 has an edge, from (1, 0, 0) to (0, 0, 1), that belongs to an odd number of triangles; close the mesh, or ask by --inside solid-angle, or give --unsigned
done
$ trommel collide open.obj p.xyz --find inside 2>&1 | head -1; trommel collide open.obj p.xyz --find inside --inside solid-angle -q && echo done
trommel: collide: open.obj: the mesh is not closed: triangle 1 has an edge, from (1, 0, 0) to (0, 0, 1), that belongs to an odd number of triangles; close the mesh, or ask by --inside solid-angle
done
$ trommel collide tet.obj 2>&1 | head -1; trommel collide tet.obj --self -q && echo done
trommel: collide: B is missing; give a second mesh, or --self
done
$ printf 'v 0 0 0\nv 3e38 0 0\nv 0 1 0\nf 1 2 3\nv 1 0 0\nf 1 4 3\n' >huge.obj; trommel collide huge.obj tet.obj 2>&1 | head -1; trommel collide huge.obj tet.obj --skip-broken -q && echo done
trommel: collide: huge.obj: vertex 1, corner 1 of triangle 0, is (3e+38, 0, 0), needs finite coordinates within 2^100; --skip-broken leaves such triangles out
done
$ trommel distance tet.obj --margin 70 -o x.nrrd 2>&1 | head -1; trommel distance tet.obj --margin 10 -o x.nrrd -q && echo done
trommel: distance: --margin: two of 70 cells leave nothing of --resolution 128 for the mesh
done
$ trommel distance tet.obj --cell 1e-9 -o x.nrrd 2>&1 | head -1; trommel distance tet.obj --cell 0.1 -o x.nrrd -q && echo done
trommel: distance: tet.obj: is 1 along its longest side, which needs more than 2^40 samples; give a larger --cell
done
$ trommel distance tet.obj --memory 1K -o x.nrrd 2>&1 | head -1; trommel distance tet.obj --memory 1M --resolution 16 -o x.nrrd -q && echo done
trommel: distance: tet.obj: needs 4096 bytes or more, --memory is 1024
done
## Rays.
$ trommel rays tet.obj --rays ways.csv -o x.csv 2>&1 | head -1; trommel rays tet.obj --rays ways.csv --direction way -o x.csv -q && echo done
trommel: rays: ways.csv: the points have no attribute "normal"; they have way; a ray needs a direction: columns nx, ny and nz, or three that --direction names
done
$ trommel rays tet.obj -o x.csv 2>&1 | head -1; trommel rays tet.obj --camera 3,3,3,0,0,0 --size 16x16 -o x.csv -q && echo done
trommel: rays: needs --rays or --camera
done
$ trommel rays tet.obj --rays probes.csv -o x.png 2>&1 | head -1; trommel rays tet.obj --camera 3,3,3,0,0,0 --find nearest --size 16x16 -o x.png -q && echo done
trommel: rays: --output x.png: a picture is of depths, which need --camera and --find nearest
done
$ trommel rays tet.obj --rays probes.csv --find all -o x.npy 2>&1 | head -1; trommel rays tet.obj --rays probes.csv --find all -o x.csv -q && echo done
trommel: rays: --output x.npy: all hits go into .csv
done
## Volumes.
$ head -c 27000 /dev/zero >zeros.dat; trommel surface zeros.dat -o x.ply 2>&1 | head -1 | cut -c1-60; trommel info zeros.dat --dims 30,30,30 --type u8 | head -1
trommel: surface: zeros.dat: is of no format known here: vol
zeros.dat: volume, raw
$ trommel surface zeros.dat --dims 30,30,31 --type u8 -o x.ply 2>&1 | head -1; trommel info zeros.dat --dims 30,30,10 --skip 18000 --type u8 | head -1
trommel: surface: zeros.dat: holds 27000 bytes after the skip of 0, needs 27900 (30 x 30 x 31 x u8) or a multiple; check --dims, --type and --skip
zeros.dat: volume, raw
$ trommel surface ball.nrrd --iso 9999 -o x.ply 2>&1 | head -1; trommel surface ball.nrrd --iso 128 -o x.ply -q && echo done
trommel: surface: the surface is empty, nothing was written; the values run from 0 to 257, so choose --iso between them
done
$ trommel surface ball.nrrd --frame 3 -o x.ply 2>&1 | head -1; trommel surface ball.nrrd --frame 0 -o x.ply -q && echo done
trommel: surface: ball.nrrd: --frame is 3, needs less than 1, the volumes in the file
done
$ trommel surface ball.nrrd --memory 100K -o x.ply 2>&1 | head -1; trommel surface ball.nrrd --memory 100K --iso 128 -o x.ply -q && echo done
ball.nrrd
done
$ trommel surface ball.nrrd --slabs 5 -o x.ply 2>&1 | head -1; trommel surface ball.nrrd --slabs 5 --iso 128 -o x.ply -q && echo done
trommel: surface: --slabs: in slabs there is never a whole volume or mesh; give --iso
done
$ trommel surface atlas.nrrd --slabs 5 --labels all -o x.ply 2>&1 | head -1; trommel surface atlas.nrrd --slabs 5 --labels all --smooth 2 -o x.ply -q && echo done
trommel: surface: --slabs: in slabs there is never a whole volume or mesh; name the labels, or give --smooth
done
$ trommel surface ball.nrrd --slabs 5 --iso 128 --smooth 2 -o x.ply 2>&1 | head -1; trommel surface ball.nrrd --iso 128 --smooth 2 -o x.ply -q && echo done
trommel: surface: --slabs: in slabs there is never a whole volume or mesh; leave out --smooth, or give --labels
done
$ trommel surface atlas.nrrd --labels all --simplify 0.5 -o x.ply 2>&1 | head -1; trommel surface atlas.nrrd --labels all --smooth 2 --simplify 0.5 -o x.ply -q && echo done
trommel: surface: --simplify makes one mesh: name one label, or give --smooth
done
$ trommel surface ball.nrrd --labels 1,2 -o x.ply 2>&1 | tail -1; trommel info ball.nrrd | grep -c -i values
trommel: surface: the surface is empty, nothing was written; choose other labels: the volume has 257
1
$ trommel surface ball.nrrd --iso 128 --index tet.obj -o x.ply 2>&1 | head -1; trommel index ball.nrrd -o ball.tmx -q && trommel surface ball.nrrd --iso 128 --index ball.tmx -o x.ply -q 2>&1 | head -1
trommel: surface: tet.obj: is no index of bricks; make one with "trommel index"
## Points.
$ trommel surface p.xyz -o x.ply --attribute speed 2>&1 | head -1; trommel surface p.xyz -o x.ply --attribute 'column 4' -q && echo done
trommel: surface: p.xyz: the points have no attribute "speed"; they have column 4, column 5, column 6, column 7
done
$ trommel surface p.xyz -o x.stl --attribute 'column 4' 2>&1 | head -1; trommel surface p.xyz -o x.vtp --attribute 'column 4' -q && echo done
trommel: surface: --attribute: x.stl holds none; use .ply, .glb or .vtp
done
$ trommel surface p.xyz --resolution 16 -o x.ply 2>&1 | head -1; trommel surface p.xyz --resolution 512 -o x.ply 2>&1 | head -1; trommel surface p.xyz --resolution 64 --radius 8 -o x.ply 2>&1 | head -1
trommel: surface: warning: the points' spacing is 0.908229, too fine for the grid: the radius is raised from 1.81646 to 50.2815, and what is smaller is lost; give a larger --resolution, or --radius
p.xyz
p.xyz
$ printf '0 0 0\n1 0 0\n1e9 0 0\n' >outlier.xyz; trommel surface outlier.xyz --cell 0.0001 -o x.ply 2>&1 | head -1; trommel surface outlier.xyz --radius 2 --cell 0.5 --bounds -3:4,:,: -o x.ply -q && echo done
trommel: surface: 3 points span 5e+09 x 4e+09 x 4e+09, which at a spacing of 0.0001 needs 8e+40 samples, more than 2^40; give a larger --cell, or --bounds and upper that leave outliers out
done
$ printf 'x,y,z,radius\n0,0,0,1\n1,0,0,1\n' >balls.csv; trommel surface balls.csv --field anisotropic -o x.ply 2>&1 | head -1; trommel surface balls.csv --field anisotropic --radius 1 -o x.ply -q && echo done
trommel: surface: balls.csv: an anisotropic field, and the points have radii of their own; give them one by --radius
done
## Pictures.
$ trommel convert sun.hdr -o x.png 2>&1 | head -1; trommel exposure sun.hdr -o x.png -q && echo done
trommel: convert: sun.hdr: has pixels of floats, which a .png cuts off at 1; expose and tone-map it: trommel exposure sun.hdr -o x.png
done
$ trommel convert data/pictures/basn2c16.png -o x.ply 2>&1 | head -1; trommel convert data/pictures/basn2c16.png -o x.exr -q && echo done
trommel: convert: --output: x.ply is not a format for a picture, which data/pictures/basn2c16.png is; a picture is written as .png .exr .hdr .pfm
done
$ trommel mips pic.png --log -o x.png 2>&1 | head -1; trommel mips pic.png --log -o x.pfm -q && echo done
trommel: mips: --output: x.png cannot hold logarithms; name an .exr or .pfm
done
$ trommel exposure sun.hdr -o x.png --white 3 2>&1 | head -1; trommel exposure sun.hdr -o x.png --tone reinhard-extended --white 3 -q && echo done
trommel: exposure: --white needs --tone reinhard-extended
done
## Names and numbers.
$ rm -f x.ply; trommel surface ball.nrrd x.ply 2>&1 | head -1; trommel surface ball.nrrd -o x.ply -q && echo done
trommel: surface: x.ply: inputs alone stand without an option; did you mean -o x.ply?
done
$ trommel surface ball.nrrd x.ply 2>&1 | head -1; trommel surface ball.nrrd --png x.png -q && echo done
trommel: surface: give -o NAME.ply (or .stl .obj .glb .vtp), or --png NAME.png
done
$ trommel surface ball.nrrd -o nowhere/x.ply 2>&1 | head -1; mkdir -p nowhere; trommel surface ball.nrrd -o nowhere/x.ply -q && echo done
trommel: surface: --output: there is no folder nowhere; make it first (mkdir -p nowhere), or name another one
done
$ trommel surface ball.nrrd ball.npy -o y.ply 2>&1 | head -1; trommel surface ball.nrrd ball.npy --iso 128 -o y_%04d.ply -q && ls y_*
trommel: surface: --output: y.ply is one name for several inputs; put %04d where each one's number goes
y_0000.ply
y_0001.ply
$ trommel convert tet.obj -o tet.obj 2>&1 | head -1; trommel convert tet.obj -o other.obj -q && echo done
trommel: convert: --output: tet.obj is an input, which would be lost; name another one
done
$ trommel convert ball.nrrd -o x.stl 2>&1 | head -1; trommel surface ball.nrrd -o x.stl -q && echo done
trommel: convert: --output: x.stl is not a format for a volume, which ball.nrrd is; a volume is written as .nrrd .mha .npy .raw; 'trommel surface' makes a mesh of it
done
$ trommel convert ball.nrrd --scale 2 -o x.nrrd 2>&1 | head -1; trommel convert ball.nrrd --spacing 2 -o x.nrrd -q && echo done
trommel: convert: --scale is for points or meshes; ball.nrrd holds a volume
done
$ trommel surface ball.nrrd -o x.ply --iso 50% 2>&1 | head -1; trommel surface ball.nrrd -o x.ply --iso auto -q && echo done
trommel: surface: --iso: "50%" is not accepted; give values and not percentages, such as 300, as the file has them ('trommel info' shows from where to where they run), or auto
done
$ trommel surface ball.nrrd -o x.ply --spacing 1 1 2 2>&1 | head -1; trommel surface ball.nrrd -o x.ply --spacing 1,1,2 -q && echo done
trommel: surface: "1" is neither a file nor an option's value; numbers of one option are written with commas and without blanks, such as 1,1,2.5
done
## Subdivision.
$ printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 5 0 0\nv 5 1 0\nf 1 2 3\nf 1 5 6\n' >fans.obj; trommel subdivide fans.obj -o x.ply 2>&1 | head -1; trommel subdivide fans.obj --fix -o x.ply -q && echo done
trommel: subdivide: vertex 0 joins triangles that share no edge there: those around edge 0-1 (triangle 0) and those around edge 0-4 (triangle 1); give each fan a vertex of its own, or set --fix
done
$ trommel subdivide tet.obj --budget 3 -o x.ply 2>&1 | head -1; trommel subdivide tet.obj --budget 4 -o x.ply -q && echo done
trommel: subdivide: --budget is 3, needs 4 at least, the triangles of the mesh
done
$ trommel subdivide tet.obj --creases angle:0 -o x.ply 2>&1 | head -1; trommel subdivide tet.obj --creases angle:30 -o x.ply -q && echo done
trommel: subdivide: --creases: "angle:0" is not accepted; give file, none, or angle:D with D between 0 and 180 degrees
done
$ trommel subdivide tet.obj --levels 2 --camera 1,2,3,0,0,0 -o x.ply 2>&1 | head -1; trommel subdivide tet.obj --pixels 8 --camera 1,2,3,0,0,0 -o x.ply -q && echo done
trommel: subdivide: --camera needs --pixels
done
$ printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n' >uv.obj; trommel convert uv.obj -o x.ply 2>&1 | head -1; trommel convert uv.obj -o x.obj -q && grep -c vt x.obj
trommel: convert: warning: x.ply holds no texture coordinates of corners; use .obj to keep them
3
## What an output cannot hold.
$ trommel collide tet.obj tet.stl --find distance -o x.npy 2>&1 | head -1; trommel collide tet.obj tet.stl --find distance -o x.csv -q && echo done
trommel: collide: --output: distances go to .csv or .json, not .npy
done
$ trommel exposure pic.png -o x.png --bits 32 2>&1 | head -1; trommel exposure pic.png -o x.png --bits 16 -q && echo done
trommel: exposure: --bits: .png has no channels of 32 bits; give 8 or 16
done
## Memory.
$ trommel convert p.xyz --memory 1K -o x.ply 2>&1 | head -1; trommel convert p.xyz --memory 1M -o x.ply -q && echo done
trommel: convert: p.xyz: needs 3232 bytes, --memory is 1024
done
$ trommel surface p.xyz --cell 0.3 --radius 2 --memory 100K --png x.png 2>&1 | grep field; trommel surface p.xyz --cell 0.3 --radius 2 --memory 100K -o x.ply -q && trommel surface p.xyz --cell 2 --radius 2 --memory 100K --png x.png -q && trommel surface p.xyz --cell 0.3 --radius 2 --memory 100M --png x.png -q && echo done
trommel: surface: a field of 79 x 302 x 86 samples, 0.3 apart, needs 601 KiB of memory, more than 100 KiB; give a larger --cell, narrower --bounds or more --memory, or give --output in the place of --png, so that it goes in slabs
done
$ trommel sort ball.npy --memory 1K -o x.npy 2>&1 | head -1; trommel sort ball.npy --memory 1M -o x.npy -q && echo done
trommel: sort: ball.npy: has 54000 bytes, --memory allows 1024
done
## Indices and sequences.
$ trommel surface ball.npy --iso 128 --index ball.tmx -o x.ply -q && echo same; printf 'NRRD0004\ntype: short\ndimension: 3\nsizes: 30 30 30\nencoding: raw\nendian: little\n\n' >other.nrrd; head -c 54000 /dev/zero >>other.nrrd; touch -d 2001-01-01 other.nrrd; trommel surface other.nrrd --iso 128 --index ball.tmx -o x.ply 2>&1 | head -1; touch -d 2030-01-01 ball.nrrd; trommel surface ball.nrrd --iso 128 --index ball.tmx -o x.ply 2>&1 | head -1; trommel index ball.nrrd -o ball.tmx -q; touch -d 2031-01-01 ball.tmx; trommel surface ball.nrrd --iso 128 --index ball.tmx -o x.ply -q && echo done
same
trommel: surface: --index: ball.tmx is of another volume than other.nrrd; make it again with "trommel index"
trommel: surface: --index: ball.tmx is older than ball.nrrd; make it again with "trommel index"
done
$ cp ball.npy f_1.npy; cp ball.npy f_3.npy; trommel surface f_%d.npy --iso 128 --frames 1-3 -o x_%d.ply 2>&1 | head -1; trommel surface f_%d.npy --iso 128 --frames 3-3 -o x_%d.ply -q && echo done
trommel: surface: f_2.npy: cannot be opened: No such file or directory; nothing was done
done
$ trommel surface f_%d.npy --iso 128 -o x.ply 2>&1 | head -1; trommel surface f_%d.npy --iso 128 -o x_%04d.ply -q && ls x_0*.ply
trommel: surface: --output: x.ply is one name for several inputs; put %04d where each one's number goes
x_0001.ply
x_0003.ply
$ trommel scan ball.npy --start 0.5 -o x.npy 2>&1 | head -1; trommel scan ball.npy --start 5 -o x.npy -q && echo done
trommel: scan: --start 0.5: the results are i64, needs a whole number of that type
done
