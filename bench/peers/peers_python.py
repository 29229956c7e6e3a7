"""peers_python.py: the Python package beside scikit-image, and what its calls cost. The package is found by Python:
PYTHONPATH=python TROMMEL_LIBRARY=build/release.

Medians of turns, each of which runs everything once; ratios are medians of the turns' ratios. What runs in one thread
is timed in processor time, what runs in two by the clock, beside the peer by the clock."""
import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np


def gyroid(n, periods=4):
    """Made in place: the peak of the process's memory is measured after it."""
    x = np.linspace(0, periods * 2 * np.pi, n, dtype=np.float32)
    s, c = np.sin(x), np.cos(x)
    volume = np.empty((n, n, n), np.float32)
    for z in range(n):
        volume[z] = s[z] * c[:, None] + s[:, None] * c + s * c[z]
    return volume


def calls(trommel, skimage):
    """What is timed: for each row the calls beside one another, the peer's first."""
    one, two = trommel.Context("cpu", threads=1), trommel.Context("cpu", threads=2)
    ours = trommel.measure.marching_cubes
    return {
        "vertices, faces, normals, values": [
            lambda v: skimage.marching_cubes(v, 0.0), lambda v: ours(v, 0.0, context=one),
            lambda v: ours(v, 0.0, context=two)],
        "vertices, faces": [
            lambda v: skimage.marching_cubes(v, 0.0), lambda v: ours(v, 0.0, method="_lorensen", context=one),
            lambda v: ours(v, 0.0, method="_lorensen", context=two)]}


def time_calls(functions, volume, turns):
    """For each turn the milliseconds of each function: of the clock, and of the processor."""
    times = []
    for turn in range(turns + 1):
        times.append([])
        for function in functions:
            start = time.perf_counter(), time.process_time()
            function(volume)
            times[-1].append((1e3 * (time.perf_counter() - start[0]), 1e3 * (time.process_time() - start[1])))
    return times[1:]  # the first turn warms up


def median(numbers):
    return statistics.median(list(numbers))


def peak():
    """Of the process's memory, in KB; getrusage has its parent's, too."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def child(side, which):
    """Prints how far a call raises the peak of the process's memory, in MB."""
    from skimage import measure as skimage  # pylint: disable=import-outside-toplevel
    import trommel  # pylint: disable=import-outside-toplevel
    volume = gyroid(side)
    function = list(calls(trommel, skimage).values())[0][which]
    function(gyroid(8))
    before = peak()
    kept = function(volume)
    print((peak() - before) / 1024, len(kept[1]))


def peaks(side):
    def of(which):
        return float(subprocess.run([sys.executable, __file__, "--side", str(side), "--peak", str(which)], check=True,
                                    capture_output=True, text=True).stdout.split()[0])
    return of(0), of(1)


def beside(side, turns):
    import trommel  # pylint: disable=import-outside-toplevel
    from skimage import measure as skimage  # pylint: disable=import-outside-toplevel
    volume = gyroid(side)
    count = len(trommel.measure.marching_cubes(volume, 0.0)[1])
    print(f"| {side}^3 float32 gyroid, {count:,} triangles | scikit-image | trommel, 1 thread | ratio | 2 threads | ratio |")
    print("|---|---|---|---|---|---|")
    for name, functions in calls(trommel, skimage).items():
        times = time_calls(functions, volume, turns)
        peer, one, two = (median(turn[i][clock] for turn in times) for i, clock in ((0, 1), (1, 1), (2, 0)))
        ratios = [median(turn[0][clock] / turn[i][clock] for turn in times) for i, clock in ((1, 1), (2, 0))]
        print(f"| {name}, ms | {peer:.0f} | {one:.0f} | {ratios[0]:.1f} | {two:.0f} | {ratios[1]:.1f} |", flush=True)
    theirs, mine = peaks(side)
    print(f"| memory beside the volume, MB | {theirs:.0f} | {mine:.0f} | {theirs / mine:.1f} | | |")


def open_edges(faces):
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return int((np.unique(edges, axis=0, return_counts=True)[1] == 1).sum())


def costs(turns):
    import trommel  # pylint: disable=import-outside-toplevel
    values, keep = np.arange(10, dtype=np.float32), np.arange(10) % 2 == 0

    def compacts():
        start = time.process_time()
        for _ in range(1000):
            trommel.compact(values, keep)
        return 1e3 * (time.process_time() - start)
    compacts()
    print("\n| | |\n|---|---|")
    print(f"| `trommel.compact` of 10 floats, us | {median(compacts() for _ in range(turns)):.1f} |")
    code = "import numpy, time; t = time.process_time(); import trommel; print(1e3 * (time.process_time() - t))"
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        times = [float(subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True,
                                      text=True).stdout) for _ in range(turns + 1)]
    print(f"| `import trommel` after numpy, ms | {median(times[1:]):.0f} |")
    backend = os.path.join(os.path.dirname(__file__), "../../python/backend.py")
    spec = importlib.util.spec_from_file_location("backend", backend)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    os.environ.setdefault("TROMMEL_LIBRARY", os.path.dirname(trommel.__file__))
    with tempfile.TemporaryDirectory() as folder:
        size = os.path.getsize(os.path.join(folder, module.build_wheel(folder)))
    print(f"| the wheel, MB | {size / 1e6:.1f} |")


def leaks():
    import trommel  # pylint: disable=import-outside-toplevel
    from skimage import measure as skimage  # pylint: disable=import-outside-toplevel
    volume = np.random.default_rng(1).integers(-3, 4, (40, 40, 40)).astype(np.float32)
    volume[[0, -1]] = volume[:, [0, -1]] = volume[:, :, [0, -1]] = -3
    theirs, mine = (open_edges(package.marching_cubes(volume, 0.0)[1]) for package in (skimage, trommel.measure))
    print(f"| open edges of 40^3 small integers, level 0: scikit-image, trommel | {theirs:,}, {mine} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--peak", type=int)
    options, _ = parser.parse_known_args()
    if options.peak is not None:
        child(options.side, options.peak)
        return
    has_peer = importlib.util.find_spec("skimage") is not None
    if has_peer:
        beside(options.side, options.repeats)
    else:
        print("no scikit-image: marching cubes have nothing to be compared with")
    costs(options.repeats)
    if has_peer:
        leaks()


if __name__ == "__main__":
    main()
