$ trommel mips data/pictures/basn2c16.png -o grey.png
basn2c16.png
  picture    32 x 32, 3 x u16 linear, PNG
  level 0    grey_0.png, 32 x 32, 3 x u16 linear, 382 bytes
  level 1    grey_1.png, 16 x 16, 3 x u16 linear, 217 bytes
  level 2    grey_2.png, 8 x 8, 3 x u16 linear, 161 bytes
  level 3    grey_3.png, 4 x 4, 3 x u16 linear, 138 bytes
  level 4    grey_4.png, 2 x 2, 3 x u16 linear, 108 bytes
  level 5    grey_5.png, 1 x 1, 3 x u16 linear, 88 bytes
  time       # s: ...
  memory     peak #
$ trommel mips data/pictures/basn2c16.png --levels 2 --linear -o grey_%d.png --json
{
  "trommel": "0.1.0",
  "command": "mips",
  "input": {
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
    "comment": ""
  },
  "levels": [
    {
      "level": 0,
      "file": "grey_0.png",
      "width": 32,
      "height": 32,
      "bytes": 382
    },
    {
      "level": 1,
      "file": "grey_1.png",
      "width": 16,
      "height": 16,
      "bytes": 217
    }
  ],
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "mips",
      "seconds": #
    },
    {
      "name": "save",
      "seconds": #
    }
  ],
  "peak_memory_bytes": #,
  "outputs": []
}
$ printf 'Pf\n2 2\n-1.0\n\0\0\200\077\0\0\300\177\0\0\200\077\0\0\200\077' >nan.pfm
$ trommel mips nan.pfm -o nan.hdr
trommel: mips: warning: the picture has pixels that are NaN or infinite, which spread to the last level; trommel exposure counts them
nan.pfm
  picture    2 x 2, 1 x f32, PFM
  level 0    nan_0.hdr, 2 x 2, 1 x f32, 61 bytes
  level 1    nan_1.hdr, 1 x 1, 1 x f32, 49 bytes
  time       # s: ...
  memory     peak #
$ trommel mips nan.pfm -o nan.pfm --linear
trommel: mips: --linear is for pictures of integers; nan.pfm holds a picture of floats
Try 'trommel mips --help'.
nan.pfm
  picture    2 x 2, 1 x f32, PFM
[2]
$ trommel mips data/pictures/image1_128x85.hdr --log --levels 3 -o log.pfm
image1_128x85.hdr
  picture    128 x 85, 3 x f32, Radiance
  level 1    log_1.pfm, 64 x 42, 1 x f32, 11 KiB
  level 2    log_2.pfm, 32 x 21, 1 x f32, 2.6 KiB
  time       # s: ...
  memory     peak #
$ trommel mips data/pictures/image1_128x85.hdr --log --levels 3 --last -o last.pfm
image1_128x85.hdr
  picture    128 x 85, 3 x f32, Radiance
  level 2    last_2.pfm, 32 x 21, 1 x f32, 2.6 KiB
  time       # s: ...
  memory     peak #
$ cmp log_2.pfm last_2.pfm
$ ls last*
last_2.pfm
$ trommel mips data/pictures/basn2c16.png --log -o x.png
trommel: mips: --output: x.png cannot hold logarithms; name an .exr or .pfm
Try 'trommel mips --help'.
basn2c16.png
  picture    32 x 32, 3 x u16 linear, PNG
[2]
$ trommel mips data/pictures/basn2c16.png --last --levels 1 -o x.png
trommel: mips: --last needs two levels, and --levels is 1
Try 'trommel mips --help'.
basn2c16.png
  picture    32 x 32, 3 x u16 linear, PNG
[2]
$ trommel mips data/pictures/basn2c16.png -o x.hdr
trommel: mips: --output: x.hdr is for floats, and the picture has integers; name a .png
Try 'trommel mips --help'.
basn2c16.png
  picture    32 x 32, 3 x u16 linear, PNG
[2]
$ printf 'Pf\n1 1\n-1.0\n\0\0\200\077' >p_0.pfm; trommel mips p_0.pfm -o p.pfm
trommel: mips: --output: p_0.pfm is an input, which would be lost; name another one
Try 'trommel mips --help'.
[2]
$ trommel mips missing.png -o x.png
trommel: mips: missing.png: cannot be opened: No such file or directory
[1]
$ ls x*
ls: cannot access 'x*': No such file or directory
[2]
## Of logarithms, levels are linear, but with --log.
$ printf 'Pf\n2 1\n-1.0\n\0\0\220\300\0\0\0\300' >log.pfm
$ trommel mips log.pfm --values log2 -o linear.pfm --backend cpu && od -An -tf4 -j12 linear_1.pfm
log.pfm
  picture    2 x 1, 1 x f32, PFM
  level 1    linear_1.pfm, 1 x 1, 1 x f32, 16 bytes
  time       # s: ...
  memory     peak #
      0.14709708
$ trommel mips log.pfm --values log2 --log -o logs.pfm --backend cpu && od -An -tf4 -j12 logs_1.pfm
log.pfm
  picture    2 x 1, 1 x f32, PFM
  level 1    logs_1.pfm, 1 x 1, 1 x f32, 16 bytes
  time       # s: ...
  memory     peak #
           -3.25
$ trommel mips log.pfm --values log2 --sheet x.png
trommel: mips: --sheet shows the picture, too, and with --values only the levels are linear; write these: -o x.exr
Try 'trommel mips --help'.
[2]
