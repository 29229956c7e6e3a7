$ trommel index data/volumes/fuel_crop.nii.gz -o fuel.tmx
fuel_crop.nii.gz
  input      64 x 33 x 32 of u8, NIfTI-1, spacing 1 x 1 x 1 mm
  bricks     72 of 64 x 4 x 4 samples
  samples    0 to 255
  time       # s: ...
  speed      #/s in
  memory     peak #
  output     fuel.tmx, 628 bytes
$ trommel index data/volumes/fuel_crop.nii.gz -o fuel.tmx --json
{
  "trommel": "0.1.0",
  "command": "index",
  "input": {
    "file": "data/volumes/fuel_crop.nii.gz",
    "file_bytes": 4121,
    "kind": "volume",
    "dims": [64, 33, 32],
    "type": "u8",
    "format": "NIfTI-1",
    "spacing": [1, 1, 1],
    "unit": "mm"
  },
  "bricks": 72,
  "open_bricks": 0,
  "lower": 0,
  "upper": 255,
  "stages": [
    {
      "name": "bricks",
      "seconds": #
    }
  ],
  "input_bytes_per_second": #,
  "peak_memory_bytes": #,
  "outputs": [
    {
      "file": "fuel.tmx",
      "bytes": 628
    }
  ]
}
$ trommel info fuel.tmx
fuel.tmx: index, TMX
  volume     64 x 33 x 32 of u8
  bricks     72 of 64 x 4 x 4 samples
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --index fuel.tmx -o fuel.ply -q
$ trommel index data/volumes/brain1_label.nrrd -o brain.tmx -q
$ trommel surface data/volumes/fuel_crop.nii.gz --iso 30 --index brain.tmx -o x.ply
trommel: surface: --index: brain.tmx is of another volume than data/volumes/fuel_crop.nii.gz; make it again with "trommel index"
[1]
$ trommel index data/dam_break_4732.vtk -o x.tmx
trommel: index: data/dam_break_4732.vtk is points, and not a volume; 'trommel surface data/dam_break_4732.vtk -o dam_break_4732.ply' makes a mesh of them
[1]
$ trommel index data/volumes/fuel_crop.nii.gz -o x.tmx --big-endian
trommel: index: --big-endian is for headerless volumes; data/volumes/fuel_crop.nii.gz holds a volume
Try 'trommel index --help'.
[2]
$ cp data/volumes/fuel_crop.nii.gz v.nii.gz; ln -s v.nii.gz v.nii.gz.tmx; trommel index v.nii.gz
trommel: index: --output: v.nii.gz.tmx is an input, which would be lost; name another one
Try 'trommel index --help'.
[2]
$ ls x*
ls: cannot access 'x*': No such file or directory
[2]
