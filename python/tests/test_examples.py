"""The gallery's scripts and the notebook run, make their pictures, and are what docs/python.md shows."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "python/examples").glob("*.py"))
NOTEBOOK = ROOT / "python/examples/first_steps.ipynb"

pytest.importorskip("matplotlib")
if not (ROOT / "tests/data").is_dir():
    pytest.skip("needs a checkout's tests/data", allow_module_level=True)


@pytest.fixture(name="folder")
def a_folder(tmp_path, monkeypatch):
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, sys.path)))
    if os.environ.get("TROMMEL_LIBRARY"):
        monkeypatch.setenv("TROMMEL_LIBRARY", os.path.abspath(os.environ["TROMMEL_LIBRARY"]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_make_their_pictures(script, folder):
    from matplotlib.image import imread
    if "skimage" in script.read_text():
        pytest.importorskip("skimage.measure")
    subprocess.run([sys.executable, script], check=True)
    picture = imread(folder / f"{script.stem}.png")
    assert len(np.unique((picture.reshape(-1, 4) * 255).astype(np.uint8), axis=0)) > 50
    assert (ROOT / f"docs/images/python_{script.stem}.png").is_file()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_page_shows_the_scripts(script):
    code = script.read_text().split('"""\n', 2)[1]
    page = (ROOT / "docs/python.md").read_text()
    assert "".join("    " + line if line.strip() else line for line in code.splitlines(True)) in page
    assert f"images/python_{script.stem}.png" in page


def test_the_notebook_runs(folder, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    monkeypatch.delenv("MPLBACKEND")
    notebook = nbformat.read(NOTEBOOK, 4)
    kept = [[output.output_type for output in cell.get("outputs", ())] for cell in notebook.cells]
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    assert [[output.output_type for output in cell.get("outputs", ())] for cell in notebook.cells] == kept
