"""``static.save`` and ``static.load``: a Program with its parameters and optimizer state in three files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, FormatError
from engine.files.training import (
    OPTIMIZER,
    PARAMETERS,
    PROGRAM,
    read_training,
    training_paths,
    write_training,
)
from engine.files.weights.reading import foreign_form
from engine.framework.state_files import from_tree, to_tree
from engine.framework.state_files import load as load_state
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.run.executor import Executor
from engine.program.run.scope import give_value, require_fit
from engine.static.compiled import program_of
from engine.static.helper import require_executor
from engine.static.variable_files import is_older, names_in_older, read_older

__all__ = ["load", "load_program_state", "save", "set_program_state"]


def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Write a Program and the values of its persistable Variables to three files.

    ``model_path`` gets the suffixes ``.pdparams`` (parameters), ``.pdopt`` (state of optimizers and other
    persistable values) and ``.pdmodel`` (the Program).

    The three are one save: all are replaced or none is. ``protocol`` is Paddle's pickle protocol and has no
    effect here: nothing is pickled. Raises ArgumentError for a path without a file name, ProgramError where a
    value is missing, SaveError if writing fails (existing files stay).
    """
    if unknown := set(configs) - {"pickle_protocol"}:
        raise ArgumentError(f"save: unknown option {sorted(unknown)}; it takes protocol")
    program = program_of("save", program)
    trees = {
        PARAMETERS: to_tree(program.state_dict("param")),
        OPTIMIZER: to_tree(program.state_dict("opt")),
        PROGRAM: to_tree(program),
    }
    write_training(training_paths("save", model_path), trees)


def load(
    program: Program,
    model_path: str,
    executor: Executor | None = None,
    var_list: Iterable[str | Variable] | None = None,
) -> None:
    """Give the persistable Variables of ``program`` the values that ``save`` wrote at ``model_path``.

    ``model_path`` may also be what ``save_vars`` of 1.x and its kin wrote: a folder, of which the Variables
    that have a file there are loaded, or one file, with its Variables as ``var_list``.

    Values are put into the global scope, whether or not the startup Program ran. ``var_list`` limits it to
    these Variables or names; ``executor`` is accepted. Where any value does not fit nothing is changed.
    Raises AbsentError for absent files, FormatError for damaged ones or those of two saves, ArgumentError for
    a Variable that they do not have, ShapeError or DTypeError for one of another shape or dtype.
    """
    program = program_of("load", program)
    require_executor("load", executor)
    if var_list is None:
        chosen = [v for v in program.list_vars() if v.persistable and not v.is_data]
    else:
        chosen = [_of(program, v) for v in var_list]
    if is_older(model_path):
        names = None if var_list is None and not os.path.isdir(model_path) else [v.name for v in chosen]
        if names is not None:
            names = names_in_older("load", model_path, names)
            chosen = [v for v in chosen if v.name in names]
        _give(chosen, read_older("load", model_path, names))
        return
    paths = training_paths("load", model_path)
    optimizer = any(not v.is_parameter for v in chosen) and paths[OPTIMIZER].exists()
    state = _values(paths, optimizer)
    missing = [v for v in chosen if v.name not in state]
    if not optimizer and any(not v.is_parameter for v in missing):
        state = _values(paths, True)  # says that the file is missing, or finishes the save
        missing = [v for v in chosen if v.name not in state]
    if missing:
        raise ArgumentError(
            f"load: {model_path} has no values for {[v.name for v in missing[:5]]}; load files of the same "
            "Program, or the values that fit with load_program_state() and set_program_state()"
        )
    _give(chosen, state)


def _give(chosen: list[Variable], state: Mapping[str, Any]) -> None:
    for variable in chosen:
        require_fit(variable, state[variable.name])
    for variable in chosen:
        give_value(variable, state[variable.name])


def load_program_state(
    model_path: str, var_list: Iterable[str | Variable] | None = None
) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays that ``save`` wrote at ``model_path``, by name.

    ``var_list`` belongs to a folder or file of ``save_vars`` of 1.x and its kin: those Variables alone are
    read; one file needs it. Raises AbsentError for an absent file, FormatError for damaged ones or those of
    two saves, ArgumentError for one file without ``var_list``.
    """
    if is_older(model_path):
        names = None if var_list is None else [v if isinstance(v, str) else v.name for v in var_list]
        return read_older("load_program_state", model_path, names)
    paths = training_paths("load_program_state", model_path)
    return _values(paths, paths[OPTIMIZER].exists())


def set_program_state(program: Program, state_dict: Mapping[str, Any]) -> None:
    """Give the persistable Variables of ``program`` the values in ``state_dict``, arrays or Tensors by name.

    Entries that belong to none are skipped, with a warning. Where any value does not fit nothing is changed.
    Raises DTypeError for a value that is not a dict or has another dtype, ShapeError for one of another
    shape.
    """
    program_of("set_program_state", program).set_state_dict(state_dict)


def _of(program: Program, wanted: Any) -> Variable:
    return program.global_block().var(wanted if isinstance(wanted, str) else wanted.name)


def _values(paths: Mapping[str, Path], optimizer: bool) -> dict[str, Any]:
    """All arrays of the parameters by name; with ``optimizer`` also the other persistable values."""
    state: dict[str, Any] = {}
    suffixes = (PARAMETERS, OPTIMIZER) if optimizer else (PARAMETERS,)
    if foreign_form(paths[PARAMETERS]):  # Paddle's own, which name no save
        trees = {suffix: load_state(str(paths[suffix]), return_numpy=True) for suffix in suffixes}
    else:
        read = read_training(paths, suffixes)
        trees = {suffix: from_tree(tree, True, str(paths[suffix])) for suffix, tree in read.items()}
    for suffix, found in trees.items():
        if not isinstance(found, Mapping) or not all(isinstance(v, np.ndarray) for v in found.values()):
            raise FormatError(
                f"{paths[suffix]}: it does not hold arrays by name; choose what static.save, or paddle.save "
                "of a state dict, wrote"
            )
        state |= found
    return state
