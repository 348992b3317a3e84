"""Of two workers, one takes the tests from the start and the other those from the end."""

from __future__ import annotations

from itertools import chain
from types import SimpleNamespace

import pytest

pytest.importorskip("xdist", reason="pytest-xdist is not installed")

from tests.both_ends import BothEnds


class Worker(SimpleNamespace):
    """Remembers which tests it gets."""

    def __init__(self, name: str) -> None:
        super().__init__(gateway=SimpleNamespace(id=name), shutting_down=False, got=[])

    __hash__ = object.__hash__

    def send_runtest_some(self, indices: list[int]) -> None:
        self.got.append(list(indices))

    def shutdown(self) -> None:
        self.shutting_down = True


def test_workers_take_tests_from_both_ends_and_each_test_once() -> None:
    names = [f"test_{number}" for number in range(40)]
    options = {"maxschedchunk": None, "tx": ["2*popen"]}
    scheduler = BothEnds(SimpleNamespace(getoption=options.get, getvalue=options.get, option=None))
    first, second = workers = [Worker("gw0"), Worker("gw1")]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, names)
    scheduler.schedule()
    assert (first.got, second.got) == ([[0, 1, 2, 3, 4]], [[35, 36, 37, 38, 39]])
    while scheduler.has_pending and not all(worker.shutting_down for worker in workers):
        for worker in workers:
            for index in scheduler.node2pending[worker][:1]:
                scheduler.mark_test_complete(worker, index)
    got = [list(chain.from_iterable(worker.got)) for worker in workers]
    assert sorted(got[0] + got[1]) == list(range(40))
    assert got[0] == sorted(got[0])
    assert max(got[0]) < min(got[1])
