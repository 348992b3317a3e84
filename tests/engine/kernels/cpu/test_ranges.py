"""Work in ranges: each position once, by any thread, cut by sizes alone."""

import numpy as np
import pytest

from engine.kernels.cpu import pool
from engine.kernels.cpu.ranges import LARGE, in_ranges


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    ("size", "parts"), [(LARGE - 1, 1), (LARGE, 2), (12 * LARGE, 3), (100 * LARGE, 4), (0, 1)]
)
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


def test_there_are_no_more_ranges_than_places():
    taken = []
    in_ranges(3, 100 * LARGE, taken.append)
    assert len(taken) == 3
