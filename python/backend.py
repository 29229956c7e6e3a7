"""Builds the wheel and the source distribution (PEP 517) with what a compiler's machine has: CMake and Python.

The wheel holds the shared libraries and serves every Python 3 of its platform. Environment: TROMMEL_LIBRARY, a
folder that has them already.
"""
import base64
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What the libraries and the package are made of.
SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "docs/python.md", "bench", "cmake", "include",
           "python", "src", "tools")
LIBRARIES = {"trommel-shared": "libtrommel.so", "trommel-io-shared": "libtrommel-io.so",
             "trommel-python": "libtrommel-python.so"}


def _version():
    text = (ROOT / "include/trommel/core.h").read_text()
    return ".".join(re.search(rf"#define TML_VERSION_{part} +(\d+)", text).group(1)
                    for part in ("MAJOR", "MINOR", "PATCH"))


def _metadata():
    return (f"Metadata-Version: 2.1\nName: trommel\nVersion: {_version()}\n"
            "Summary: Isosurfaces, fields of points, exposure, collision, subdivision and streams, on numpy arrays\n"
            "License: MIT\nLicense-File: LICENSE\nRequires-Python: >=3.9\nRequires-Dist: numpy>=1.20\nDescription-Content-Type: text/markdown\n\n" +
            (ROOT / "docs/python.md").read_text())


def _info():
    wheel = f"Wheel-Version: 1.0\nGenerator: trommel\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    return {"METADATA": _metadata().encode(), "WHEEL": wheel.encode(), "LICENSE": (ROOT / "LICENSE").read_bytes()}


def _tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _libraries(temporary):
    """Configures and builds the shared libraries; returns their paths."""
    if os.environ.get("TROMMEL_LIBRARY"):
        return [(pathlib.Path(os.environ["TROMMEL_LIBRARY"]) / name).resolve() for name in LIBRARIES.values()]
    folder = pathlib.Path(temporary) / "build"
    configure(folder)
    subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1), "--target", *LIBRARIES],
                   check=True)
    return [(folder / name).resolve() for name in LIBRARIES.values()]


def configure(folder):
    options = ["-D", "CMAKE_BUILD_TYPE=Release", "-D", "TML_PYTHON=ON", "-D", "TML_SHARED=ON", "-D", "TML_CLI=OFF",
               "-D", "TML_TESTS=OFF", "-D", "TML_EXAMPLES=OFF", "-D", "TML_INSTALL=OFF", "-D", "TML_WERROR=OFF"]
    if shutil.which("ninja"):
        options += ["-G", "Ninja"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *options], check=True)


INFO = f"trommel-{_version()}.dist-info"


class _Wheel:
    def __init__(self, path):
        self.file, self.records = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9), []

    def add(self, name, data):
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.external_attr, info.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
        self.file.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(data)}")

    def close(self, record):
        self.file.writestr(zipfile.ZipInfo(record, (1980, 1, 1, 0, 0, 0)), "\n".join(self.records + [f"{record},,", ""]))
        self.file.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):  # pylint: disable=unused-argument
    name = f"trommel-{_version()}-{_tag()}.whl"
    with tempfile.TemporaryDirectory() as temporary:
        wheel = _Wheel(pathlib.Path(wheel_directory) / name)
        for path in sorted((ROOT / "python/trommel").iterdir()):
            if path.suffix in (".py", ".typed"):
                wheel.add(f"trommel/{path.name}", path.read_bytes())
        for path in sorted((ROOT / "include/trommel").glob("*.h")):  # for kernels
            wheel.add(f"trommel/include/trommel/{path.name}", path.read_bytes())
        for path, target in zip(_libraries(temporary), LIBRARIES.values()):
            stripped = pathlib.Path(temporary) / target
            if not shutil.which("strip") or subprocess.run(["strip", "--strip-unneeded", "-o", stripped, path],
                                                           check=False).returncode:
                shutil.copy(path, stripped)
            wheel.add(f"trommel/{target}", stripped.read_bytes())
        for file, data in _info().items():
            wheel.add(f"{INFO}/{file}", data)
        wheel.close(f"{INFO}/RECORD")
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):  # pylint: disable=unused-argument
    folder = pathlib.Path(metadata_directory) / INFO
    folder.mkdir()
    for file, data in _info().items():
        (folder / file).write_bytes(data)
    return INFO


def build_sdist(sdist_directory, config_settings=None):  # pylint: disable=unused-argument
    base = f"trommel-{_version()}"

    def wanted(info):
        leaf = pathlib.PurePath(info.name).name
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        return None if leaf == "__pycache__" or leaf.endswith(".so") else info

    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        data = _metadata().encode()
        info = tarfile.TarInfo(f"{base}/PKG-INFO")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
        for source in SOURCES:
            archive.add(ROOT / source, f"{base}/{source}", filter=wanted)
    return f"{base}.tar.gz"
