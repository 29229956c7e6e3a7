"""What backend.py makes: the wheel's files, and a source distribution that has all that a build needs."""
import base64
import csv
import hashlib
import importlib.util
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import trommel

ROOT = pathlib.Path(__file__).resolve().parents[2]


def backend_of(root):
    spec = importlib.util.spec_from_file_location("backend", root / "python/backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_wheel_lists_what_it_holds(tmp_path, monkeypatch):
    folder = os.environ.get("TROMMEL_LIBRARY") or os.path.dirname(trommel.__file__)
    monkeypatch.setenv("TROMMEL_LIBRARY", folder)
    name = backend_of(ROOT).build_wheel(tmp_path)
    assert name.startswith(f"trommel-{trommel.__version__}-py3-none-") and (tmp_path / name).stat().st_size < 3_400_000
    with zipfile.ZipFile(tmp_path / name) as wheel:
        info = f"trommel-{trommel.__version__}.dist-info/"
        rows = list(csv.reader(io.StringIO(wheel.read(info + "RECORD").decode())))
        assert sorted(row[0] for row in rows) == sorted(wheel.namelist())
        for path, digest, size in rows:
            data = wheel.read(path)
            if path != info + "RECORD":
                made = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                assert (digest, size) == ("sha256=" + made, str(len(data)))
        assert {info + "LICENSE", "trommel/py.typed", "trommel/libtrommel.so"} <= set(wheel.namelist())
        assert b"License-File: LICENSE" in wheel.read(info + "METADATA")


def test_the_source_distribution_is_complete(tmp_path):
    if not shutil.which("cmake"):
        pytest.skip("needs CMake")
    name = backend_of(ROOT).build_sdist(tmp_path)
    with tarfile.open(tmp_path / name) as archive:
        archive.extractall(tmp_path)
    root = tmp_path / name[:-len(".tar.gz")]
    assert (root / "PKG-INFO").is_file() and (root / "LICENSE").is_file()
    code = "import backend, sys; backend.configure(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, tmp_path / "build"], cwd=root / "python", check=True,
                   capture_output=True)
