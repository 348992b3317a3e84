"""``fluid.io``: values of a Program's variables, and inference models, in a folder."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.files.atomic import atomic_write, make_folder
from engine.files.paddle.lod_tensor import lod_tensor_parts, read_lod_tensor
from engine.files.state import write_state
from engine.fluid.reader import DataLoader, PyReader
from engine.framework.state_files import to_tree
from engine.io.batching import batch
from engine.program.graph.program import Program, Variable
from engine.program.run.executor import default_main_program
from engine.program.run.scope import give_value, require_fit, value_of
from engine.reader.decorator import (
    ComposeNotAligned,
    buffered,
    cache,
    chain,
    compose,
    firstn,
    map_readers,
    multiprocess_reader,
    shuffle,
    xmap_readers,
)
from engine.static.compiled import program_of
from engine.static.helper import require_executor
from engine.static.inference_files import load_inference_model as _load_model
from engine.static.inference_files import save_inference_model as _save_model
from engine.static.state_files import load, load_program_state, save, set_program_state
from engine.static.variable_files import read_together, variable_path

__all__ = [
    "ComposeNotAligned",
    "DataLoader",
    "PyReader",
    "batch",
    "buffered",
    "cache",
    "chain",
    "compose",
    "firstn",
    "get_parameter_value",
    "get_parameter_value_by_name",
    "get_program_parameter",
    "get_program_persistable_vars",
    "is_parameter",
    "is_persistable",
    "load",
    "load_inference_model",
    "load_params",
    "load_persistables",
    "load_program_state",
    "load_vars",
    "map_readers",
    "multiprocess_reader",
    "save",
    "save_inference_model",
    "save_params",
    "save_persistables",
    "save_vars",
    "set_program_state",
    "shuffle",
    "xmap_readers",
]

MODEL = "__model__"


def is_persistable(var: Variable) -> bool:
    """Whether ``var`` keeps its value between runs and is not fed."""
    return bool(var.persistable and not var.is_data)


def is_parameter(var: Variable) -> bool:
    """Whether ``var`` is a parameter."""
    return bool(var.is_parameter)


def save_vars(
    executor: Any,
    dirname: str,
    main_program: Any = None,
    vars: Sequence[Any] | None = None,
    predicate: Callable[[Any], bool] | None = None,
    filename: str | None = None,
) -> None:
    """Write the values of ``vars``, or of those that ``predicate`` chooses, into the folder ``dirname``.

    Each goes into a file of its name, in Paddle's form. With ``filename`` they go into this one file, which
    has their names, unlike Paddle's. Raises ProgramError for a variable without a value, SaveError if writing
    fails (the file that was there stays), ArgumentError for a name of a file elsewhere.
    """
    require_executor("save_vars", executor)
    chosen, folder = _chosen(main_program, vars, predicate), Path(dirname)
    if filename is not None:
        write_state(folder / filename, {v.name: to_tree(value_of(v)) for v in chosen})
        return
    files = {variable_path("save_vars", folder, v.name): np.asarray(value_of(v).numpy()) for v in chosen}
    make_folder(folder)
    for path, array in files.items():
        make_folder(path.parent)
        atomic_write(path, lambda file, array=array: file.writelines(lod_tensor_parts(array)))


def load_vars(
    executor: Any,
    dirname: str,
    main_program: Any = None,
    vars: Sequence[Any] | None = None,
    predicate: Callable[[Any], bool] | None = None,
    filename: str | None = None,
) -> None:
    """Give the variables the values that ``save_vars`` wrote, or that Paddle wrote.

    They are a file for each variable, or the file ``filename``; Paddle's has the values of just these
    variables. Where any value does not fit nothing is changed. Raises AbsentError for an absent file or
    value, FormatError for a damaged or foreign file, ShapeError or DTypeError for a value that does not fit.
    """
    require_executor("load_vars", executor)
    chosen, folder = _chosen(main_program, vars, predicate), Path(dirname)
    names = [v.name for v in chosen]
    if filename is None:
        found = {name: read_lod_tensor(variable_path("load_vars", folder, name)) for name in names}
    else:
        found = read_together("load_vars", folder / filename, names)
    for variable in chosen:
        value = found[variable.name]
        if value.size == 1 and math.prod(variable.shape) == 1:  # [] of Paddle 2 for a number that is [1] here
            value = found[variable.name] = value.reshape(variable.shape)
        require_fit(variable, value)
    for variable in chosen:
        give_value(variable, found[variable.name])


def _chosen(program: Any, vars: Any, predicate: Any) -> list[Variable]:
    owner: Program = default_main_program() if program is None else program_of("fluid.io", program)
    if vars is not None:
        return [owner.global_block().var(v if isinstance(v, str) else v.name) for v in vars]
    wanted = predicate or is_persistable
    return [v for v in owner.list_vars() if is_persistable(v) and wanted(v)]


def save_params(executor: Any, dirname: str, main_program: Any = None, filename: str | None = None) -> None:
    """Write the values of all parameters; see ``save_vars``."""
    save_vars(executor, dirname, main_program, None, is_parameter, filename)


def load_params(executor: Any, dirname: str, main_program: Any = None, filename: str | None = None) -> None:
    """Give all parameters the values that were saved; see ``load_vars``."""
    load_vars(executor, dirname, main_program, None, is_parameter, filename)


def save_persistables(
    executor: Any, dirname: str, main_program: Any = None, filename: str | None = None
) -> None:
    """Write the values of all persistable variables, those of optimizers too; see ``save_vars``."""
    save_vars(executor, dirname, main_program, None, is_persistable, filename)


def load_persistables(
    executor: Any, dirname: str, main_program: Any = None, filename: str | None = None
) -> None:
    """Give all persistable variables the values that were saved; see ``load_vars``."""
    load_vars(executor, dirname, main_program, None, is_persistable, filename)


def get_parameter_value(para: Any, executor: Any) -> np.ndarray[Any, Any]:
    """A copy of the value of a parameter in the current scope.

    Raises ArgumentError for a Variable that is not a parameter, ProgramError for one without a value.
    """
    require_executor("get_parameter_value", executor)
    if not is_parameter(para):
        raise ArgumentError(f"get_parameter_value: {para.name!r} is not a parameter; fetch it instead")
    return np.array(value_of(para).numpy())


def get_parameter_value_by_name(name: str, executor: Any, program: Any = None) -> np.ndarray[Any, Any]:
    """A copy of the value of the parameter ``name`` of ``program``; see ``get_parameter_value``."""
    owner = default_main_program() if program is None else program_of("fluid.io", program)
    return get_parameter_value(owner.global_block().var(name), executor)


def get_program_parameter(program: Any) -> list[Any]:
    """The parameters of ``program``."""
    return [v for v in program_of("fluid.io", program).list_vars() if is_parameter(v)]


def get_program_persistable_vars(program: Any) -> list[Any]:
    """The persistable Variables of ``program``, parameters and what optimizers keep."""
    return [v for v in program_of("fluid.io", program).list_vars() if is_persistable(v)]


def save_inference_model(
    dirname: str,
    feeded_var_names: Sequence[str],
    target_vars: Any,
    executor: Any,
    main_program: Any = None,
    model_filename: str | None = None,
    params_filename: str | None = None,
    export_for_deployment: bool = True,
    program_only: bool = False,
) -> list[str]:
    """Write the operators that compute ``target_vars`` and the parameters to ``dirname``; their names.

    The files are ``__model__``, or ``model_filename``, with the suffixes of ``static.save_inference_model``,
    whose errors are raised; ``params_filename`` is not used, since the files of a model share their name.
    """
    program = (
        default_main_program() if main_program is None else program_of("save_inference_model", main_program)
    )
    block = program.global_block()
    targets = list(target_vars) if isinstance(target_vars, (list, tuple)) else [target_vars]
    names = [feeded_var_names] if isinstance(feeded_var_names, str) else feeded_var_names
    prefix = _prefix(dirname, model_filename)
    _save_model(prefix, [block.var(name) for name in names], targets, executor, program=program)
    return [target.name for target in targets]


def load_inference_model(
    dirname: str,
    executor: Any,
    model_filename: str | None = None,
    params_filename: str | None = None,
    pserver_endpoints: Any = None,
) -> list[Any]:
    """A list of the Program, the names of its feeds, and the Variables to fetch. Raises as the static one."""
    return _load_model(_prefix(dirname, model_filename), executor)


def _prefix(dirname: str, model_filename: str | None) -> str:
    return str(Path(dirname) / (model_filename or MODEL).removesuffix(".pdmodel"))
