"""LRU: bounded, in order of use, one value for several threads."""

from __future__ import annotations

import copy
import threading

import pytest

from engine.core.containers import lru
from engine.core.containers.lru import LRU
from engine.core.errors import ArgumentError


@pytest.fixture
def three():
    before = lru.set_capacity("plans", 3)
    yield
    lru.set_capacity("plans", before)


@pytest.mark.usefixtures("three")
def test_the_least_recently_used_value_is_dropped() -> None:
    cache: LRU[str, int] = LRU("plans")
    for number, key in enumerate("abc"):
        cache.put(key, number)
    assert cache.get("a") == 0
    cache.put("d", 3)
    assert cache.items() == [("a", 0), ("c", 2), ("d", 3)]
    assert cache.get("b") is None
    cache.put("c", 9)
    cache.put("e", 4)
    assert cache.items() == [("d", 3), ("c", 9), ("e", 4)]


def test_a_smaller_capacity_holds_from_the_next_entry_on() -> None:
    cache: LRU[int, int] = LRU("plans")
    for number in range(10):
        cache.put(number, number)
    before = lru.set_capacity("plans", 2)
    try:
        assert lru.capacity("plans") == 2
        assert len(cache) == 10
        cache.put(10, 10)
        assert cache.values() == [9, 10]
    finally:
        lru.set_capacity("plans", before)


def test_a_capacity_is_a_number_above_zero_of_a_known_kind() -> None:
    for size in (0, -1, True, 2.0):
        with pytest.raises(ArgumentError, match="set_capacity"):
            lru.set_capacity("plans", size)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'plan'"):
        lru.capacity("plan")
    with pytest.raises(ArgumentError, match="'plan'"):
        LRU("plan")


def test_of_several_threads_one_makes_the_value() -> None:
    cache: LRU[str, object] = LRU("plans")
    barrier = threading.Barrier(4)
    made: list[object] = []
    found: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    def work() -> None:
        barrier.wait()
        found.append(cache.ensure("key", make))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert all(value is made[0] for value in found)


def test_a_failed_value_is_not_cached() -> None:
    cache: LRU[str, int] = LRU("plans")

    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.ensure("key", fail)
    assert len(cache) == 0
    assert cache.ensure("key", lambda: 1) == 1


def test_a_copy_is_empty() -> None:
    cache: LRU[str, int] = LRU("programs")
    cache.put("key", 1)
    made = copy.deepcopy(cache)
    assert (made.kind, len(made), len(cache)) == ("programs", 0, 1)
