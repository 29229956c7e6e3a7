## A wrong command line: exit status 2, and what would do. Nothing is read or written.
$ trommel surfaces x
trommel: unknown command "surfaces"; did you mean surface?
Try 'trommel --help'.
[2]
$ trommel polish x
trommel: unknown command "polish"; 'trommel --help' lists them
Try 'trommel --help'.
[2]
$ trommel --versoin
trommel: unknown option --versoin; did you mean --version?
Try 'trommel --help'.
[2]
$ trommel surface
trommel: surface: IN... is missing, as in 'trommel surface head.nii.gz --iso 300 -o skull.ply --png skull.png'
Try 'trommel surface --help'.
[2]
$ trommel surface a b -o x.ply
trommel: surface: --output: x.ply is one name for several inputs; put %04d where each one's number goes
Try 'trommel surface --help'.
[2]
$ trommel index a b -o x.tmx
trommel: index: unexpected argument "b"; takes IN
Try 'trommel index --help'.
[2]
$ trommel surface a
trommel: surface: give -o NAME.ply (or .stl .obj .glb .vtp), or --png NAME.png
Try 'trommel surface --help'.
[2]
$ trommel surface a --debug-cells x.ply
trommel: surface: --debug-cells: x.ply does not end in .png
Try 'trommel surface --help'.
[2]
$ trommel surface a --debug-cells x.png --labels all
trommel: surface: --debug-cells and --labels exclude each other; leave one of them out
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.doc
trommel: surface: --output: x.doc has no known ending; use .ply .stl .obj .glb or .vtp
Try 'trommel surface --help'.
[2]
$ trommel surface a --png x.jpg
trommel: surface: --png: x.jpg does not end in .png
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso 12abc
trommel: surface: --iso: "12abc" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5, or auto
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso nan
trommel: surface: --iso: "nan" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5, or auto
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso 1,,2
trommel: surface: --iso: "1,,2" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5, or auto
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso 1e999
trommel: surface: --iso: "1e999" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5, or auto
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso
trommel: surface: --iso needs a value: V[,V...]|A:B:N
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --isso 3
trommel: surface: unknown option --isso; did you mean --iso?
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --normals smooth
trommel: surface: --normals: "smooth" is not accepted; give none|forward|central|sobel
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --s 3
trommel: surface: --s may be --size or --strict; write it out
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --soup=yes
trommel: surface: --soup takes no value
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso 3 --labels all
trommel: surface: --labels and --iso exclude each other; leave one of them out
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --labels 1,x
trommel: surface: --labels: "1,x" is not accepted; give all, or whole numbers separated by commas such as 1,4
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --region 3:1,:,:
trommel: surface: --region: "3:1,:,:" is not accepted; give three ranges of samples such as 0:64,10:,:
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --region 3:9,:
trommel: surface: --region: "3:9,:" is not accepted; give three ranges of samples such as 0:64,10:,:
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --dims 3,4 --type u8
trommel: surface: --dims: "3,4" is not accepted; give three whole numbers above 0, such as 256,256,128
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --dims 3,4,0 --type u8
trommel: surface: --dims: "3,4,0" is not accepted; give three whole numbers above 0, such as 256,256,128
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --dims 3,4,5
trommel: surface: --dims needs --type
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --spacing 1,0,1
trommel: surface: --spacing: "1,0,1" is not accepted; give three lengths above 0, such as 0.5,0.5,2, or one for all; a unit may follow, such as 0.5mm
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --threads -1
trommel: surface: --threads: "-1" is not accepted; give a whole number such as 64, 0 to 1024
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --threads 2000
trommel: surface: --threads: "2000" is not accepted; give a whole number such as 64, 0 to 1024
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --memory 3X
trommel: surface: --memory: "3X" is not accepted; give a size such as 512M or 4G
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --slabs 3 --iso 3 --png x.png
trommel: surface: --slabs: in slabs there is never a whole volume or mesh; leave out --png
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --slabs 3
trommel: surface: --slabs: in slabs there is never a whole volume or mesh; give --iso
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --slabs 3 --labels all
trommel: surface: --slabs: in slabs there is never a whole volume or mesh; name the labels, or give --smooth
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --slabs 3 --iso 3 --largest --soup
trommel: surface: --slabs: in slabs there is never a whole volume or mesh; leave out --soup, or --largest and --drop-degenerate
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --index x.tmx --iso 3 --labels all
trommel: surface: --labels and --iso exclude each other; leave one of them out
Try 'trommel surface --help'.
[2]
$ trommel surface a --png x.png --size 1200
trommel: surface: --size: "1200" is not accepted; give width x height, each from 16 to 8192, such as 1200x900
Try 'trommel surface --help'.
[2]
$ trommel surface a --png x.png --view 3
trommel: surface: --view: "3" is not accepted; give numbers separated by commas: AZ,EL, -360 to 360
Try 'trommel surface --help'.
[2]
$ trommel surface a --png x.png --color mauve
trommel: surface: --color: "mauve" is not accepted; give a colour of six hexadecimal digits such as #d9c7a8, or white, black, grey, red, green, blue, yellow, orange, brown, purple, pink, cyan, bone, skin or silver
Try 'trommel surface --help'.
[2]
$ trommel surface a -z
trommel: surface: unknown option -z
Try 'trommel surface --help'.
[2]
$ trommel subdivide a
trommel: subdivide: give -o NAME.ply (or .stl .obj .glb .vtp), or --png NAME.png
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.doc
trommel: subdivide: --output: x.doc has no known ending; use .ply .stl .obj .glb or .vtp
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --levels 1.5
trommel: subdivide: --levels: 1.5 is not a whole number
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --levels 13
trommel: subdivide: --levels: "13" is not accepted; give a number: N, 0 to 12
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --levels 1 --edge 2
trommel: subdivide: --levels and --edge exclude each other; leave one of them out
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --camera 1,2,3,4,5,6
trommel: subdivide: --camera needs --pixels
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --budget 9
trommel: subdivide: a: cannot be opened: No such file or directory
[1]
$ trommel subdivide a -o x.ply --edge 1 --limit
trommel: subdivide: --limit and --edge exclude each other; leave one of them out
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --creases angle:0
trommel: subdivide: --creases: "angle:0" is not accepted; give file, none, or angle:D with D between 0 and 180 degrees
Try 'trommel subdivide --help'.
[2]
$ trommel collide a
trommel: collide: B is missing; give a second mesh, or --self
Try 'trommel collide --help'.
[2]
$ trommel collide a b --self
trommel: collide: --self takes one mesh, not two
Try 'trommel collide --help'.
[2]
$ trommel collide a --self --scale 2
trommel: collide: --self and --scale exclude each other; leave one of them out
Try 'trommel collide --help'.
[2]
$ trommel collide a b -o x.txt
trommel: collide: --output: x.txt has no known ending; use .csv .json or .npy
Try 'trommel collide --help'.
[2]
$ trommel collide a b --segments x.ply
trommel: collide: --segments: x.ply does not end in .obj
Try 'trommel collide --help'.
[2]
$ trommel collide a b --png x.jpg
trommel: collide: --png: x.jpg does not end in .png
Try 'trommel collide --help'.
[2]
$ trommel collide a b --find count --png x.png
trommel: collide: --png and --find count exclude each other; leave one of them out
Try 'trommel collide --help'.
[2]
$ trommel collide a b --pose x --scale 2
trommel: collide: --pose and --scale exclude each other; leave one of them out
Try 'trommel collide --help'.
[2]
$ trommel collide a b --scale 0
trommel: collide: --scale: "0" is not accepted; give a number such as 0.5 or 1e-3, 1e-30 to 1e+30
Try 'trommel collide --help'.
[2]
$ trommel collide a b --rotate 1,2
trommel: collide: --rotate: "1,2" is not accepted; give numbers separated by commas: X,Y,Z
Try 'trommel collide --help'.
[2]
$ trommel collide a b --classes crossing,near
trommel: collide: --classes: "crossing,near" is not accepted; give some of crossing,touching,coplanar,degenerate
Try 'trommel collide --help'.
[2]
$ trommel compact a -o x.npy
trommel: compact: give --at-least, --at-most, --nonzero or --crossed
Try 'trommel compact --help'.
[2]
$ trommel compact a -o x.npy --at-least 1 --nonzero
trommel: compact: --nonzero and --at-least exclude each other; leave one of them out
Try 'trommel compact --help'.
[2]
$ trommel compact a --at-least 1
trommel: compact: give --output
Try 'trommel compact --help'.
[2]
$ trommel compact a -o x.npy --at-least 1 --method fast
trommel: compact: --method: "fast" is not accepted; give auto|look-back|reduce-then-scan|histopyramid
Try 'trommel compact --help'.
[2]
$ trommel compact a -o x.ply --at-least 1
trommel: compact: --output: x.ply does not end in .npy
Try 'trommel compact --help'.
[2]
$ trommel scan a
trommel: scan: give -o NAME.npy
Try 'trommel scan --help'.
[2]
$ trommel scan a -o x.hdr
trommel: scan: --output: x.hdr does not end in .npy
Try 'trommel scan --help'.
[2]
$ trommel index a -o x.GLB
trommel: index: --output: x.GLB does not end in .tmx
Try 'trommel index --help'.
[2]
$ trommel surface a -o x.ply --view 3,4
trommel: surface: --view needs --png
Try 'trommel surface --help'.
[2]
$ trommel surface a --png x.png --iso 1,2 --color ff0000
trommel: surface: --color and --iso V,V... exclude each other; leave one of them out
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --attribute b --debug-cells x.png --iso 1,2
trommel: surface: --debug-cells and --iso V,V... exclude each other; leave one of them out
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --indices64 --soup
trommel: surface: --indices64 and --soup exclude each other; leave one of them out
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --backend cpu --no-cache
trommel: surface: --no-cache and --backend cpu exclude each other; leave one of them out
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x_%04d_%d.ply
trommel: surface: --output: x_%04d_%d.ply: write %d or %04d once for the frame's number
Try 'trommel surface --help'.
[2]
$ trommel surface a b -o x%x.ply
trommel: surface: --output: x%x.ply: write %d or %04d once for the frame's number
Try 'trommel surface --help'.
[2]
$ trommel index a --iso 3
trommel: index: unknown option --iso; it is one of 'trommel surface'
Try 'trommel index --help'.
[2]
$ trommel index a -o x%03d.tmx
trommel: index: --output: x%03d.tmx: a number is for the frames of a sequence; write a name
Try 'trommel index --help'.
[2]
$ trommel collide a b --size 64x48
trommel: collide: --size needs --png
Try 'trommel collide --help'.
[2]
$ trommel collide a b --find distance --classes crossing
trommel: collide: --classes and --find distance exclude each other; leave one of them out
Try 'trommel collide --help'.
[2]
$ trommel collide a b --find distance -o x.npy
trommel: collide: --output: distances go to .csv or .json, not .npy
Try 'trommel collide --help'.
[2]
$ trommel collide a b --frame all
trommel: collide: unknown option --frame; it is one of 'trommel surface'
Try 'trommel collide --help'.
[2]
$ trommel subdivide a -o x.ply --sharpness 3
trommel: subdivide: --sharpness needs --creases angle:D
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --seams smooth
trommel: subdivide: --seams needs --output FILE.obj
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --up y
trommel: subdivide: --up needs --png, --pixels or --output FILE.glb
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --depth 3
trommel: subdivide: --depth needs --edge, --pixels, --angle or --distance
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --size 64x48
trommel: subdivide: --size needs --png or --pixels
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x%d.ply
trommel: subdivide: --output: x%d.ply: a number is for the frames of a sequence; write a name
Try 'trommel subdivide --help'.
[2]
$ trommel exposure a --tone agx
trommel: exposure: --tone needs --output
Try 'trommel exposure --help'.
[2]
$ trommel exposure a -o x.png --white 3
trommel: exposure: --white needs --tone reinhard-extended
Try 'trommel exposure --help'.
[2]
$ trommel exposure a -o x.pfm --bits 16
trommel: exposure: --bits needs --output FILE.png or --output FILE.exr
Try 'trommel exposure --help'.
[2]
$ trommel exposure a -o x.png --tone gold
trommel: exposure: --tone: "gold" is not accepted; give srgb|reinhard|reinhard-extended|hable|aces-fit|agx|neutral
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --by median --percentile 30
trommel: exposure: --percentile and --by exclude each other; leave one of them out
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --clip 5,95 --by median
trommel: exposure: --clip needs --by mean
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --clip 95,5
trommel: exposure: --clip: 95 is not below 5
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --clip 5,95 --ev100 3
trommel: exposure: --clip and --ev100 exclude each other; leave one of them out
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --weights 0,0,0
trommel: exposure: --weights are all 0; one at least must not be
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --weights 1,1,1 --luminance rec709
trommel: exposure: --weights and --luminance exclude each other; leave one of them out
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --floor 1e-40
trommel: exposure: --floor: 1e-40 is less than 2^-100, where luminances count as 0
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --region 1:0,:
trommel: exposure: --region: "1:0,:" is not accepted; give two ranges of pixels such as 100:900,:540
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --fps 3
trommel: exposure: --fps is for sequences, not for one input
Try 'trommel exposure --help'.
[2]
$ trommel exposure a b --no-adapt --adapt 3
trommel: exposure: --adapt and --no-adapt exclude each other; leave one of them out
Try 'trommel exposure --help'.
[2]
$ trommel exposure a b --ascii
trommel: exposure: --ascii is for one input, not for a sequence
Try 'trommel exposure --help'.
[2]
$ trommel exposure a --ascii --json
trommel: exposure: --ascii and --json exclude each other; leave one of them out
Try 'trommel exposure --help'.
{
  "trommel": "0.1.0",
  "command": "exposure",
  "error": {
    "code": 2,
    "message": "--ascii and --json exclude each other; leave one of them out"
  }
}
[2]
$ trommel exposure a -o a.jpg
trommel: exposure: --output: a.jpg has no known ending; use .png .pfm .hdr or .exr
Try 'trommel exposure --help'.
[2]
$ trommel exposure a -o x%x.png
trommel: exposure: --output: x%x.png: write %d or %04d once for the frame's number
Try 'trommel exposure --help'.
[2]
$ trommel mips a
trommel: mips: give -o NAME.png (or .exr .pfm .hdr), or --sheet NAME.png
Try 'trommel mips --help'.
[2]
$ trommel mips a -o x.png --levels 65
trommel: mips: --levels: "65" is not accepted; give a whole number such as 64, 0 to 64
Try 'trommel mips --help'.
[2]
$ trommel info a b
trommel: info: unexpected argument "b"; takes FILE
Try 'trommel info --help'.
[2]
$ trommel info a -q
trommel: info: unknown option -q
Try 'trommel info --help'.
[2]
$ trommel devices --threads 3
trommel: devices: unknown option --threads
Try 'trommel devices --help'.
[2]
$ trommel devices --memory 1G
trommel: devices: unknown option --memory
Try 'trommel devices --help'.
[2]
$ trommel devices a
trommel: devices: unexpected argument "a"; takes options alone
Try 'trommel devices --help'.
[2]
$ trommel compact a -o x.npy
trommel: compact: give --at-least, --at-most, --nonzero or --crossed
Try 'trommel compact --help'.
[2]
$ trommel scan a --min 3
trommel: scan: unknown option --min; it is one of 'trommel reduce'
Try 'trommel scan --help'.
[2]
$ trommel reduce a -o x.npy
trommel: reduce: unknown option -o; the result is printed; redirect it with >NAME
Try 'trommel reduce --help'.
[2]
$ trommel surface --json
trommel: surface: IN... is missing, as in 'trommel surface head.nii.gz --iso 300 -o skull.ply --png skull.png'
Try 'trommel surface --help'.
{
  "trommel": "0.1.0",
  "command": "surface",
  "error": {
    "code": 2,
    "message": "IN... is missing, as in 'trommel surface head.nii.gz --iso 300 -o skull.ply --png skull.png'"
  }
}
[2]
$ trommel surfaces --json
trommel: unknown command "surfaces"; did you mean surface?
Try 'trommel --help'.
{
  "trommel": "0.1.0",
  "command": null,
  "error": {
    "code": 2,
    "message": "unknown command \"surfaces\"; did you mean surface?"
  }
}
[2]
$ trommel surface a --json
trommel: surface: give -o NAME.ply (or .stl .obj .glb .vtp), or --png NAME.png
Try 'trommel surface --help'.
{
  "trommel": "0.1.0",
  "command": "surface",
  "error": {
    "code": 2,
    "message": "give -o NAME.ply (or .stl .obj .glb .vtp), or --png NAME.png"
  }
}
[2]
$ trommel --man surfac
trommel: unknown command "surfac"; did you mean surface?
Try 'trommel --help'.
[2]
$ trommel --version surface
trommel: unexpected argument "surface"
Try 'trommel --help'.
trommel 0.1.0
[2]
$ trommel --completion tcsh
trommel: --completion: "tcsh" is not accepted; give bash|zsh|fish
Try 'trommel --help'.
[2]
$ trommel surface a -o x.ply --iso 5,1:9:3
trommel: surface: --iso: "5,1:9:3" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5, or auto
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso 0:1:1
trommel: surface: --iso: "0:1:1" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5, or auto
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --cell 1 --resolution 64
trommel: surface: --cell and --resolution exclude each other; leave one of them out
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --cell -1
trommel: surface: --cell: "-1" is not accepted; give a length such as 0.02, or a share of the radius, at most 1, such as 0.25r
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --bounds 0:1,0:1
trommel: surface: --bounds: "0:1,0:1" is not accepted; give three ranges of coordinates such as -1:1,0:2.5,:
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --bounds :,2:1,:
trommel: surface: --bounds: ":,2:1,:" is not accepted; give three ranges of coordinates, the smaller first, such as -1:1,0:2.5,:
Try 'trommel surface --help'.
[2]
$ trommel subdivide a -o x.ply --pixels 2 --camera 1,2,3
trommel: subdivide: --camera: "1,2,3" is not accepted; give 6 or 7 numbers X,Y,Z,TX,TY,TZ[,FOV], or the name of a file of 16
Try 'trommel subdivide --help'.
[2]
$ trommel subdivide a -o x.ply --fov 30
trommel: subdivide: --fov needs --camera
Try 'trommel subdivide --help'.
[2]
$ trommel collide a b --fail-if touching
trommel: collide: --fail-if: "touching" is not accepted; give never|contact|none
Try 'trommel collide --help'.
[2]
## What people type at first: each mistake has a next step, or is taken as meant.
$ cp data/volumes/ball30_gz.nrrd ball.nrrd; cp data/points/points_cloudcompare.xyz p.xyz; cp data/pictures/basn2c16.png pic.png; printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >tet.obj; trommel convert tet.obj -o tet.stl -q; trommel convert ball.nrrd -o ball.raw -q 2>/dev/null; trommel index ball.nrrd -o ball.tmx -q
$ for file in ball.nrrd p.xyz tet.stl pic.png ball.tmx ball.raw . nothing.nrrd; do trommel $file; done 2>&1 | grep -v ^Try
trommel: ball.nrrd is a volume, and a command goes before it: 'trommel info ball.nrrd' tells what is in it, 'trommel surface ball.nrrd -o ball.ply' makes a mesh of it
trommel: p.xyz is points, and a command goes before it: 'trommel info p.xyz' tells what is in it, 'trommel surface p.xyz -o p.ply' makes a mesh of them
trommel: tet.stl is a mesh, and a command goes before it: 'trommel info tet.stl' tells what is in it, 'trommel draw tet.stl -o tet.png' makes a picture of it
trommel: pic.png is a picture, and a command goes before it: 'trommel info pic.png' tells what is in it, 'trommel exposure pic.png -o pic_exposed.png' exposes it
trommel: ball.tmx is an index of a volume, and a command goes before it: 'trommel info ball.tmx' tells what is in it, 'trommel surface VOLUME --iso V --index ball.tmx -o ball.ply' makes a mesh of its volume
trommel: ball.raw is a file, and a command goes before it: 'trommel info ball.raw' says what is in it
trommel: . is a folder; a folder of TIFF or DICOM slices is a volume, and a command goes before it, such as 'trommel info .'
trommel: nothing.nrrd is neither a command nor a file that is there
$ for word in mesh simplify smooth decimate version scale repair view stats intersect tonemap gpus cumsum crop offset Polish; do trommel $word x; done 2>&1 | grep -v ^Try
trommel: mesh is no command; 'trommel surface IN -o NAME.ply' makes a mesh of a volume or of points
trommel: simplify is no command; 'trommel convert MESH --simplify 10% -o NAME.ply' leaves a tenth of a mesh's triangles, and --simplify of 'trommel surface' does at once
trommel: smooth is no command; 'trommel convert MESH --smooth 20 -o NAME.ply' smooths a mesh, and --smooth of 'trommel surface' does at once
trommel: decimate is no command; 'trommel convert MESH --simplify 10% -o NAME.ply' leaves a tenth of a mesh's triangles, and --simplify of 'trommel surface' does at once
trommel: version is an option: 'trommel --version'
trommel: scale is no command; 'trommel convert IN --scale 25.4 -o NAME.stl' makes millimetres of inches, and --rotate and --translate move what is in a file
trommel: repair is no command; 'trommel distance MESH --inside solid-angle -o NAME.nrrd' and 'trommel surface NAME.nrrd --iso 0 --flip -o NAME.ply' close an open mesh
trommel: view is no command; 'trommel draw MESH -o NAME.png' makes a picture of a mesh, and 'trommel surface IN --png NAME.png' of a volume's or points' surface
trommel: stats is no command; 'trommel info FILE' tells what is in a file
trommel: intersect is no command; 'trommel collide A B' finds where two meshes meet, --find distance how far they are apart, and --find inside what lies inside
trommel: tonemap is no command; 'trommel exposure PICTURE -o NAME.png' exposes and tone-maps a picture
trommel: gpus is no command; 'trommel devices' lists what this machine offers
trommel: cumsum is no command; 'trommel scan ARRAY.npy -o NAME.npy' writes running sums of an array
trommel: crop is no command; 'trommel surface VOLUME --region 0:64,:,: -o NAME.ply' takes a part of a volume, and --bounds of points
trommel: offset is no command; 'trommel distance MESH -o NAME.nrrd' makes a volume of distances, of which 'trommel surface NAME.nrrd --iso 2 --flip -o NAME.ply' makes a mesh that is 2 thicker
trommel: unknown command "Polish"; 'trommel --help' lists them
$ for word in -version -v --verbose --iso; do trommel $word x 2>&1 | grep -v ^Try | head -1; done
trommel: -version: long names have two dashes; did you mean --version?
trommel: unknown option -v; did you mean -V (--version)?
trommel: unknown option --verbose; warnings are always shown; --json prints all that is known
trommel: unknown option --iso; it is one of 'trommel surface'
$ trommel Info ball.nrrd | head -1
ball.nrrd: volume, NRRD
$ trommel surface ball.nrrd out.ply
trommel: surface: out.ply: inputs alone stand without an option; did you mean -o out.ply?
Try 'trommel surface --help'.
[2]
$ trommel draw tet.stl out.png
trommel: draw: out.png: inputs alone stand without an option; did you mean -o out.png?
Try 'trommel draw --help'.
[2]
$ trommel distance tet.stl out.nrrd
trommel: distance: out.nrrd: inputs alone stand without an option; did you mean -o out.nrrd?
Try 'trommel distance --help'.
[2]
$ trommel distance tet.stl tet.obj
trommel: distance: unexpected argument "tet.obj"; takes MESH
Try 'trommel distance --help'.
[2]
$ for option in --isovalue --level --threshold --decimate --out-file --jobs --gpu --crop --force --verbose --format --dtype --voxel-size -iso -output -j -i -Q --unknown; do trommel surface ball.nrrd -o x.ply $option 3; done 2>&1 | grep -v ^Try
trommel: surface: unknown option --isovalue; did you mean --iso?
trommel: surface: unknown option --level; did you mean --iso?
trommel: surface: unknown option --threshold; did you mean --iso?
trommel: surface: unknown option --decimate; did you mean --simplify?
trommel: surface: unknown option --out-file; did you mean --output?
trommel: surface: unknown option --jobs; did you mean --threads?
trommel: surface: unknown option --gpu; did you mean --backend?
trommel: surface: unknown option --crop; did you mean --region?
trommel: surface: unknown option --force; an output replaces the file that has its name, once it is complete
trommel: surface: unknown option --verbose; warnings are always shown; --json prints all that is known
trommel: surface: unknown option --format; the ending of the output's name chooses its format, such as -o NAME.stl
trommel: surface: unknown option --dtype; did you mean --type?
trommel: surface: unknown option --voxel-size; did you mean --spacing?
trommel: surface: -iso: long names have two dashes; did you mean --iso?
trommel: surface: -output: long names have two dashes; did you mean --output?
trommel: surface: unknown option -j; did you mean --threads?
trommel: surface: unknown option -i; name the input without an option
trommel: surface: unknown option -Q; did you mean -q (--quiet)?
trommel: surface: unknown option --unknown
$ for option in --units --rotation --move --iso --merge; do trommel convert tet.stl -o x.ply $option 3; done 2>&1 | grep -v ^Try
trommel: convert: unknown option --units; did you mean --scale?
trommel: convert: unknown option --rotation; did you mean --rotate?
trommel: convert: unknown option --move; did you mean --translate?
trommel: convert: unknown option --iso; it is one of 'trommel surface'
trommel: convert: unknown option --merge; did you mean --weld?
$ for values in '--iso 50%' '--iso 100 200' '--spacing 1 1 2' '--spacing 1furlong' '--spacing 1mm,1' '--type u12' '--simplify 100%' '--collapse 400%' '-o --iso 3' '–iso 3' '--backend cuda' 'https://example.org/ball.nrrd'; do trommel surface ball.nrrd -o x.ply $values; done 2>&1 | grep -v ^Try
trommel: surface: --iso: "50%" is not accepted; give values and not percentages, such as 300, as the file has them ('trommel info' shows from where to where they run), or auto
trommel: surface: "200" is neither a file nor an option's value; numbers of one option are written with commas and without blanks, such as 1,1,2.5
trommel: surface: "1" is neither a file nor an option's value; numbers of one option are written with commas and without blanks, such as 1,1,2.5
trommel: surface: --spacing: "1furlong" is not accepted; give lengths in mm, um, nm, A, cm, m or in, such as 0.5mm,0.5mm,2mm
trommel: surface: --spacing: "1mm,1" is not accepted; give three lengths above 0, such as 0.5,0.5,2, or one for all; a unit may follow, such as 0.5mm
trommel: surface: --type: "u12" is not accepted; give u8|i8|u16|i16|u32|i32|u64|i64|f16|f32|f64, or numpy's or C's name, such as uint16, <u2 or double
trommel: surface: --simplify: "100%" is not accepted; give a percentage of the triangles above 0 and below 100, such as 10%
trommel: surface: --collapse: "400%" is not accepted; give a number such as 0.5 or 1e-3, 0 to 1
trommel: surface: --output needs a value: FILE
trommel: surface: "–iso" begins with a long dash, as text programs make of "--"; write --iso
trommel: surface: --backend: "cuda" is not accepted; give auto|cpu|vulkan|gl
trommel: surface: https://example.org/ball.nrrd is an address; download it, for instance with curl -LO, and name the file
$ for values in '--spacing 2' '--spacing 0.5mm,0.5mm,1mm' '--spacing 500um,0.5mm,0.1cm' '--simplify 10%' '--collapse 40%' '--iso auto' '--normals SOBEL'; do trommel surface ball.nrrd -o x.ply $values | grep -E '^  (input|simplified)'; done
  input      30 x 30 x 30 of i16, NRRD, spacing 2 x 2 x 2
  input      30 x 30 x 30 of i16, NRRD, spacing 0.5 x 0.5 x 1 mm
  input      30 x 30 x 30 of i16, NRRD, spacing 500 x 500 x 1000 µm
  input      30 x 30 x 30 of i16, NRRD, spacing 1 x 1 x 1
  simplified 409 vertices, 770 triangles of 7,784, moved by about 0.528
  input      30 x 30 x 30 of i16, NRRD, spacing 1 x 1 x 1
  input      30 x 30 x 30 of i16, NRRD, spacing 1 x 1 x 1
  input      30 x 30 x 30 of i16, NRRD, spacing 1 x 1 x 1
