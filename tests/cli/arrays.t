## compact, scan, sort and reduce.
$ { printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }"; printf '\003\001\000\004\001'; } >in.npy
$ { printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }"; } >none.npy
$ trommel info in.npy
in.npy: volume, NPY
  samples    5 x 1 x 1 = 5 of u8, 5 bytes
  spacing    1 x 1 x 1
  origin     0, 0, 0
  values     0 to 4, mean 1.8
  histogram  |*           @                         *            *            |
  isovalue   2 (suggested by Otsu's method)
$ trommel info none.npy
none.npy: array, NPY
  elements   none, of u8
$ trommel compact in.npy --at-least 1 --at-most 3 -o kept.npy
in.npy
  input      5 of u8
  kept       3 (60 %)
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     kept.npy, 131 bytes
$ trommel compact in.npy --nonzero --indices -o kept.npy --json
{
  "trommel": "0.1.0",
  "command": "compact",
  "input": {
    "file": "in.npy",
    "file_bytes": 133,
    "kind": "array",
    "format": "NPY",
    "elements": 5,
    "type": "u8"
  },
  "kept": 4,
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "compact",
      "seconds": #
    }
  ],
  "input_bytes_per_second": #,
  "peak_memory_bytes": #,
  "outputs": [
    {
      "file": "kept.npy",
      "bytes": 160
    }
  ]
}
$ trommel scan in.npy -o sums.npy
in.npy
  input      5 of u8
  sums       of u64
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     sums.npy, 168 bytes
$ trommel scan in.npy --inclusive -o sums.npy --json
{
  "trommel": "0.1.0",
  "command": "scan",
  "input": {
    "file": "in.npy",
    "file_bytes": 133,
    "kind": "array",
    "format": "NPY",
    "elements": 5,
    "type": "u8"
  },
  "output_type": "u64",
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "scan",
      "seconds": #
    }
  ],
  "input_bytes_per_second": #,
  "peak_memory_bytes": #,
  "outputs": [
    {
      "file": "sums.npy",
      "bytes": 168
    }
  ]
}
$ trommel scan in.npy --fold min --start 2 -o least.npy
in.npy
  input      5 of u8
  minima     of u32
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     least.npy, 148 bytes
$ tail -c 20 least.npy | od -An -td4 -w20
           2           2           1           0           0
$ trommel scan in.npy --fold max --inclusive -o most.npy -q; tail -c 20 most.npy | od -An -td4 -w20
           3           3           3           4           4
$ trommel scan in.npy --start -1 -o sums.npy
trommel: scan: --start -1: the results are u64, needs a whole number of that type
[1]
$ trommel scan in.npy --fold mean -o sums.npy
trommel: scan: --fold: "mean" is not accepted; give sum|min|max
Try 'trommel scan --help'.
[2]
$ trommel sort in.npy -o sorted.npy
in.npy
  input      5 of u8
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     sorted.npy, 133 bytes
$ tail -c 5 sorted.npy | od -An -tu1
   0   1   1   3   4
$ { printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (5, 2), }"; printf 'a0b1c2d3e4'; } >pairs.npy
$ trommel sort in.npy --descending --indices -o order.npy --payload pairs.npy --payload-output moved.npy --backend cpu
in.npy
  input      5 of u8
  payload    of u8x2
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     order.npy, 168 bytes
  output     moved.npy, 138 bytes
$ tail -c 40 order.npy | od -An -tu8
                    3                    0
                    1                    4
                    2
$ tail -c 10 moved.npy; echo
d3a0b1e4c2
$ trommel sort in.npy --descending --top 2 -o top.npy --backend cpu
in.npy
  input      5 of u8
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     top.npy, 130 bytes
$ tail -c 2 top.npy | od -An -tu1
   4   3
$ trommel sort in.npy --payload pairs.npy --payload-output moved.npy --json
{
  "trommel": "0.1.0",
  "command": "sort",
  "input": {
    "file": "in.npy",
    "file_bytes": 133,
    "kind": "array",
    "format": "NPY",
    "elements": 5,
    "type": "u8"
  },
  "payload_type": "u8x2",
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "sort",
      "seconds": #
    }
  ],
  "input_bytes_per_second": #,
  "peak_memory_bytes": #,
  "outputs": [
    {
      "file": "moved.npy",
      "bytes": 138
    }
  ]
}
$ tail -c 10 moved.npy; echo
c2b1e4a0d3
$ trommel sort none.npy -o sorted.npy
none.npy
  input      0 of u8
  time       # s: ...
  memory     peak #
  output     sorted.npy, 128 bytes
$ trommel sort in.npy --payload none.npy --payload-output moved.npy
trommel: sort: none.npy: has 0 elements, needs 5 as in.npy
[1]
$ trommel sort in.npy --payload pairs.npy -o sorted.npy
trommel: sort: --payload needs --payload-output
Try 'trommel sort --help'.
[2]
$ trommel sort in.npy
trommel: sort: give -o NAME.npy, or --payload-output NAME.npy
Try 'trommel sort --help'.
[2]
$ trommel sort in.npy --payload in.npy --payload-output moved.npy --indices
trommel: sort: --indices needs --output
Try 'trommel sort --help'.
[2]
$ trommel reduce in.npy
sum    9
min    0
max    4
argmin 2
argmax 3
mean   1.8
$ trommel reduce in.npy --max --argmax
max    4
argmax 3
$ trommel reduce in.npy --json
{
  "trommel": "0.1.0",
  "command": "reduce",
  "input": {
    "file": "in.npy",
    "file_bytes": 133,
    "kind": "array",
    "format": "NPY",
    "elements": 5,
    "type": "u8"
  },
  "sum": 9,
  "min": 0,
  "max": 4,
  "argmin": 2,
  "argmax": 3,
  "mean": 1.8,
  "stages": [
    {
      "name": "load",
      "seconds": #
    },
    {
      "name": "reduce",
      "seconds": #
    }
  ],
  "input_bytes_per_second": #,
  "peak_memory_bytes": #,
  "outputs": []
}
$ { printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"; printf '\000\000\300\177\000\000\040\100'; } >nan.npy
$ trommel reduce nan.npy
sum    nan
min    2.5
max    2.5
argmin 1
argmax 1
mean   nan
$ trommel reduce nan.npy --json | grep -E '"(sum|min)"'
  "sum": null,
  "min": 2.5,
$ trommel compact none.npy --nonzero -o kept.npy
none.npy
  input      0 of u8
  kept       0 (0 %)
  time       # s: ...
  memory     peak #
  output     kept.npy, 128 bytes
$ trommel compact in.npy --at-least 1 -o in.npy
trommel: compact: --output: in.npy is an input, which would be lost; name another one
Try 'trommel compact --help'.
[2]
$ trommel scan missing.npy -o x.npy
trommel: scan: missing.npy: cannot be opened: No such file or directory
[1]
$ printf 'no array' >noise.npy; trommel reduce noise.npy --json
trommel: reduce: noise.npy: is no NPY file (numpy.save makes one)
{
  "trommel": "0.1.0",
  "command": "reduce",
  "error": {
    "code": 1,
    "message": "noise.npy: is no NPY file (numpy.save makes one)"
  }
}
[1]
$ ls x*
ls: cannot access 'x*': No such file or directory
[2]
