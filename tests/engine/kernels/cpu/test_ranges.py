"""Work in ranges: every place once, whoever does it."""

import numpy as np
import pytest

from engine.kernels.cpu import pool
from engine.kernels.cpu.ranges import LARGE, in_ranges


@pytest.mark.parametrize(("count", "size", "parts"), [(1, LARGE, 1), (3, LARGE, 3), (3, LARGE - 1, 1)])
def test_ranges_make_up_the_whole(monkeypatch, count, size, parts):
    monkeypatch.setattr(pool.threads_, "get_num_threads", lambda: count)
    done, taken = np.zeros(10, int), []

    def work(part):
        done[part] += 1
        taken.append(part)

    in_ranges(10, size, work)
    pool.dismiss()
    assert done.tolist() == [1] * 10
    assert len(taken) == parts
