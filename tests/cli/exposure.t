$ printf 'Pf\n2 1\n-1.0\n\0\0\200\077\0\0\200\101' >a.pfm
$ printf 'Pf\n1 1\n-1.0\n\0\0\300\177' >nan.pfm
$ trommel exposure a.pfm --backend cpu
a.pfm
  picture    2 x 1, 1 x f32, PFM
  pixels     2, 100 % positive
  luminance  1 to 16, mean 8.5, standard deviation 7.5 (rec709)
  log mean   4, +2.0000 stops; median 1.091, +0.125 stops
  percentile 1 %: +0.00, 5 %: +0.01, 50 %: +0.12, 95 %: +4.11, 99 %: +4.12 stops
  exposure   x 0.045, -4.474 stops: the average of +2.000 stops becomes 0.18
  EV100      5.000, if a luminance of 1 is 1 cd/m2
  histogram  |                                @       @                       | -16 to +16 stops
  time       # s: ...
  memory     peak #
$ trommel exposure a.pfm --backend cpu --clip 5,95 --ev +1 -o a.png --histogram plot.png
trommel: exposure: --histogram: plot.png does not end in .svg
Try 'trommel exposure --help'.
[2]
$ trommel exposure a.pfm --backend cpu --weights 1,1,2 --percentile 30
a.pfm
  picture    2 x 1, 1 x f32, PFM
  pixels     2, 100 % positive
  luminance  1 to 16, mean 8.5, standard deviation 7.5 (custom)
  log mean   4, +2.0000 stops; median 1.091, +0.125 stops
  percentile 1 %: +0.00, 5 %: +0.01, 50 %: +0.12, 95 %: +4.11, 99 %: +4.12 stops
  exposure   x 0.17088, -2.549 stops: the average of +0.075 stops becomes 0.18
  EV100      3.075, if a luminance of 1 is 1 cd/m2
  histogram  |                                @       @                       | -16 to +16 stops
  time       # s: ...
  memory     peak #
$ trommel exposure a.pfm --backend cpu --json
{
  "trommel": "0.1.0",
  "command": "exposure",
  "input": {
    "file": "a.pfm",
    "file_bytes": 20,
    "kind": "picture",
    "format": "PFM",
    "width": 2,
    "height": 1,
    "channels": 1,
    "type": "f32",
    "srgb": false,
    "x": 0,
    "y": 0,
    "full_width": 2,
    "full_height": 1,
    "comment": ""
  },
  "pixels": 2,
  "positive": 2,
  "zero": 0,
  "negative": 0,
  "nans": 0,
  "infinities": 0,
  "weight": 2,
  "log_weight": 2,
  "min": 1,
  "max": 16,
  "mean": 8.5,
  "deviation": 7.5,
  "luminance": "rec709",
  "geometric_mean": 4,
  "log2_mean": 2,
  "log2_median": 0.125,
  "scale": 0.044999994337558746,
  "log2_average": 2,
  "log2_target": 2,
  "log2_low": 0,
  "log2_high": 4.125,
  "ev100": 5,
  "histogram": {
    "low": -16,
    "bin_width": 0.125,
    "bins": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  },
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "measure",
      "seconds": #
    }
  ],
  "peak_memory_bytes": #,
  "outputs": []
}
$ trommel exposure nan.pfm --backend cpu
trommel: exposure: warning: nan.pfm: no pixel is positive, so that there is nothing to expose by; if it holds logarithms, say which: --values log2, ln or log10
nan.pfm
  picture    1 x 1, 1 x f32, PFM
  pixels     1, 100 % NaN
  luminance  no pixel is finite
  exposure   x 1, +0.000 stops: no pixel has a logarithm to be exposed by
  histogram  |                                                                | -16 to +16 stops
  time       # s: ...
  memory     peak #
$ trommel exposure data/pictures/basn2c16.png --backend cpu --linear --meter spot -o spot.pfm
basn2c16.png
  picture    32 x 32, 3 x u16 linear, PNG
  pixels     24, 100 % positive
  luminance  0.409774 to 0.525013, mean 0.465467, standard deviation 0.026346 (rec709)
  log mean   0.464722, -1.1056 stops; median 0.4651, -1.104 stops
  percentile 1 %: -1.32, 5 %: -1.24, 50 %: -1.10, 95 %: -0.92, 99 %: -0.88 stops
  exposure   x 0.38733, -1.368 stops: the average of -1.106 stops becomes 0.18
  EV100      1.894, if a luminance of 1 is 1 cd/m2
  histogram  |                             @#                                 | -16 to +16 stops
  time       # s: ...
  memory     peak #
  output     spot.pfm, 12 KiB
