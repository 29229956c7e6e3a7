"""The shared library, contexts, errors, and arrays as buffers."""
from __future__ import annotations

import ctypes
import errno
import math
import os
import pathlib
import re
import signal
import sys
import threading
import warnings
import weakref
from typing import Any, Callable

import numpy as np

from . import _abi as c

_ERRORS = {value: name[len("TML_ERROR_"):] for name, value in vars(c).items() if name.startswith("TML_ERROR_")}
_ENGINES = {"auto": c.TML_ENGINE_AUTO, "cpu": c.TML_ENGINE_CPU, "vulkan": c.TML_ENGINE_VULKAN,
            "gl": c.TML_ENGINE_GL}
_IO = frozenset(name for name in c.FUNCTIONS if name.startswith((
    "tml_array_", "tml_file_", "tml_lines_", "tml_mesh_file", "tml_mesh_load", "tml_mesh_mend",
    "tml_mesh_save", "tml_mesh_stream", "tml_path_", "tml_picture_", "tml_points_",
    "tml_surface_save", "tml_value_", "tml_volume_")))
_OWN = {  # of cell_ranges.c and interrupts.c
    "tml_cell_ranges": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p,
                                       ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]),
    "tml_interrupts_begin": (ctypes.c_void_p, [ctypes.c_void_p]),
    "tml_interrupts_end": (ctypes.c_bool, [ctypes.c_void_p])}


class Error(Exception):
    """What the library refuses or fails at. status is its code ("INVALID_ARGUMENT"); the message says what, where
    and how to mend it."""

    def __init__(self, status: str, message: str) -> None:
        is_said = message and isinstance(self, _CLASSES.get(status, ()))  # by the class
        self._text = message if is_said else f"{status}: {message}" if message else status
        super().__init__(self._text)
        self.status, self._message = status, message

    def __str__(self) -> str:  # OSError's shows errno and filename, which the message has
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:  # for processes of a pool
        return type(self), (self.status, self._message)


class InvalidArgument(Error, ValueError):
    """INVALID_ARGUMENT, INVALID_HANDLE"""


class OutOfMemory(Error, MemoryError):
    """OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY"""


class Unsupported(Error, NotImplementedError):
    """UNSUPPORTED by this engine or build"""


class FileError(Error, OSError):
    """FILE_ACCESS, FILE_FORMAT. filename is the path that the call was given; errno is the system's error number, or
    None where the system had no complaint. Of a file that is not there it is a FileNotFoundError, too, and of one that
    may not be opened a PermissionError."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _file_error, (self.status, self._message, self.errno, self.filename)


class _NotFound(FileError, FileNotFoundError):
    pass


class _NotPermitted(FileError, PermissionError):
    pass


class _IsFolder(FileError, IsADirectoryError):
    pass


_OF_SYSTEM = {errno.ENOENT: _NotFound, errno.EACCES: _NotPermitted, errno.EISDIR: _IsFolder}
for _kind in _OF_SYSTEM.values():
    _kind.__name__ = _kind.__qualname__ = "FileError"


class Cancelled(Error):
    """CANCELLED by progress or Context.cancel"""


class Warning(UserWarning):  # pylint: disable=redefined-builtin
    """What the library leaves out or assumes. warnings.simplefilter("error", trommel.Warning) refuses it; of files
    strict=True does."""


_CLASSES: dict[str, type[Error]] = {"INVALID_ARGUMENT": InvalidArgument, "INVALID_HANDLE": InvalidArgument,
            "OUT_OF_MEMORY": OutOfMemory, "OUT_OF_DEVICE_MEMORY": OutOfMemory, "UNSUPPORTED": Unsupported,
            "FILE_ACCESS": FileError, "FILE_FORMAT": FileError, "CANCELLED": Cancelled}
for _kind in (Error, Warning, FileError, *_OF_SYSTEM.values(), *_CLASSES.values()):
    _kind.__module__ = "trommel"  # where users find them


def _open_library(name):
    folder = os.environ.get("TROMMEL_LIBRARY") or pathlib.Path(__file__).parent
    return ctypes.CDLL(str(pathlib.Path(folder) / name), mode=ctypes.RTLD_GLOBAL)


class _Functions:
    """The libraries' functions as attributes, found and typed at first use."""

    def __init__(self):
        self._libraries = {"libtrommel.so": _open_library("libtrommel.so")}

    def __getattr__(self, name):
        file = "libtrommel-io.so" if name in _IO else "libtrommel-python.so" if name in _OWN else "libtrommel.so"
        if file not in self._libraries:
            try:
                self._libraries[file] = _open_library(file)
            except OSError as error:
                raise Unsupported("UNSUPPORTED", f"{name}: {file}, which has it, cannot be loaded: {error}") from None
        function = getattr(self._libraries[file], name)
        function.restype, function.argtypes = _OWN.get(name) or c.FUNCTIONS[name]
        setattr(self, name, function)
        return function


