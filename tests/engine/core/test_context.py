"""Settings, names and places: a guard's belong to its context, the rest to the process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import engine as paddle
from engine.core import mode as modes
from engine.core import names
from engine.core.context import Setting
from engine.core.place import CPUPlace, current_place, place_guard
from engine.utils import unique_name


def in_thread(function: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_a_guard_holds_in_its_thread_only() -> None:
    setting = Setting("s", "process")
    with setting.guard("outer"), setting.guard("inner"):
        assert setting.get() == "inner"
        assert setting.is_guarded()
        assert in_thread(setting.get) == "process"
        assert not in_thread(setting.is_guarded)
    assert setting.get() == "process"


def test_a_value_set_outside_of_guards_holds_in_every_thread() -> None:
    setting = Setting("s", 1)
    assert setting.set(2) == 1
    assert (setting.get(), in_thread(setting.get)) == (2, 2)
    in_thread(lambda: setting.set(3))
    assert setting.get() == 3


def test_a_value_set_within_a_guard_is_restored_after_it() -> None:
    setting = Setting("s", 1)
    with setting.guard(2):
        assert setting.set(5) == 2
        assert (setting.get(), in_thread(setting.get)) == (5, 1)
    assert setting.get() == 1


def test_setting_guards_end_in_any_order() -> None:
    setting = Setting("s", "process")
    first, second = setting.guard("first"), setting.guard("second")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert setting.get() == "second"
    second.__exit__(None, None, None)
    assert setting.get() == "process"


def test_mode_blocks_end_in_any_order() -> None:
    before = modes.current()
    first, second, third = modes.Mode(), modes.Mode(), modes.Mode()
    blocks = [modes.use(mode) for mode in (first, second, third)]
    for block in blocks:
        block.__enter__()
    blocks[0].__exit__(None, None, None)
    assert modes.current() is third
    blocks[2].__exit__(None, None, None)
    assert modes.current() is second
    blocks[1].__exit__(None, None, None)
    assert modes.current() is before


@contextmanager
def suspended(guard: Any) -> Iterator[None]:
    """A generator that is suspended within ``guard``, until the block ends."""

    def turns() -> Iterator[None]:
        with guard:
            yield

    generator = turns()
    next(generator)
    yield
    generator.close()


def test_generators_that_interleave_leave_nothing_behind() -> None:
    before = paddle.is_grad_enabled(), paddle.get_device()
    one = suspended(paddle.no_grad())
    two = suspended(paddle.enable_grad())
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert paddle.is_grad_enabled()
    two.__exit__(None, None, None)
    assert (paddle.is_grad_enabled(), paddle.get_device()) == before


def test_a_generator_closed_by_another_thread_changes_nothing_there() -> None:
    def turns() -> Iterator[None]:
        with paddle.no_grad(), names.guard("own_"):
            yield

    generator = turns()
    next(generator)

    def other() -> tuple[bool, str]:
        with paddle.no_grad(), names.guard("other_"):
            generator.close()
            return paddle.is_grad_enabled(), names.generate("x")

    try:
        assert in_thread(other) == (False, "other_x_0")
    finally:
        # Undo the switch that its end could not undo in this context.
        modes.variable.set(None)
        modes._open.set(None)
        names._current._open.set(())


def test_one_no_grad_object_serves_two_threads_at_once() -> None:
    shared = paddle.no_grad()
    barrier = threading.Barrier(2)
    seen: list[bool] = []

    def work() -> None:
        for _ in range(50):
            barrier.wait()
            with shared:
                barrier.wait()
                seen.append(paddle.is_grad_enabled())
            seen.append(not paddle.is_grad_enabled())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 200
    assert not any(seen)


def test_asyncio_tasks_have_guards_of_their_own() -> None:
    async def task(prefix: str, steps: int) -> list[str]:
        made = []
        with names.guard(prefix), paddle.no_grad():
            for _ in range(steps):
                await asyncio.sleep(0)
                made.append(names.generate("w"))
            assert not paddle.is_grad_enabled()
        assert paddle.is_grad_enabled()
        return made

    async def both() -> list[list[str]]:
        return await asyncio.gather(task("a_", 3), task("b_", 2))

    assert asyncio.run(both()) == [["a_w_0", "a_w_1", "a_w_2"], ["b_w_0", "b_w_1"]]


def test_unique_names_of_a_guard_are_not_seen_by_another_thread() -> None:
    with unique_name.guard("mine_"):
        assert unique_name.generate("fc") == "mine_fc_0"
        assert not in_thread(lambda: unique_name.generate("fc")).startswith("mine_")
        assert unique_name.generate("fc") == "mine_fc_1"


def test_switch_outside_of_a_guard_holds_for_the_process() -> None:
    """As in Paddle, where threads that a script starts continue with the names that it switched to."""
    before = unique_name.switch()
    try:
        assert unique_name.generate("fc") == "fc_0"
        assert in_thread(lambda: unique_name.generate("fc")) == "fc_1"
    finally:
        unique_name.switch(*before)


def test_a_switch_within_a_guard_is_undone_after_it() -> None:
    with unique_name.guard("outer_"):
        with unique_name.guard("inner_"):
            before = unique_name.switch()
            assert unique_name.generate("fc") == "fc_0"
            assert not in_thread(lambda: unique_name.generate("only_here")).startswith("inner_")
            unique_name.switch(*before)
            assert unique_name.generate("fc") == "inner_fc_0"
            unique_name.switch()
        assert unique_name.generate("fc") == "outer_fc_0"


def test_a_number_is_given_out_once() -> None:
    generator = names.NameGenerator()
    barrier = threading.Barrier(4)
    found: list[list[str]] = []

    def work() -> None:
        barrier.wait()
        found.append([generator("x") for _ in range(2000)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({name for made in found for name in made}) == 8000


def test_a_place_guard_holds_in_its_thread_only() -> None:
    inside = CPUPlace()
    before = current_place()
    with place_guard(inside):
        assert current_place() is inside
        assert in_thread(current_place) is before
    assert current_place() is before
