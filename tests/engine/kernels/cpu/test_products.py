"""Products in shards are NumPy's products, for all layouts, and the same with as many threads."""

import os
import subprocess
import sys

import numpy as np
import pytest

from engine.kernels import choice
from engine.kernels.cpu import pool, products, threads


@pytest.fixture(params=[2, 3])
def several(monkeypatch, request):
    """Several threads that Python hands over to, and shards small enough that small products are split."""
    monkeypatch.setattr(threads, "_count", request.param)
    monkeypatch.setattr(products, "SHARD", 64)
    monkeypatch.setattr(products, "APART", 128)
    monkeypatch.setattr(products, "_ways", {})
    with choice.kernels.guard("numpy"):
        yield
    pool.dismiss()


@pytest.fixture
def tasks(monkeypatch):
    """How many tasks each call of the pool had."""
    counts = []
    monkeypatch.setattr(pool, "run", lambda tasks, run=pool.run: (counts.append(len(tasks)), run(tasks))[1])
    return counts


def random(*shape, dtype="float32"):
    return np.random.default_rng(len(shape) + shape[-1]).random(shape).astype(dtype)


T = np.swapaxes
PAIRS = {
    "rows": (random(100, 20), random(20, 30)),
    "columns": (random(30, 20), random(20, 100)),
    "columns, transposed": (random(20, 30).T, random(100, 20).T),
    "float64": (random(100, 20, dtype="float64"), random(20, 30, dtype="float64")),
    "complex": (random(100, 20) * 1j, random(20, 30) * (1 + 1j)),
    "batch": (random(6, 20, 10), random(6, 10, 20)),
    "batch of unequal parts": (random(5, 40, 10), random(5, 10, 40)),
    "batch and a matrix": (random(6, 20, 10), random(10, 20)),
    "matrix and a batch": (random(20, 10), random(7, 6, 10, 20)),
    "broadcast": (random(3, 1, 20, 10), random(6, 10, 20)),
    "heads": (T(random(2, 20, 6, 10), 1, 2), T(T(random(2, 20, 6, 10), 1, 2), 2, 3)),
    "rows of windows": (random(2, 20, 10), T(random(2, 7, 10, 20), 0, 1)),
    "a view backwards": (random(100, 20)[::-1], random(20, 30)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_shards_give_numpys_product(several, tasks, name):
    a, b = PAIRS[name]
    expected = np.matmul(a, b)
    made = products.product(np, a, b)
    assert tasks  # it was split
    np.testing.assert_allclose(made, expected, rtol=1e-5)
    assert (made.dtype, made.strides) == (expected.dtype, expected.strides)
    out = np.full_like(expected, np.nan)
    assert products.product(np, a, b, out) is out
    np.testing.assert_array_equal(out, made)


def test_products_too_small_to_wake_a_thread_have_the_same_bits(several, tasks, monkeypatch):
    a, b = random(200, 333), random(333, 77)
    expected = products.product(np, a, b)
    assert len(tasks) == 1
    monkeypatch.setattr(products, "APART", 1 << 40)
    np.testing.assert_array_equal(products.product(np, a, b), expected)
    assert len(tasks) == 1


def test_splitting_again_gives_the_same_bits(several):
    a, b = random(200, 333), random(333, 77)
    first = products.product(np, a, b)
    assert all((products.product(np, a, b) == first).all() for _ in range(20))


def test_symmetric_vector_integer_and_small_products_stay_one_call(several, tasks):
    x = random(60, 50)
    squared = products.product(np, x, x.T)
    np.testing.assert_array_equal(squared, squared.T)
    products.product(np, random(900), random(900))
    products.product(np, random(100, 20), random(20))
    products.product(np, random(8, 8).astype(int), random(8, 8).astype(int))
    products.product(np, random(1, 9), random(9, 9))
    assert not tasks


@pytest.mark.parametrize(("a", "b"), [((100, 20), (21, 30)), ((3, 40, 20), (2, 20, 40))])
def test_wrong_shapes_are_refused_as_matmul_does(several, a, b):
    with pytest.raises(ValueError, match=r"matmul|broadcast"):
        products.product(np, random(*a), random(*b))


def test_the_callers_floating_point_errors_hold_in_shards(several, tasks):
    huge = np.full((100, 20), 3e38, "float32")
    with np.errstate(all="ignore"):
        assert np.isinf(products.product(np, huge, np.full((20, 30), 3e38, "float32"))).all()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        products.product(np, huge, np.full((20, 30), 3e38, "float32"))
    assert len(tasks) == 2


def test_blas_starts_no_further_threads():
    code = (
        "import numpy as np, threadpoolctl\n"
        "from engine.kernels.cpu import pool, products\n"
        "products.product(np, np.ones((2, 2)), np.ones((2, 2)))\n"
        "found = threadpoolctl.ThreadpoolController().select(user_api='blas').info()\n"
        "print(pool.threads(), *{each['num_threads'] for each in found})\n"
    )
    environment = os.environ | dict.fromkeys(threads.USERS_WORD, "2")
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert made.stdout.split() in (["2", "1"], ["2"])  # a BLAS that threadpoolctl does not know has no entry


@pytest.fixture
def compiled(several, monkeypatch):
    """The sizes of the tables that compiled code has walked through."""
    pytest.importorskip("llvmlite")
    from engine.kernels.fast.compiler import compiler

    done = []

    def parallel(address, args, count, call=pool.parallel):
        done.append(count)
        call(address, args, count)

    monkeypatch.setattr(pool, "parallel", parallel)
    with choice.kernels.guard("fast"):
        for dtype in ("float32", "float64"):
            for _ in range(2):  # the first call asks for the import, or for the code
                products.product(np, random(40, 40, dtype=dtype), random(40, 60, dtype=dtype))
                assert compiler().wait(120)
        done.clear()
        yield done


@pytest.mark.parametrize("name", PAIRS)
def test_compiled_hand_over_is_bitwise_identical(compiled, name):
    a, b = PAIRS[name]
    with choice.kernels.guard("numpy"):
        expected = products.product(np, a, b)
    out = np.full_like(expected, np.nan)
    products.product(np, a, b, out)
    assert (out.dtype, out.tobytes()) == (expected.dtype, expected.tobytes())
    assert bool(compiled) == (name not in ("complex", "a view backwards"))


@pytest.mark.parametrize("name", PAIRS)
def test_a_product_that_is_known_is_computed_as_the_first_one(compiled, name):
    a, b = PAIRS[name]
    first = products.product(np, a, b)
    compiled.clear()
    again = products.product(np, a, b)
    assert (again.strides, again.tobytes()) == (first.strides, first.tobytes())
    with choice.kernels.guard("numpy"):
        assert products.product(np, a, b).tobytes() == first.tobytes()
    assert len(compiled) == (name not in ("complex", "a view backwards"))


def test_a_square_among_products_that_are_known_stays_symmetric(compiled):
    x, other = random(60, 50), np.ascontiguousarray(random(60, 50)[::-1])
    for _ in range(2):
        products.product(np, x, other.T)
    squared = products.product(np, x, x.T)
    np.testing.assert_array_equal(squared, squared.T)
    assert len(compiled) == 2


def test_few_layouts_of_products_are_known(compiled, monkeypatch):
    monkeypatch.setattr(products, "_MOST_WAYS", 8)
    for rows in range(40, 80):
        products.product(np, random(rows, 40), random(40, 60))
    assert len(products._ways) <= 8


def test_products_that_compiled_code_leaves_to_numpy(compiled):
    x = random(100, 20)
    wide = np.empty((100, 30))  # a result of another dtype
    products.product(np, x, random(20, 30), wide)
    np.testing.assert_allclose(wide, x @ random(20, 30), rtol=1e-5)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        products.product(np, x * 3e38, random(20, 30) * 3e38)
    assert not compiled
