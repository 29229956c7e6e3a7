"""What bites bindings: the headers, threads, fork, interrupts, memory, the interpreter's end."""
import ctypes
import doctest
import gc
import importlib
import io
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import trommel
from trommel import _abi, _library

ROOT = pathlib.Path(__file__).resolve().parents[2]


def ball(n=24):
    x = np.linspace(-1, 1, n, dtype=np.float32)
    return 0.7 - np.sqrt(x[:, None, None]**2 + x[:, None]**2 + x**2)


def test_the_headers_have_not_moved():
    pytest.importorskip("pycparser")
    made = subprocess.run([sys.executable, ROOT / "python/generate.py", ROOT / "include"], capture_output=True, text=True,
                          check=True).stdout
    assert made == (ROOT / "python/trommel/_abi.py").read_text(), "run: python/generate.py include -o python/trommel/_abi.py"


def test_structs_have_the_compilers_layout(tmp_path):
    structs = [s for s in vars(_abi).values() if isinstance(s, type) and issubclass(s, ctypes.Structure) and
               s is not ctypes.Structure and s.__name__.startswith("tml_") and "Structure" not in s.__name__]
    lines = []
    for s in structs:
        lines.append(f'printf("{s.__name__} %zu\\n", sizeof({s.__name__}));')
        lines += [f'printf("{s.__name__}.{n} %zu\\n", offsetof({s.__name__}, {n}));' for n, _ in s._fields_]
    source = tmp_path / "layout.c"
    source.write_text("#include <stdio.h>\n#include <trommel/trommel.h>\n" +
                      "".join(f"#include <trommel/{name}.h>\n" for name in ["volumes", "points", "meshes", "pictures", "files"]) +
                      "int main(void)\n{\n" + "\n".join(lines) + "\n}\n")
    if not shutil.which("cc"):
        pytest.skip("no compiler")
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", tmp_path / "layout"], check=True)
    said = dict(line.split() for line in subprocess.run([tmp_path / "layout"], capture_output=True, text=True,
                                                        check=True).stdout.splitlines())
    assert len(said) > 300
    for s in structs:
        if s.__name__ in said:
            assert ctypes.sizeof(s) == int(said[s.__name__]), s.__name__
            for name, _ in s._fields_:
                assert getattr(s, name).offset == int(said[f"{s.__name__}.{name}"]), f"{s.__name__}.{name}"


@pytest.mark.parametrize("name", "_library surface slabs streams images kernels meshes files measure mcubes".split())
def test_docstrings_run(name):
    assert doctest.testmod(importlib.import_module("trommel." + name)).failed == 0