lib = _Functions()


_process = os.getpid()  # asked for once, since each call compares it


def _note_fork():
    global _process
    _process = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)

_local = threading.local()  # each thread's context; inside: the hook of the context whose callback runs in it


class _Hook:
    """The progress hook. What the caller's function raises is kept for after the call."""

    def __init__(self, progress):
        self.progress, self.raised = progress, None

    def run(self, function, *arguments):
        """Calls a function of the caller's, which may not call back into the context."""
        before, _local.inside = getattr(_local, "inside", None), self
        try:
            return function(*arguments)
        finally:
            _local.inside = before

    def __call__(self, _user, stage, fraction):
        try:
            return self.progress is None or self.run(self.progress, stage.decode(), fraction) is not False
        except BaseException as error:  # pylint: disable=broad-except
            self.raised = error
            return False


class _Log:
    """The log hook: keeps warnings, which are given when the call is over, since a filter may raise them."""

    def __init__(self):
        self.lines = []

    def __call__(self, _user, level, message):
        if level == c.TML_LOG_WARNING:
            self.lines.append(re.sub(r"^tml_\w+: ", "", message.decode(errors="replace")))

    def warn(self):
        lines, self.lines = self.lines, []
        for line in lines:
            warn(line)


def warn(message):
    """A trommel.Warning of the line outside of this package that made the call."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "trommel":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, Warning, stacklevel=level)


class _Handle:
    """An open context. Arrays over its memory keep it; the last of them closes it. "with" waits for its turn."""

    def __init__(self, pointer, hook, log, thunks):
        self.pointer, self.hook, self.log, self.thunks = pointer, hook, log, thunks
        self.lock, self.process = threading.Lock(), _process
        self.garbage = []  # work that a finaliser could not do at once
        self.counts = []  # of Buffers.count, for later calls
        weakref.finalize(self, lib.tml_close, pointer).atexit = False  # arrays may be looked at later

    def check(self):
        """May this process and thread call?"""
        if self.process != _process:  # where the lock may be held by a thread that was left behind
            raise InvalidArgument("INVALID_ARGUMENT", "this process was forked off the one that opened the context, "
                                  "and has neither its threads nor its device; open a context here")
        if getattr(_local, "inside", None) is self.hook:
            raise InvalidArgument("INVALID_ARGUMENT", "a function that a call calls may not use the context of this "
                                  "call; use another one")

    def __enter__(self):
        self.check()
        self.lock.acquire()  # pylint: disable=consider-using-with

    def __exit__(self, *_):
        self.lock.release()

    def release(self, work):
        """Frees something of the context: now, or where a call is under way, when it ends. Finalisers may run at
        any time, in any thread, in a call of this thread too."""
        self.garbage.append(work)
        if self.lock.acquire(False):
            try:
                self.collect()
            finally:
                self.lock.release()

    def collect(self):
        while self.garbage:
            self.garbage.pop()()


class Context:
    """A device and its memory. Functions take one as context=; without it each thread has its own, made at first
    use with the engine "cpu".

    engine    "auto" (the best device there is), "cpu", "vulkan", "gl"
    device    part of a device's name, or its number
    threads   of the CPU engine; 0: one for each processor
    progress  called with (stage, fraction) now and then; False cancels the call. tqdm: see docs/python.md

    Calls on one context wait for one another; calls on different ones run at once. Ctrl-C ends a call within some
    milliseconds.

    >>> import trommel
    >>> context = trommel.Context("cpu", threads=1, progress=lambda stage, fraction: False)
    >>> trommel.surface([[[0.0, 1.0], [0.0, 0.0]]] * 2, 0.5, context=context)
    Traceback (most recent call last):
    trommel.Cancelled: tml_surface: cancelled
    """

    engine: str
    device: str

    def __init__(self, engine: str = "auto", device: str | int | None = None, threads: int = 0,
                 progress: Callable[[str, float], object] | None = None) -> None:
        if engine not in _ENGINES:
            raise InvalidArgument("INVALID_ARGUMENT", f"engine is {engine!r}, needs one of {', '.join(_ENGINES)}")
        hook, log, fields = _Hook(progress), _Log(), dict(c.tml_open_desc._fields_)
        thunks = fields["progress"](hook), fields["log"](log)
        desc = c.tml_open_desc(engine=_ENGINES[engine], threads=threads, progress=thunks[0], log=thunks[1],
                               device=None if device is None else str(device).encode())
        pointer = ctypes.c_void_p()
        status = lib.tml_open(desc, pointer)
        if status:
            raise _error(status, lib.tml_last_error(None))
        self._handle = _Handle(pointer, hook, log, thunks)
        info = c.tml_device_info()
        lib.tml_context_describe(pointer, info)
        self.engine = next(name for name, kind in _ENGINES.items() if kind == info.engine)
        self.device = info.name.decode()
        log.lines.clear()  # of devices that were not taken

    def __repr__(self) -> str:
        return f"<trommel.Context {self.engine}: {self.device}>"

    def cancel(self) -> None:
        """Ends the call in progress, from another thread, and refuses later ones until resume()."""
        lib.tml_cancel(self._handle.pointer)

    def resume(self) -> None:
        """Lets calls work again after cancel()."""
        lib.tml_cancel_clear(self._handle.pointer)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls tml_<name>(context, arguments...); raises what went wrong."""
        self.call_on(name, self._handle.pointer, *arguments)

    def call_on(self, name: str, *arguments: Any) -> None:
        """The same for functions whose first argument is not the context."""
        handle, function = self._handle, getattr(lib, "tml_" + name)
        handle.check()
        with handle.lock:  # by itself faster than a function's
            if handle.garbage:
                handle.collect()
            outer, interrupted = None, False
            if threading.current_thread() is not threading.main_thread():
                status = function(*arguments)
            else:
                try:
                    outer = lib.tml_interrupts_begin(handle.pointer)
                    status = function(*arguments)
                finally:
                    interrupted = lib.tml_interrupts_end(outer)
            message = lib.tml_last_error(handle.pointer) if status else None
            raised, handle.hook.raised = handle.hook.raised, None
            if handle.garbage:
                handle.collect()
        if interrupted:
            signal.raise_signal(signal.SIGINT)  # whose handler as a rule raises KeyboardInterrupt
        if handle.log.lines and not status:
            handle.log.warn()
        handle.log.lines.clear()
        if status:
            raise raised or _error(status, message, arguments)