## A sequence, to which the exposure adapts.
$ printf 'Pf\n1 1\n-1.0\n\0\0\200\077' >f_1.pfm
$ printf 'Pf\n1 1\n-1.0\n\0\0\200\101' >f_2.pfm
$ trommel exposure f_%d.pfm --backend cpu --fps 1 -o out_%02d.png; ls out*
frame  log mean   target   average     EV100   exposure  file
          stops    stops     stops                     x
    1     0.000    0.000     0.000     3.000       0.18  f_1.pfm
    2     4.000    4.000     3.000     6.000     0.0225  f_2.pfm
out_01.png
out_02.png
$ trommel exposure f_1.pfm f_2.pfm --backend cpu --no-adapt --json | grep -E 'frame|file"|ev100'
  "frames": [
      "frame": 0,
        "file": "f_1.pfm",
      "ev100": 3,
      "frame": 1,
        "file": "f_2.pfm",
      "ev100": 7,
## What fails.
$ trommel exposure a.pfm --linear
trommel: exposure: --linear is for pictures of integers; a.pfm holds a picture of floats
Try 'trommel exposure --help'.
[2]
$ trommel exposure a.pfm --region 5:,:
trommel: exposure: --region reaches out of a.pfm, which is 2 x 1 pixels
[1]
$ trommel exposure a.pfm --meter missing.png
trommel: exposure: missing.png: cannot be opened: No such file or directory
[1]
$ trommel exposure a.pfm -o a.pfm
trommel: exposure: --output: a.pfm is an input, which would be lost; name another one
Try 'trommel exposure --help'.
[2]
$ trommel exposure a.pfm -o x.png --histogram x.png
trommel: exposure: --histogram: x.png does not end in .svg
Try 'trommel exposure --help'.
[2]
$ trommel exposure f_1.pfm f_2.pfm -o x.png
trommel: exposure: --output: x.png is one name for several inputs; put %04d where each one's number goes
Try 'trommel exposure --help'.
[2]
$ trommel exposure f_1.pfm missing.pfm -o x%d.pfm --backend cpu --json | grep -A4 error
trommel: exposure: missing.pfm: cannot be opened: No such file or directory
trommel: exposure: frame 1 (missing.pfm) was not finished
  "error": {
    "code": 1,
    "message": "missing.pfm: cannot be opened: No such file or directory"
  }
}
$ trommel exposure data/volumes/fuel_crop.nii.gz
trommel: exposure: data/volumes/fuel_crop.nii.gz is a volume, and not a picture; 'trommel surface data/volumes/fuel_crop.nii.gz -o fuel_crop.nii.ply' makes a mesh of it
[1]
$ ls x*
x0.pfm
## A target of log luminance: metered as linear values it has nothing to expose by.
$ printf 'Pf\n1 1\n-1.0\n\0\0\220\300' >log.pfm
$ trommel exposure log.pfm --backend cpu
trommel: exposure: warning: log.pfm: no pixel is positive, so that there is nothing to expose by; if it holds logarithms, say which: --values log2, ln or log10
log.pfm
  picture    1 x 1, 1 x f32, PFM
  pixels     1, 100 % negative
  luminance  -4.5 to -4.5, mean -4.5, standard deviation 0 (rec709)
  exposure   x 1, +0.000 stops: no pixel has a logarithm to be exposed by
  histogram  |                                                                | -16 to +16 stops
  time       # s: ...
  memory     peak #
$ trommel exposure log.pfm --backend cpu --values log2
log.pfm
  picture    1 x 1, 1 x f32, PFM
  pixels     1, 100 % positive
  luminance  0.0441942 to 0.0441942, mean 0.0441942, standard deviation 0 (rec709)
  log mean   0.0441942, -4.5000 stops; median 0.04615, -4.438 stops
  percentile 1 %: -4.50, 5 %: -4.49, 50 %: -4.44, 95 %: -4.38, 99 %: -4.38 stops
  exposure   x 4.0729, +2.026 stops: the average of -4.500 stops becomes 0.18
  EV100      -1.500, if a luminance of 1 is 1 cd/m2
  histogram  |                       @                                        | -16 to +16 stops
  time       # s: ...
  memory     peak #
$ trommel exposure data/pictures/basn2c16.png --backend cpu --values log2
trommel: exposure: --values is for pictures of floats; data/pictures/basn2c16.png holds a picture of integers
Try 'trommel exposure --help'.
[2]
$ trommel exposure a.pfm --backend cpu --tone reinhard_extended -o a.png --quiet; ls a.png
a.png
