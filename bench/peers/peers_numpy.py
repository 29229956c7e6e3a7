"""Runs numpy on the array that peers_stream has written, one command a line:

    compact LIMIT     array[array < LIMIT]
    scan              cumulative sum in the array's type
    reduce            sum, in 64 bits
    sort              sorted
    argsort           its stable permutation

Answers each with a line when it is done: the number of elements kept, the sum, or the last element.
"""
import sys

import numpy

path, dtype = sys.argv[1:3]
array = numpy.fromfile(path, dtype=dtype)
out = numpy.empty_like(array)
print("ready", flush=True)
for line in sys.stdin:
    command, *arguments = line.split()
    if command == "compact":
        answer = array[array < int(arguments[0])].size
    elif command == "scan":
        answer = numpy.cumsum(array, out=out)[-1]
    elif command == "sort":
        out[:] = array
        out.sort()
        answer = out[-1]
    elif command == "argsort":
        answer = numpy.argsort(array, kind="stable")[-1]
    else:
        answer = array.sum(dtype="u8" if dtype == "u4" else "f8")
    print(answer, flush=True)
