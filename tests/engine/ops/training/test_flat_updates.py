"""Updates of many parameters at once: bitwise identical for any number of threads."""

import numpy as np
import pytest

from engine.kernels.cpu import pool, ranges
from engine.ops.training.flat_updates import FLAT

SHAPES = ((150, 131), (131,), (17, 3))
RATE = np.array([0.01], np.float32)


def updated(name):
    """All that the operator of a rule writes, from the same values."""
    random, opdef = np.random.default_rng(3), FLAT[name].opdef
    grads = [random.standard_normal(shape).astype(np.float32) for shape in SHAPES]
    given = {"grads": grads, "learning_rate": RATE, "skip_update": None}
    for slot in opdef.input_names:
        if slot.endswith("_pow"):
            given[slot] = np.full(len(SHAPES), 0.9, np.float32)
        elif slot not in given:
            given[slot] = random.random(sum(g.size for g in grads), np.float32)
    opdef.kernel(np, *[given[slot] for slot in opdef.input_names])
    return [given[output.writes].tobytes() for output in opdef.outputs]


@pytest.mark.parametrize("name", sorted(FLAT))
def test_threads_share_an_update_to_the_same_bits(name, monkeypatch):
    alone, parts = updated(name), []
    monkeypatch.setattr(ranges, "LARGE", 1)
    monkeypatch.setattr(pool, "run", lambda tasks: [parts.append(task()) for task in reversed(tasks)])
    assert updated(name) == alone
    assert len(parts) == 2