$ for type in int16 '<i2' short i2 I16 'signed short'; do trommel surface ball.raw --dims 30x30x30 --type "$type" --iso 100 -o x.ply | grep input; done
  input      30 x 30 x 30 of i16, raw, spacing 1 x 1 x 1
  input      30 x 30 x 30 of i16, raw, spacing 1 x 1 x 1
  input      30 x 30 x 30 of i16, raw, spacing 1 x 1 x 1
  input      30 x 30 x 30 of i16, raw, spacing 1 x 1 x 1
  input      30 x 30 x 30 of i16, raw, spacing 1 x 1 x 1
  input      30 x 30 x 30 of i16, raw, spacing 1 x 1 x 1
$ head -c 54000 ball.raw | trommel info - --dims 30,30,30 --type '>u2' | grep samples
  samples    30 x 30 x 30 = 27,000 of u16, 53 KiB
$ trommel surface ball.nrrd -o nowhere/x.ply
trommel: surface: --output: there is no folder nowhere; make it first (mkdir -p nowhere), or name another one
[1]
$ trommel surface ball.nrrd --png nowhere/x.png
trommel: surface: --png: there is no folder nowhere; make it first (mkdir -p nowhere), or name another one
[1]
$ trommel surface ball.nrrd ball.nrrd -o nowhere/x_%d.ply
trommel: surface: --output: there is no folder nowhere; make it first (mkdir -p nowhere), or name another one
[1]
$ trommel collide tet.stl tet.obj -o nowhere/x.csv
trommel: collide: --output: there is no folder nowhere; make it first (mkdir -p nowhere), or name another one
[1]
$ trommel exposure pic.png -o nowhere/x.png
trommel: exposure: --output: there is no folder nowhere; make it first (mkdir -p nowhere), or name another one
[1]
$ trommel reduce none.npy -o x
trommel: reduce: unknown option -o; the result is printed; redirect it with >NAME
Try 'trommel reduce --help'.
[2]
$ trommel info ball.nrrd -o x
trommel: info: unknown option -o; the result is printed; redirect it with >NAME
Try 'trommel info --help'.
[2]
$ trommel index ball.nrrd -o nowhere/x.tmx
trommel: index: --output: there is no folder nowhere; make it first (mkdir -p nowhere), or name another one
[1]
$ trommel draw ball.nrrd -o x.png
trommel: draw: ball.nrrd is a volume, and not a mesh; 'trommel surface ball.nrrd -o ball.ply' makes a mesh of it
[1]
$ trommel draw p.xyz -o x.png
trommel: draw: p.xyz is points, and not a mesh; 'trommel surface p.xyz -o p.ply' makes a mesh of them
[1]
$ trommel collide tet.stl ball.nrrd
trommel: collide: ball.nrrd is a volume, and not a mesh; 'trommel surface ball.nrrd -o ball.ply' makes a mesh of it
[1]
$ trommel distance pic.png -o x.nrrd
trommel: distance: pic.png is a picture, and not a mesh; 'trommel exposure pic.png -o pic_exposed.png' exposes it
[1]
$ trommel subdivide ball.tmx -o x.ply
trommel: subdivide: ball.tmx is an index of a volume, and not a mesh; 'trommel surface VOLUME --iso V --index ball.tmx -o ball.ply' makes a mesh of its volume
[1]
$ trommel surface tet.stl -o x.ply
trommel: surface: tet.stl is a mesh, and not a volume; 'trommel distance tet.stl -o tet.nrrd' makes a volume of it
[1]
$ trommel surface pic.png -o x.ply
trommel: surface: pic.png is a picture, and not a volume; 'trommel exposure pic.png -o pic_exposed.png' exposes it
[1]
$ trommel surface ball.nrrd -o x.ply --mask tet.stl
trommel: surface: tet.stl is a mesh, and not a volume; 'trommel distance tet.stl -o tet.nrrd' makes a volume of it
[1]
$ trommel exposure ball.nrrd
trommel: exposure: ball.nrrd is a volume, and not a picture; 'trommel surface ball.nrrd -o ball.ply' makes a mesh of it
[1]
$ trommel mips tet.obj
trommel: mips: give -o NAME.png (or .exr .pfm .hdr), or --sheet NAME.png
Try 'trommel mips --help'.
[2]
$ trommel index tet.stl
trommel: index: tet.stl is a mesh, and not a volume; 'trommel distance tet.stl -o tet.nrrd' makes a volume of it
[1]
$ trommel reduce ball.nrrd
trommel: reduce: ball.nrrd is a volume, and not an array (NPY); 'trommel convert ball.nrrd -o ball.npy' makes one of it
[1]
$ trommel sort tet.stl -o x.npy
trommel: sort: tet.stl is a mesh, and not an array (NPY); 'trommel convert tet.stl --simplify 10% -o tet.glb' leaves a tenth of its triangles
[1]
$ trommel rays tet.stl --rays p.xyz
trommel: rays: p.xyz: the points have no attribute "normal"; they have column 4, column 5, column 6, column 7; a ray needs a direction: columns nx, ny and nz, or three that --direction names
[1]
## Of a 4-D file the summary says which volume it is of; and what has one value has no surface.
$ { printf '\134\001\000\000'; head -c 36 /dev/zero; printf '\004\000\003\000\003\000\003\000\005\000\001\000\001\000\001\000'; head -c 14 /dev/zero; printf '\002\000\010\000'; head -c 2 /dev/zero; for i in 1 2 3 4 5 6 7 8; do printf '\000\000\200\077'; done; printf '\000\000\260\103'; head -c 232 /dev/zero; printf 'n+1\000'; head -c 4 /dev/zero; head -c 27 /dev/zero; for i in 1 2 3 4; do printf 'abcdefghijklmnopqrstuvwxyz{'; done; } >four.nii
$ trommel surface four.nii -o x.ply
trommel: surface: four.nii: all samples are 0: there is no surface in this volume of several; --frame chooses another one
[1]
$ trommel surface four.nii --frame 1 -o x.ply | grep input
  input      3 x 3 x 3 of u8, NIfTI-1, volume 1 of 5 (--frame), spacing 1 x 1 x 1
