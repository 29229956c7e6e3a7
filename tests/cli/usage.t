## A wrong command line: exit status 2, and what would do. Nothing is read or written.
$ trommel surfaces x
trommel: unknown command "surfaces"; did you mean surface?
Try 'trommel --help'.
[2]
$ trommel polish x
trommel: unknown command "polish"
Try 'trommel --help'.
[2]
$ trommel --versoin
trommel: unknown option --versoin; did you mean --version?
Try 'trommel --help'.
[2]
$ trommel surface
trommel: surface: IN... is missing
Try 'trommel surface --help'.
[2]
$ trommel surface a b -o x.ply
trommel: surface: --output: x.ply is one name for several inputs; put %04d where each one's number goes
Try 'trommel surface --help'.
[2]
$ trommel index a b -o x.tmx
trommel: index: unexpected argument "b"
Try 'trommel index --help'.
[2]
$ trommel surface a
trommel: surface: give --output, --png or --debug-cells
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
trommel: surface: --iso: "12abc" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso nan
trommel: surface: --iso: "nan" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso 1,,2
trommel: surface: --iso: "1,,2" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso 1e999
trommel: surface: --iso: "1e999" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5
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
trommel: surface: --s may be --slabs or --size; write it out
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
trommel: surface: --spacing: "1,0,1" is not accepted; give three lengths above 0, such as 0.5,0.5,2
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
$ trommel surface a --png x.png --color red
trommel: surface: --color: "red" is not accepted; give a colour of six hexadecimal digits such as #d9c7a8
Try 'trommel surface --help'.
[2]
$ trommel surface a -z
trommel: surface: unknown option -z
Try 'trommel surface --help'.
[2]
$ trommel subdivide a
trommel: subdivide: give --output or --png
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
trommel: scan: give --output
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
trommel: index: unknown option --iso; did you mean --json?
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
trommel: collide: unknown option --frame
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
trommel: mips: give --output or --sheet
Try 'trommel mips --help'.
[2]
$ trommel mips a -o x.png --levels 65
trommel: mips: --levels: "65" is not accepted; give a whole number such as 64, 0 to 64
Try 'trommel mips --help'.
[2]
$ trommel info a b
trommel: info: unexpected argument "b"
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
trommel: devices: unexpected argument "a"
Try 'trommel devices --help'.
[2]
$ trommel compact a -o x.npy
trommel: compact: give --at-least, --at-most, --nonzero or --crossed
Try 'trommel compact --help'.
[2]
$ trommel scan a --min 3
trommel: scan: unknown option --min
Try 'trommel scan --help'.
[2]
$ trommel reduce a -o x.npy
trommel: reduce: unknown option -o
Try 'trommel reduce --help'.
[2]
$ trommel surface --json
trommel: surface: IN... is missing
Try 'trommel surface --help'.
{
  "trommel": "0.1.0",
  "command": "surface",
  "error": {
    "code": 2,
    "message": "IN... is missing"
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
trommel: surface: give --output, --png or --debug-cells
Try 'trommel surface --help'.
{
  "trommel": "0.1.0",
  "command": "surface",
  "error": {
    "code": 2,
    "message": "give --output, --png or --debug-cells"
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
trommel: surface: --iso: "5,1:9:3" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5
Try 'trommel surface --help'.
[2]
$ trommel surface a -o x.ply --iso 0:1:1
trommel: surface: --iso: "0:1:1" is not accepted; give numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N evenly spaced ones from A to B, such as 0.1:0.5:5
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
