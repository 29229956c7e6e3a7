"""Kernels of one's own."""
import os

import numpy as np
import pytest
import trommel

POSITIVE = "bool is_positive(float x) { return x > 0.0f; }"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(params=["cpu", "vulkan", "gl"])
def context(request):
    try:
        return trommel.Context(request.param)
    except trommel.Error as error:
        return pytest.skip(str(error))


@pytest.mark.parametrize("n", [1, 1023, 1024, 1025, 70001])
def test_compact_by_a_kernel(context, n):
    a, rows = np.random.default_rng(n).normal(size=n).astype(np.float32), np.arange(3 * n, dtype=np.uint32).reshape(n, 3)
    try:
        kept, others = trommel.compact([a, rows], trommel.Kernel(POSITIVE), context=context)
    except trommel.Unsupported as error:
        pytest.skip(str(error))
    assert np.array_equal(kept, a[a > 0]) and np.array_equal(others, rows[a > 0])


def test_maps_of_every_result(context):
    a = np.arange(100, dtype=np.float32)
    cases = [("float half(float x) { return 0.5f * x; }", a / 2), ("bool odd(uint x) { return (x & 1u) != 0u; }", a % 2 == 1),
             ("vec2 both(float x, tml_index i) { return VEC2(x, F(i)); }", np.stack([a, a], 1)),
             ("uint plus(uint x, tml_params p) { return x + p.u[1]; }", a.astype(np.uint32) + 7)]
    for text, expected in cases:
        kernel = trommel.Kernel(text)
        data = a.astype(np.uint32) if kernel.arrays == ["uint"] else a
        try:
            out = trommel.map(kernel, data, u=[0, 7], context=context)
        except trommel.Unsupported as error:
            pytest.skip(str(error))
        assert out.dtype == expected.dtype and np.array_equal(out, expected), text


def test_a_matrix(context):
    m = np.array([[1, 2, 0, 3], [0, -1, 4, 0], [2, 0, 1, 5], [0, 0, 0, 1]])
    points = np.random.default_rng(3).integers(-9, 9, (1025, 3)).astype(np.float32)
    moved = points @ m[:3, :3].T + m[:3, 3]
    move = trommel.Kernel("vec3 move(vec3 x, tml_params p) { return transform3(p.m, x); }")
    above = trommel.Kernel("bool above(vec3 x, tml_params p) { return transform4(p.m, VEC4(x.x, x.y, x.z, 1.0f)).z > p.f[0]; }")
    try:
        assert np.array_equal(trommel.map(move, points, m=m, context=context), moved)
        assert np.array_equal(trommel.compact(points, above, m=m, f=[4], context=context), points[moved[:, 2] > 4])
    except trommel.Unsupported as error:
        pytest.skip(str(error))
    with pytest.raises(trommel.InvalidArgument, match=r"shape \(3, 3\), needs \(4, 4\)"):
        trommel.map(move, points, m=np.eye(3))


def test_libraries_words_and_lengths():
    k = trommel.Kernel("float sum3(tml_index i, tml_words w) { return total(tml_word_float(w, U(i)), tml_word_float(w, U(i) + 1u)); }",
                       library="FUNCTION(float) total(float a, float b) { return a + b; }")
    w = np.arange(10, dtype=np.float32)
    assert trommel.map(k, w, length=9).tolist() == (w[:-1] + w[1:]).tolist()


def test_what_was_compiled_is_kept(monkeypatch):
    text = "float once(float x) { return x + 1.0f; }"
    assert trommel.map(trommel.Kernel(text), [1]).tolist() == [2]
    monkeypatch.setenv("PATH", "")
    assert trommel.map(trommel.Kernel(text), [1]).tolist() == [2]
    with pytest.raises(trommel.Unsupported, match="C compiler"):
        trommel.map(trommel.Kernel("float other(float x) { return x + 2.0f; }"), [1])
    assert not [name for name in os.listdir(os.environ["XDG_CACHE_HOME"] + "/trommel/python") if not name.endswith(".so")]


@pytest.mark.parametrize("text, message", [
    ("return x > 0;", "one function"), ("string f(float x) { }", "result is one of"), ("bool f(char x) { return true; }", "type char"),
    ("bool f() { return true; }", "0 parameters"), ("bool f(float x) { return y; }", "y"),
])
def test_nonsense_is_refused(text, message):
    with pytest.raises(trommel.InvalidArgument, match=message):
        trommel.compact(np.zeros(3, np.float32), trommel.Kernel(text))
    with pytest.raises(trommel.InvalidArgument, match="takes 1 arrays"):
        trommel.map(trommel.Kernel(POSITIVE), [1.0], [2.0])
