"""What guards of static mode change belongs to the thread that entered them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import engine as paddle
from engine.core.errors import ProgramError
from engine.static import Program, Scope, global_scope, program_guard, scope_guard


def in_thread(function: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture
def switched_on() -> Any:
    """paddle.static, in static mode, with the process's own Programs."""
    paddle.enable_static()
    yield paddle.static
    paddle.disable_static()


def test_a_new_thread_sees_the_process_s_programs_and_scope(switched_on: Any) -> None:
    main, startup, scope = (
        switched_on.default_main_program(),
        switched_on.default_startup_program(),
        global_scope(),
    )
    with program_guard(Program(), Program()), scope_guard(Scope()):
        assert switched_on.default_main_program() is not main
        assert in_thread(switched_on.default_main_program) is main
        assert in_thread(switched_on.default_startup_program) is startup
        assert in_thread(global_scope) is scope
    assert switched_on.default_main_program() is main
    assert global_scope() is scope


def test_static_mode_of_the_main_thread_holds_in_a_new_one(switched_on: Any) -> None:
    def build() -> tuple[bool, str]:
        with program_guard(Program()):
            x = switched_on.data("x", [None, 2])
            y = x + 1
        return paddle.in_dynamic_mode(), str(y.block.program)

    dynamic, text = in_thread(build)
    assert not dynamic
    assert "elementwise_add" in text or "scale" in text


def test_operators_go_to_the_program_of_their_thread(switched_on: Any) -> None:
    barrier = threading.Barrier(2, timeout=30)
    texts: dict[str, list[str]] = {}

    def build(name: str, function: Callable[[Any], Any]) -> None:
        program = Program()
        barrier.wait()
        with program_guard(program, Program()):
            value = switched_on.data("x", [2, 2])
            for _ in range(20):
                barrier.wait()
                value = function(value)
        texts[name] = [operator.type for operator in program.global_block().ops]

    threads = [
        threading.Thread(target=build, args=("relu", paddle.nn.functional.relu)),
        threading.Thread(target=build, args=("tanh", paddle.tanh)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {"relu": ["relu"] * 20, "tanh": ["tanh"] * 20}


def test_name_scopes_and_devices_belong_to_their_thread(switched_on: Any) -> None:
    def build() -> list[tuple[Any, Any]]:
        program = Program()
        with program_guard(program), switched_on.name_scope("enc"):
            x = switched_on.data("x", [2])
            paddle.tanh(x)
            with switched_on.name_scope("enc"), switched_on.device_guard("gpu:0"):
                paddle.tanh(x)
        ops = program.global_block().ops
        return [(o.attr("op_namescope"), o.attr("op_device")) for o in ops]

    expected = [("/enc/", ""), ("/enc/enc/", "gpu:0")]
    with switched_on.name_scope("outside"), switched_on.device_guard("cpu"):
        assert in_thread(build) == expected
        assert in_thread(build) == expected


def test_program_guards_end_in_any_order(switched_on: Any) -> None:
    main = switched_on.default_main_program()
    programs = [Program(), Program()]
    guards = [program_guard(program) for program in programs]
    for guard in guards:
        guard.__enter__()
    guards[0].__exit__(None, None, None)
    assert switched_on.default_main_program() is programs[1]
    assert switched_on.data("x", [2]).block.program is programs[1]
    guards[1].__exit__(None, None, None)
    assert switched_on.default_main_program() is main
    with pytest.raises(ProgramError, match="another Program"):
        paddle.tanh(programs[1].global_block().var("x"))


def test_static_mode_switched_on_within_a_guard_continues_with_its_program_until_it_ends() -> None:
    main, inner = Program(), Program()
    try:
        with program_guard(main):
            with program_guard(inner):
                paddle.enable_static()
                assert paddle.static.data("x", [2]).block.program is inner
            assert paddle.static.data("x", [2]).block.program is main
        with program_guard(Program()):
            assert not paddle.in_dynamic_mode()
        assert paddle.static.default_main_program() not in (main, inner)
        mode = paddle.core.mode.current()
        assert mode.program is paddle.static.default_main_program()
        assert not in_thread(paddle.in_dynamic_mode)
    finally:
        paddle.disable_static()