def _error(status, message, arguments=()):
    name, message = _ERRORS.get(status, str(status)), (message or b"").decode(errors="replace")
    if not name.startswith("FILE_"):
        return _CLASSES.get(name, Error)(name, message)
    path = next((os.fsdecode(argument) for argument in arguments if isinstance(argument, bytes)), None)
    said = [number for number in errno.errorcode if name == "FILE_ACCESS" and os.strerror(number) in message]
    return _file_error(name, message, max(said, key=lambda number: len(os.strerror(number)), default=None), path)


def _file_error(name, message, number, path):
    error = _OF_SYSTEM.get(number, FileError)(name, message)
    error.errno, error.filename = number, path
    error.strerror = None if number is None else os.strerror(number)
    return error


def context_of(context):
    """The context given, or this thread's own; after a fork a new one."""
    if isinstance(context, Context):
        return context
    if context is not None:
        raise InvalidArgument("INVALID_ARGUMENT", f"context is {context!r}, needs a trommel.Context")
    if getattr(_local, "process", None) != _process:
        _local.context, _local.process = Context("cpu"), _process
    return _local.context


def devices() -> list[dict[str, Any]]:
    """The devices of this machine, best first, as dicts: engine, name, features, memory, threads, is_software.

    >>> import trommel
    >>> "cpu" in [device["engine"] for device in trommel.devices()]
    True
    """
    infos = (c.tml_device_info * 64)()
    names = {kind: name for name, kind in _ENGINES.items()}
    return [{"engine": names[i.engine], "name": i.name.decode(), "features": i.features.decode(),
             "memory": i.memory, "threads": i.threads, "is_software": i.is_software}
            for i in infos[:lib.tml_devices(infos, 64)]]