$ trommel surface four.nii --frame 1 -o x.ply --slabs 2 --iso 105 --json | grep -E '"(frame|volumes)"'
    "frame": 1,
    "volumes": 5,
$ trommel surface four.nii --frame 5 -o x.ply
trommel: surface: four.nii: --frame is 5, needs less than 5, the volumes in the file
[1]
## More of the same kind.
$ trommel --help info | head -1; trommel -h info | head -1; trommel info help | head -1
Usage: trommel info [OPTION...] FILE
Usage: trommel info [OPTION...] FILE
Usage: trommel info [OPTION...] FILE
$ for values in '--largest 1' '-o y.ply' '-t 4' '--region 0:100,:,:' '--region 40:50,:,:' '--mask ball' '--mask p.xyz' '--attribute ball.nrrd -o y.stl' '--smooth' '--caps=yes'; do trommel surface ball.nrrd -o x.ply $values; done 2>&1 | grep -v ^Try
trommel: surface: "1" is neither a file nor an option's value; numbers of one option are written with commas and without blanks, such as 1,1,2.5
trommel: surface: --output is given twice; it names one output
trommel: surface: unknown option -t; did you mean --threads?
trommel: surface: --region: x is from 0 up to 100, and ball.nrrd has samples 0 to 29 along it; an empty end, as in 0:, is the volume's
trommel: surface: --region: x is from 40 up to 50, and ball.nrrd has samples 0 to 29 along it; an empty end, as in 0:, is the volume's
trommel: surface: ball: cannot be opened: No such file or directory
trommel: surface: p.xyz is points, and not a volume; 'trommel surface p.xyz -o p.ply' makes a mesh of them
trommel: surface: --output is given twice; it names one output
trommel: surface: --smooth needs a value: N
trommel: surface: --caps takes no value
$ trommel surface ball.nrrd -o x.stl --attribute ball.nrrd
trommel: surface: --attribute: x.stl holds none; use .ply, .glb or .vtp
Try 'trommel surface --help'.
[2]
$ trommel surface ball.nrrd -o x.stl --attribute ball.nrrd --png x.png -q; trommel surface ball.nrrd -o x.stl --attribute ball.nrrd --png x.png --size 32,32 >x.txt
trommel: surface: warning: --attribute: x.stl holds none; .ply, .glb and .vtp do
$ trommel collide tet.obj tet.stl --distance; trommel collide tet.obj tet.stl --translate 1 2 3; trommel convert tet.obj; trommel draw tet.obj -o x.png --view front
trommel: collide: unknown option --distance; did you mean --find?
Try 'trommel collide --help'.
trommel: collide: --translate: "1" is not accepted; give numbers separated by commas: X,Y,Z
Try 'trommel collide --help'.
trommel: convert: give -o NAME.nrrd (or .mha .npy .raw .ply .stl .obj .glb .vtp .png .exr .hdr .pfm)
Try 'trommel convert --help'.
trommel: draw: --view: "front" is not accepted; give numbers separated by commas: AZ,EL, -360 to 360
Try 'trommel draw --help'.
[2]
$ trommel draw tet.obj -o x.png --size 64x48 --color White; trommel draw tet.obj -o x.png --size 64x48 --color white --background black -q && echo done
tet.obj
  input      4 vertices, 4 triangles, OBJ
  time       # s: ...
  memory     peak #
  output     x.png, 2.5 KiB
done
$ for tone in ACES aces_fit Reinhard re; do trommel exposure pic.png -o x.png --tone $tone >x.txt && echo $tone; done 2>&1 | grep -v ^Try
ACES
aces_fit
Reinhard
trommel: exposure: --tone: "re" is not accepted; give srgb|reinhard|reinhard-extended|hable|aces-fit|agx|neutral
$ trommel exposure pic.png -o x.png --tone Reinhard-Ext --white 3 >x.txt && trommel exposure pic.png --percentile 50% >x.txt && echo done
done
$ trommel compact ball.npy -o x.npy --min 5; trommel rays tet.obj --origin 0,0,0
trommel: compact: unknown option --min; did you mean --at-least?
Try 'trommel compact --help'.
trommel: rays: unknown option --origin; did you mean --rays?
Try 'trommel rays --help'.
[2]
