"""The generator's words from compiled code are those of NumPy's steps, wherever it takes over."""

import threading

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.core.random import mersenne
from engine.core.random.draws import TwisterDraws
from engine.kernels.fast import random_words
from engine.kernels.fast.compiler import compiler


def _drawn(sizes):
    twister = mersenne.Twister(mersenne.seeded(9))
    draws = TwisterDraws(twister)
    found = []
    for size in sizes:
        found += [
            draws.retained((size,), 0.3),
            draws.uniform((size, 3), np.float64),
            draws.normal((size,), np.float32),
        ]
        found += [np.array(draws.word()), *map(np.array, twister.snapshot())]
    return found


def test_the_words_are_the_same(monkeypatch):
    sizes = (1, 310, 311, 7, 12_345, 624)
    wanted = _drawn(sizes)
    monkeypatch.setattr(mersenne, "compiled", None)
    random_words.install()
    done = threading.Event()
    compiler().submit(done.set)
    assert done.wait(60)
    used = []
    compiled = mersenne.compiled
    monkeypatch.setattr(mersenne, "compiled", lambda *given: used.append(1) or compiled(*given))
    for a, b in zip(_drawn(sizes), wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    assert used