# ---- arrays and buffers --------------------------------------------------------------------------------

_NOTHING = ctypes.c_char * 0
TYPES = {"u1": c.TML_U8, "i1": c.TML_I8, "u2": c.TML_U16, "i2": c.TML_I16, "u4": c.TML_U32, "i4": c.TML_I32,
          "u8": c.TML_U64, "i8": c.TML_I64, "f2": c.TML_F16, "f4": c.TML_F32, "f8": c.TML_F64, "b1": c.TML_U8}


def as_array(data, name, dtype=None, ndim=None, last=None):
    """data as a C-contiguous array of one dimension or more in the machine's byte order: itself where it is one."""
    if type(data) is np.ndarray and data.ndim == (ndim or 1) and last is None and data.flags.c_contiguous and \
            (data.dtype == dtype if dtype else data.dtype in _KINDS and data.dtype.isnative):
        return data  # of those who call often
    if hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
        data = np.from_dlpack(data)
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise InvalidArgument("INVALID_ARGUMENT", f"{name} is a masked array, whose mask would be lost; pass what its "
                              ".filled(value) or .compressed() gives")
    array = np.asarray(data)
    if dtype is None and array.dtype.str[1:] not in TYPES:
        raise InvalidArgument("INVALID_ARGUMENT", f"{name} is of {array.dtype}, needs numbers of 1 to 8 bytes")
    array = np.asarray(array, dtype or array.dtype.newbyteorder("="), order="C")
    wrong = None
    if ndim is not None and array.ndim not in (ndim if isinstance(ndim, tuple) else (ndim,)) or not array.ndim:
        wrong = f"{' or '.join(map(str, ndim)) if isinstance(ndim, tuple) else ndim or 1} dimensions"
    elif last is not None and array.shape[-1] != last:
        wrong = f"{last} numbers a row"
    if wrong:
        shape = " x ".join(map(str, array.shape)) or "a single number"
        raise InvalidArgument("INVALID_ARGUMENT", f"{name} is {shape}, needs {wrong}")
    return array


def numbers(values, count, name, scalar=False):
    """A tuple of count floats; of one that is repeated, where that is allowed."""
    array = np.asarray(values, float).ravel()
    if array.size != count and not (scalar and array.size == 1):
        raise InvalidArgument("INVALID_ARGUMENT", f"{name} is {array.size} numbers, needs {count}")
    return tuple(np.broadcast_to(array, count).tolist())


def path_of(path):
    """A file's name in the system's bytes."""
    path = os.fsencode(path)
    if b"\0" in path:
        raise InvalidArgument("INVALID_ARGUMENT", "path has a null byte")
    return path


_KINDS: dict[Any, int] = {}  # by dtype: found faster than by its name, which numpy makes anew


def scalar_type(dtype):
    kind = _KINDS.get(dtype)
    if kind is None:
        kind = _KINDS[dtype] = TYPES[dtype.str[1:]]
    return kind


def _address(array):
    """Of the first element. The buffer protocol is faster than numpy, but not for arrays that are read-only."""
    try:
        return ctypes.addressof(_NOTHING.from_buffer(array))
    except (TypeError, ValueError):
        return array.__array_interface__["data"][0]


def element_type(array):
    """The library's type of a row: a scalar, a vector of 2 to 4, or a record."""
    if array.ndim == 1:
        return scalar_type(array.dtype)
    width = array.itemsize * math.prod(array.shape[1:])
    if array.ndim == 2 and 2 <= array.shape[1] <= 4:
        return scalar_type(array.dtype) | array.shape[1] << 8
    if not 1 <= width <= 64:
        raise InvalidArgument("INVALID_ARGUMENT", f"rows of an array are {width} bytes, need 1 to 64; of others pass "
                              "indices=True and take the rows by these")
    return 0xff | width << 8


