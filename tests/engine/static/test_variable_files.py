"""``static.load`` and ``load_program_state`` of what 1.x wrote: the answers are those of Paddle 2.6.2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid, static
from engine.core.errors import AbsentError, ArgumentError

NAMES = ["fc_0.b_0", "fc_0.w_0"]


@pytest.fixture
def saved(tmp_path: Path) -> Iterator[tuple[Any, Any, Path]]:
    """A Program, its executor, and a folder: ``d`` in it has a file for each Variable, ``all`` is one."""
    with (
        static.program_guard(static.Program(), static.Program()),
        static.scope_guard(static.Scope()),
        engine.utils.unique_name.guard(),
    ):
        engine.enable_static()
        static.nn.fc(static.data("x", [None, 3]), 2)
        executor, program = static.Executor(), static.default_main_program()
        executor.run(static.default_startup_program())
        fluid.io.save_persistables(executor, str(tmp_path / "d"), program)
        fluid.io.save_persistables(executor, str(tmp_path), program, filename="all")
        yield program, executor, tmp_path
    engine.disable_static()


def values(program: Any) -> dict[str, np.ndarray[Any, Any]]:
    return {v.name: v.get_value().numpy() for v in program.all_parameters()}


def cleared(program: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The values, in whose place are sevens then."""
    before = values(program)
    for parameter in program.all_parameters():
        parameter.set_value(np.full(parameter.shape, 7, np.float32))
    return before


def test_a_folder_gives_the_state(saved: Any) -> None:
    program, _, folder = saved
    state = static.load_program_state(str(folder / "d"))
    assert sorted(state) == NAMES
    np.testing.assert_array_equal(state["fc_0.w_0"], values(program)["fc_0.w_0"])
    [weight] = [v for v in program.all_parameters() if v.name == "fc_0.w_0"]
    assert list(static.load_program_state(str(folder / "d"), [weight])) == ["fc_0.w_0"]


def test_one_file_needs_the_variables(saved: Any) -> None:
    program, executor, folder = saved
    with pytest.raises(ValueError, match="var_list is required when loading model file saved with"):
        static.load_program_state(str(folder / "all"))
    with pytest.raises(ArgumentError, match="var_list is required when loading model file saved with"):
        static.load(program, str(folder / "all"), executor)
    assert sorted(static.load_program_state(str(folder / "all"), program.all_parameters())) == NAMES
    before = cleared(program)
    static.load(program, str(folder / "all"), executor, program.all_parameters()[::-1])
    for name, value in values(program).items():
        np.testing.assert_array_equal(value, before[name])


def test_a_program_takes_what_a_folder_has(saved: Any) -> None:
    program, executor, folder = saved
    (folder / "d" / "fc_0.b_0").unlink()
    before = cleared(program)
    static.load(program, str(folder / "d"), executor)
    found = values(program)
    np.testing.assert_array_equal(found["fc_0.w_0"], before["fc_0.w_0"])
    np.testing.assert_array_equal(found["fc_0.b_0"], np.full(2, 7))
    (folder / "d" / "fc_0.w_0").unlink()
    # Differs: Paddle loads nothing then, and does not say so.
    with pytest.raises(AbsentError, match="has none of the Variables"):
        static.load(program, str(folder / "d"), executor)


def test_a_new_save_next_to_a_folder_is_meant(saved: Any) -> None:
    program, executor, folder = saved
    before = cleared(program)
    static.save(program, str(folder / "d"))
    static.load(program, str(folder / "d"), executor)
    assert not np.array_equal(values(program)["fc_0.w_0"], before["fc_0.w_0"])