def test_threads_have_contexts_of_their_own_and_may_share_one():
    expected, shared, failures = trommel.surface(ball(), 0).face_count, trommel.Context("cpu", threads=1), []

    def work(context):
        for _ in range(5):
            if trommel.surface(ball(), 0, context=context).face_count != expected:
                failures.append(context)

    threads = [threading.Thread(target=work, args=(c,)) for c in (None, None, shared, shared)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_counts_of_threads_that_share_a_context_are_their_own():
    shared, wrong = trommel.Context("cpu", threads=1), []

    def work(n):
        keep = np.arange(100) < n
        for _ in range(300):
            if len(trommel.compact(np.arange(100), keep, context=shared)) != n:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 50, 97)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_interpreter_goes_on_during_a_call():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.002):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    trommel.surface(ball(160), 0, normals="sobel")
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert any(start < t < end for t in ticks)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_has_a_context_of_its_own():
    mesh, given = trommel.surface(ball(), 0), trommel.Context("cpu")
    child = os.fork()
    if child == 0:
        try:
            right = trommel.surface(ball(), 0).face_count == mesh.face_count
            try:
                trommel.surface(ball(), 0, context=given)
                right = False
            except trommel.Error as error:
                right = right and "fork" in str(error)
            os._exit(0 if right else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_does_not_wait_for_a_thread_of_its_parents():
    context = trommel.Context("cpu")
    with context._handle:  # as a thread in a call holds it
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                trommel.surface(ball(), 0, context=context)
            except trommel.Error as error:
                os._exit(0 if "fork" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_callbacks_have_other_contexts():
    seen = []

    def progress(*_):
        if not seen:
            seen.append(trommel.reduce([1, 2]))  # on this thread's own
            gc.collect()
            trommel.reduce([1, 2], context=context)
    context = trommel.Context("cpu", progress=progress)
    with pytest.raises(trommel.InvalidArgument, match="use another"):
        trommel.surface(ball(100), 0, context=context)
    assert seen == [3] and trommel.surface(ball(), 0, context=context).face_count

    class Volume:
        shape, dtype = (24, 24, 24), np.dtype("f4")

        def __getitem__(self, key):
            trommel.reduce([1, 2], context=context)
            return ball()[key]
    with pytest.raises(trommel.InvalidArgument, match="use another"):
        trommel.surface_to_file(os.devnull + ".ply", Volume(), 0, context=context)


def test_errors_go_through_pools():
    for kind in (trommel.Error, trommel.FileError, trommel.OutOfMemory):
        error = pickle.loads(pickle.dumps(kind("CODE", "what")))
        assert type(error) is kind and error.status == "CODE" and str(error) == "CODE: what"
    mesh = pickle.loads(pickle.dumps(trommel.surface(ball(), 0)))
    assert mesh.examine()["euler"] == 2


def test_a_storm_of_threads():
    shared, wrong = trommel.Context("cpu"), []

    def work(seed):
        for k in range(6):
            context = (None, shared, trommel.Context("cpu", threads=1))[k % 3]
            numbers = np.random.default_rng(seed).integers(0, 100, 1000)
            kept = trommel.sort(numbers, context=context), trommel.surface(ball(), 0, context=context).vertices
            del context
            if not np.array_equal(kept[0], np.sort(numbers)) or kept[1].max() >= 24:
                wrong.append(seed)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_contexts_do_not_pile_up():
    handles = []
    for _ in range(20):
        context = trommel.Context("cpu", threads=1, progress=lambda *_: context is not None)  # a cycle
        handles.append(weakref.ref(context._handle))
        trommel.surface(ball(), 0, context=context)
    del context
    gc.collect()
    assert not [handle for handle in handles if handle()]


def test_calls_while_an_exception_is_handled():
    try:
        raise KeyError("first")
    except KeyError:
        assert trommel.surface(ball(), 0).face_count
        with pytest.raises(trommel.InvalidArgument) as info:
            trommel.surface(ball(), np.nan)
    assert isinstance(info.value.__context__, KeyError)


def test_progress_in_a_bar():
    tqdm = pytest.importorskip("tqdm")
    bar = tqdm.tqdm(total=1.0, file=io.StringIO())
    context = trommel.Context("cpu", progress=lambda stage, f: bar.update(f - bar.n))  # as docs/python.md has it
    trommel.surface(ball(100), 0, context=context)
    assert bar.n == 1.0


def test_progress_and_cancelling():
    seen = []
    context = trommel.Context("cpu", progress=lambda stage, fraction: seen.append((stage, fraction)))
    trommel.surface(ball(100), 0, context=context)
    assert seen and all(0 <= f <= 1 for _, f in seen)
    refusing = trommel.Context("cpu", progress=lambda *_: False)
    with pytest.raises(trommel.Cancelled):
        trommel.surface(ball(100), 0, context=refusing)

    def fails(*_):
        raise RuntimeError("mine")
    with pytest.raises(RuntimeError, match="mine"):
        trommel.surface(ball(100), 0, context=trommel.Context("cpu", progress=fails))
    context.cancel()
    with pytest.raises(trommel.Cancelled):
        trommel.surface(ball(), 0, context=context)
    context.resume()
    assert trommel.surface(ball(), 0, context=context).face_count


NOISE = np.random.default_rng(1).random((160, 160, 160), dtype=np.float32)
MANY = np.resize(NOISE, 40_000_000)  # large enough for a call without reports of progress to take longer
CRUMBS = trommel.surface(NOISE[:64, :64, :64], 0.5)


@pytest.mark.parametrize("call", [
    lambda context: trommel.surface(NOISE, 0.5, normals="sobel", context=context),
    lambda context: trommel.surface(NOISE, 0.5, caps=True, largest=True, context=context),
    lambda context: trommel.measure.marching_cubes(NOISE, 0.5, context=context),
    lambda context: trommel.surface_to_file(os.devnull + ".ply", NOISE, 0.5, context=context),
    lambda context: trommel.histogram(MANY, 100, (0, 1), context=context),
    lambda context: trommel.unique(MANY[:10_000_000], context=context),
    lambda context: trommel.collide(CRUMBS, context=context),
    lambda context: trommel.field(NOISE.reshape(-1, 4)[:200_000, :3], resolution=256, context=context),
], ids="normals largest drop-in file histogram unique collide field".split())
def test_ctrl_c_ends_a_call(call):
    """Long before the call's end, wherever in it the signal comes, by this process's time; others may load the machine."""
    context, sent = trommel.Context("cpu", threads=1), []
    start = time.process_time()
    call(context)
    soon = max(0.1, (time.process_time() - start) / 4)
    for delay in (0.05, 0.13, 0.21, 0.34):
        timer = threading.Timer(delay, lambda: (sent.append(time.process_time()), os.kill(os.getpid(), signal.SIGINT)))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            while True:
                call(context)
                if sent:  # heard in a finalizer, whose exceptions Python drops
                    os.kill(os.getpid(), signal.SIGINT)
        assert time.process_time() - sent.pop() < soon
        timer.join()
        sent.clear()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert trommel.surface(ball(), 0, context=context).face_count


def test_ctrl_c_ends_a_call_in_a_call():
    """Both of them: the handler is called once, after the outer one."""
    inner = trommel.Context("cpu", threads=1)

    def progress(*_):
        os.kill(os.getpid(), signal.SIGINT)
        trommel.reduce([1, 2], context=inner)
    with pytest.raises(KeyboardInterrupt):
        trommel.surface(ball(100), 0, context=trommel.Context("cpu", progress=progress))
    assert trommel.reduce([1, 2], context=inner) == 3


def test_a_process_that_ignores_ctrl_c_goes_on():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        context = trommel.Context("cpu", progress=lambda *_: os.kill(os.getpid(), signal.SIGINT))
        assert trommel.surface(ball(), 0, context=context).face_count
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_of_ones_own_hears_ctrl_c():
    """It decides: the call ends as cancelled, and a call that had its result returns it."""
    heard, before = [], signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        send = [True]
        context = trommel.Context("cpu", progress=lambda *_: send and (send.pop(), os.kill(os.getpid(), signal.SIGINT)))
        with pytest.raises(trommel.Cancelled):
            trommel.surface(ball(100), 0, context=context)
        assert heard == [1] and trommel.surface(ball(), 0, context=context).face_count
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_is_not_lost_at_a_calls_end(monkeypatch):
    call = _library.lib.tml_reduce
    monkeypatch.setattr(_library.lib, "tml_reduce", lambda *a: (call(*a), os.kill(os.getpid(), signal.SIGINT))[0])
    with pytest.raises(KeyboardInterrupt):
        trommel.reduce([1, 2])
    monkeypatch.undo()
    assert trommel.reduce([1, 2]) == 3


def test_the_interpreter_may_end_at_any_time():
    code = ("import numpy as np, threading, trommel\n"
            "v = np.random.default_rng(1).random((96, 96, 96), dtype=np.float32)\n"
            "kept = trommel.surface(v, 0.5)\n"
            "threading.Thread(target=lambda: trommel.surface(v, 0.5), daemon=True).start()\n"
            "context = trommel.Context('cpu'); tree = trommel.Tree(kept)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_memory_comes_back():
    """Of arrays that are dropped: a hundred surfaces take no more than a few."""
    resource = pytest.importorskip("resource")
    volume = ball(96)
    for _ in range(5):
        trommel.surface(volume, 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        trommel.surface(volume, 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024


def test_errors_say_what_where_and_how():
    with pytest.raises(ValueError, match="tml_surface.*grid.dims") as info:
        trommel.surface(np.zeros((0, 3, 3)), 0)
    assert isinstance(info.value, trommel.Error) and info.value.status == "INVALID_ARGUMENT"
    with pytest.raises(trommel.InvalidArgument, match="context is 'cpu'"):
        trommel.reduce([1], context="cpu")
    with pytest.raises(trommel.InvalidArgument, match="engine is 'cuda'"):
        trommel.Context("cuda")
    with pytest.raises(trommel.Error, match="NO_DEVICE|no device"):
        trommel.Context("vulkan", device="no such device")


def test_dlpack_and_buffers():
    class Foreign:  # nothing but DLPack
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    data = np.arange(10, dtype=np.float32)
    assert trommel.reduce(Foreign(data)) == 45 and trommel.reduce(memoryview(data)) == 45
    assert _library.as_array(data, "data").ctypes.data == data.ctypes.data
    vertices = trommel.surface(ball(), 0).vertices  # and out, by both
    assert np.from_dlpack(vertices).ctypes.data == vertices.ctypes.data and memoryview(vertices).nbytes == vertices.nbytes


@pytest.mark.parametrize("engine", ["vulkan", "gl"])
def test_engines_agree(engine):
    try:
        context = trommel.Context(engine)
    except trommel.Error as error:
        pytest.skip(str(error))
    a = np.random.default_rng(1).integers(0, 1000, 5000).astype(np.uint32)
    keep = a % 3 == 0
    assert np.array_equal(trommel.compact(a, keep, context=context), a[keep])
    assert trommel.reduce(a, context=context) == a.sum()
    mesh, mine = trommel.surface(ball(), 0, context=context), trommel.surface(ball(), 0)
    assert np.array_equal(mesh.faces, mine.faces) and np.allclose(mesh.vertices, mine.vertices, atol=1e-4)