class _Memory:
    """Memory of the library's for numpy, which keeps this object and so the owner."""

    def __init__(self, address, shape, dtype, owner):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, False), "shape": shape, "typestr": dtype.str}


def wrap(address, shape, dtype, owner):
    """An array over the library's memory; owner lives as long as it."""
    dtype = np.dtype(dtype)
    if not address or 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(_Memory(address, shape, dtype, owner))


class Owner:
    """Calls release() once, when it is safe, after the last array over something has gone."""

    def __init__(self, context, release):
        weakref.finalize(self, context._handle.release, release).atexit = False


def take(context, buffer, dtype, columns=None):
    """An array of a buffer that a result owned: on the CPU the buffer's own memory."""
    if not buffer.slot:
        return None
    kind, count = ctypes.c_uint32(), ctypes.c_uint64()
    handle, buffer = context._handle, c.tml_buffer(buffer.slot, buffer.generation)
    lib.tml_buffer_describe(handle.pointer, buffer, kind, count)
    shape = (count.value,) if columns is None else (count.value, columns)
    if context.engine != "cpu":
        out = np.empty(shape, dtype)
        try:
            context.call("buffer_read", buffer, out.ctypes.data)
        finally:
            handle.release(lambda: lib.tml_buffer_destroy(handle.pointer, buffer))
        return out
    memory = ctypes.c_void_p()
    context.call("buffer_map", buffer, memory)

    def release():
        lib.tml_buffer_unmap(handle.pointer, buffer)
        lib.tml_buffer_destroy(handle.pointer, buffer)

    return wrap(memory.value, shape, dtype, Owner(context, release))


class Buffers:
    """Arrays lent to the library for a call, in place where the engine can."""

    def __init__(self, context):
        self.context, self._made, self._outputs, self._count, self.counted = context, [], [], None, 0

    def __enter__(self):
        self.context._handle.check()
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                for buffer, array in self._outputs:
                    self.context.call("buffer_read", buffer, array.ctypes.data)
        finally:
            if self._count:
                self.counted = int(self._count[1][0])
                if self.context.engine == "cpu":
                    self.context._handle.counts.append(self._count)
            self.context._handle.release(self._destroy)

    def _destroy(self):
        destroy, pointer = lib.tml_buffer_destroy, self.context._handle.pointer
        for buffer, _ in self._made:
            destroy(pointer, buffer)

    def _make(self, array, kind, on_host, data):
        if kind is None:
            kind, count = element_type(array), len(array)
        else:
            count = array.nbytes // lib.tml_type_size(kind)
        address = _address(array) if count else None
        if self.context.engine == "cpu" or (on_host and self.context.engine == "vulkan"):
            desc = c.tml_buffer_desc(kind, count, None, address)
        else:
            desc = c.tml_buffer_desc(kind, count, address if data else None)
        buffer = c.tml_buffer()
        handle = self.context._handle
        with handle.lock:
            status = lib.tml_buffer_create(handle.pointer, desc, buffer)
            if status:
                raise _error(status, lib.tml_last_error(handle.pointer))
        self._made.append((buffer, array))
        return buffer

    def input(self, array, kind=None, on_host=False):
        """A buffer with the array's contents; on_host: of a call that reads the host's memory on Vulkan, too."""
        return self._make(array, kind, on_host, True)

    def output(self, array, kind=None, filled=False):
        """A buffer whose contents are in the array when the with block ends. filled: begins with the array's."""
        buffer = self._make(array, kind, False, filled)
        if self.context.engine != "cpu" and array.size:
            self._outputs.append((buffer, array))
        return buffer

    def count(self):
        """A buffer for one uint64, which is self.counted when the with block has ended. On the CPU they are kept:
        making them takes a fifth of a short call."""
        counts = self.context._handle.counts
        try:
            self._count = counts.pop()
        except IndexError:  # a thread beside this one may take the last
            array = np.zeros(1, np.uint64)
            self._count = self.output(array), array
            if self.context.engine == "cpu":
                self._made.pop()
        return self._count[0]
