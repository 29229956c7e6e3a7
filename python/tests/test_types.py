"""Annotations: all there, and what mypy makes of calls."""
import inspect
import os
import pathlib
import subprocess
import sys

import pytest
import trommel
from trommel import mcubes, measure

PYTHON = pathlib.Path(__file__).resolve().parents[1]


def functions():
    for owner, names in ((trommel, trommel.__all__), (mcubes, ["marching_cubes"]), (measure, ["marching_cubes"])):
        for name, thing in ((name, getattr(owner, name)) for name in names):
            if inspect.isfunction(thing):
                yield name, thing
            elif inspect.isclass(thing):
                for method, function in vars(thing).items():
                    function = getattr(function, "fget", function)
                    if inspect.isfunction(function) and (method[0] != "_" or method in ("__init__", "__len__")):
                        yield f"{name}.{method}", function


@pytest.mark.parametrize("name, function", list(functions()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_public_function_says_its_types(name, function):
    wanted = set(inspect.signature(function).parameters) - {"self"} | {"return"}
    assert wanted <= set(function.__annotations__), name
    assert function.__doc__ or "__" in name or name.startswith("Mesh.to_") or name == "Mesh.face_count"
    if "." not in name:  # an example, or where there is one; methods have their class's
        assert ">>>" in function.__doc__ or "xample:" in function.__doc__, name


def mypy(folder, *arguments):
    pytest.importorskip("mypy.api")
    return subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary", "--no-color-output", "--cache-dir", folder,
                           *arguments], capture_output=True, text=True, check=False, cwd=folder,
                          env={**os.environ, "MYPYPATH": str(PYTHON)})


def test_mypy_reads_calls_as_they_are_meant(tmp_path):
    done = mypy(tmp_path, "--strict", "--follow-imports=silent", "--allow-any-generics", PYTHON / "tests/typed.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_has_nothing_to_say_of_the_package(tmp_path):
    """But that an argument is called by its name when it has become an array, which mypy does not follow."""
    narrowing = ("union-attr", "arg-type", "assignment", "return-value", "index", "operator", "misc", "import")
    done = mypy(tmp_path, "-p", "trommel", *(f"--disable-error-code={code}" for code in narrowing))
    assert done.returncode == 0, done.stdout + done.stderr
