"""Programs and their values in files: training state, inference models, and both as bytes.

All files are HDF5 with a hash in front, as everything that is saved here; nothing is pickled.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DataError, DTypeError, FormatError, ProgramError
from engine.files.atomic import atomic_write
from engine.files.inference import read_inference, write_inference
from engine.files.state import read_state, write_state
from engine.program.passes.inference import inference_program
from engine.program.program import Program
from engine.program.scope import give_value, global_scope, value_of
from engine.program.scope import set_program_state as assign_state
from engine.program.serialize import from_plain, to_plain
from engine.program.variable import Variable
from engine.static.compiled import program_of

_PROGRAM = "__program__"


# -- training ----------------------------------------------------------------------------------------------
def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Write ``model_path`` with the suffixes ``.pdparams`` (parameters), ``.pdopt`` (what optimizers keep and
    other persistable values) and ``.pdmodel`` (the Program).

    ``protocol`` is Paddle's pickle protocol and has no meaning here. Raises ArgumentError for a path that has
    no file name, ProgramError where a value is missing, SaveError if writing fails.
    """
    program = program_of("save", program)
    prefix = _prefix("save", model_path)
    write_state(f"{prefix}.pdparams", _arrays(program.state_dict("param")))
    write_state(f"{prefix}.pdopt", _arrays(program.state_dict("opt")))
    write_state(f"{prefix}.pdmodel", {_PROGRAM: to_plain(program)})


def _arrays(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tensor.numpy() for name, tensor in state.items()}


def load(program: Program, model_path: str, executor: Any = None, var_list: Any = None) -> None:
    """Give the persistable Variables of ``program`` the values that ``save`` wrote at ``model_path``.

    Values are put into the global scope, ``executor`` is not needed. ``var_list`` limits it to these
    Variables. Raises DataError for absent files, ArgumentError for a parameter that they do not have,
    ShapeError or DTypeError for one that does not fit.
    """
    program = program_of("load", program)
    state = _read_values("load", model_path)
    chosen = _chosen(program, var_list)
    missing = [v.name for v in chosen if v.name not in state]
    if missing:
        raise ArgumentError(
            f"load: {model_path} has no values for {missing[:5]}; load what was saved from the same Program"
        )
    for variable in chosen:
        give_value(variable, np.asarray(state[variable.name]))


def _chosen(program: Program, var_list: Any) -> list[Variable]:
    if var_list is None:
        return [v for v in program.list_vars() if v.persistable and not v.is_data]
    return [program.global_block().var(v if isinstance(v, str) else v.name) for v in var_list]


def _read_values(where: str, model_path: Any) -> dict[str, Any]:
    prefix = _prefix(where, model_path)
    state: dict[str, Any] = {}
    for suffix in ("pdparams", "pdopt"):
        path = f"{prefix}.{suffix}"
        if suffix == "pdopt" and not os.path.exists(path):
            continue
        found = read_state(path)
        if not isinstance(found, dict) or not all(isinstance(v, np.ndarray) for v in found.values()):
            raise FormatError(f"{path}: it holds no values by name; it was not written by static.save")
        state |= found
    return state


def load_program_state(model_path: str, var_list: Any = None) -> dict[str, np.ndarray[Any, Any]]:
    """The values that ``save`` wrote, by name; those of ``var_list`` only, if given."""
    state = _read_values("load_program_state", model_path)
    if var_list is None:
        return state
    names = [v if isinstance(v, str) else v.name for v in var_list]
    missing = [name for name in names if name not in state]
    if missing:
        raise ArgumentError(f"load_program_state: {model_path} has no {missing[:5]}")
    return {name: state[name] for name in names}


def set_program_state(program: Program, state_dict: Mapping[str, Any]) -> None:
    """Give the persistable Variables of ``program`` these values; what belongs to none is left out, with a
    warning. Raises ShapeError or DTypeError for one that does not fit.
    """
    assign_state(program_of("set_program_state", program), state_dict)


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes that ``serialize_program`` or ``serialize_persistables`` gave. Raises SaveError."""
    if not isinstance(content, bytes):
        raise DTypeError(f"save_to_file: content must be bytes: got {type(content).__name__}")
    atomic_write(path, lambda file: file.write(content))


def load_from_file(path: str) -> bytes:
    """The bytes of a file. Raises DataError for one that can't be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"load_from_file: {path} can't be read: {error}; check the path") from error


# -- inference ---------------------------------------------------------------------------------------------
def normalize_program(program: Program, feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> Program:
    """A copy with only what computes ``fetch_vars`` from ``feed_vars``, as it is when it predicts.

    Raises DTypeError for what are no Variables, ArgumentError where ``fetch_vars`` depends on more than the
    ``feed_vars``.
    """
    program = program_of("normalize_program", program)
    feeds = _variables("normalize_program", "feed_vars", feed_vars)
    fetches = _variables("normalize_program", "fetch_vars", fetch_vars)
    test = program.clone(for_test=True)
    block = test.global_block()
    inputs, outputs = ([block.var(v.name) for v in group] for group in (feeds, fetches))
    made = inference_program(test, inputs, outputs)
    extra = [
        v.name
        for v in made.global_block().vars.values()
        if v.is_data and v.name not in {i.name for i in inputs}
    ]
    if extra:
        raise ArgumentError(
            f"normalize_program: the results also depend on {extra}, which feed_vars does not have; add them"
        )
    return made


def save_inference_model(
    path_prefix: str, feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any
) -> None:
    """Write the three inference files at ``path_prefix``: what computes ``fetch_vars`` from ``feed_vars``.

    ``program`` (keyword) is the Program, by default that of the fetched Variables; ``clip_extra`` and
    ``legacy_format`` are accepted. ``jit.load`` reads the files as well. Raises ProgramError where a
    parameter has no value.
    """
    feeds = _variables("save_inference_model", "feed_vars", feed_vars)
    fetches = _variables("save_inference_model", "fetch_vars", fetch_vars)
    program = program_of("save_inference_model", kwargs.get("program") or fetches[0].block.program)
    made = normalize_program(program, feeds, fetches)
    weights, variables = {}, {}
    for variable in _kept(made):
        weights[variable.name] = value_of(variable).numpy()
        variables[variable.name] = {
            "shape": list(variable.spec.shape),
            "dtype": variable.dtype.name,
            "parameter": variable.is_parameter,
            "stop_gradient": variable.stop_gradient,
            "structured_name": variable.name,
        }
    described = {
        "inputs": [_described(v) for v in feeds],
        "outputs": [_described(v) for v in fetches],
        "variables": variables,
        "info": {},
    }
    write_inference(_prefix("save_inference_model", path_prefix), to_plain(made), weights, described)


def _described(variable: Variable) -> dict[str, Any]:
    return {"name": variable.name, "shape": list(variable.spec.shape), "dtype": variable.dtype.name}


def _kept(program: Program) -> list[Variable]:
    return [v for v in program.global_block().vars.values() if v.persistable]


def load_inference_model(path_prefix: str, executor: Any, **kwargs: Any) -> list[Any]:
    """A list of the Program, the names of what it is fed, and the Variables to fetch.

    The parameters are put into the global scope. Files of ``jit.save`` are read, too. Raises DataError for
    absent files and FormatError for damaged, foreign or mixed ones.
    """
    files = read_inference(_prefix("load_inference_model", path_prefix))
    plain = dict(files.program) if isinstance(files.program, dict) else files.program
    if isinstance(plain, dict):
        plain.pop("methods", None)
    program = from_plain(plain, f"{files.prefix}.pdmodel")
    for variable in _kept(program):
        array = files.weights.get(variable.name)
        if array is None:
            raise FormatError(f"{files.prefix}.pdiparams: no weights for {variable.name!r}; save it again")
        if tuple(array.shape) != variable.spec.shape or array.dtype != variable.dtype.np:
            raise FormatError(
                f"{files.prefix}.pdiparams: weights of {variable.name!r} are {array.dtype}"
                f"{list(array.shape)}: the Program says {variable.spec}; save the model again"
            )
        global_scope().var(variable.name).store(np.array(array))
    block = program.global_block()
    return [program, list(program.inputs), [block.var(name) for name in program.outputs]]


# -- bytes -------------------------------------------------------------------------------------------------
def serialize_program(feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> bytes:
    """What ``save_inference_model`` writes of the Program, as bytes."""
    fetches = _variables("serialize_program", "fetch_vars", fetch_vars)
    program = kwargs.get("program") or fetches[0].block.program
    return _as_bytes({_PROGRAM: to_plain(normalize_program(program, feed_vars, fetches))})


def serialize_persistables(feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any) -> bytes:
    """What ``save_inference_model`` writes of the parameters, as bytes."""
    fetches = _variables("serialize_persistables", "fetch_vars", fetch_vars)
    program = kwargs.get("program") or fetches[0].block.program
    made = normalize_program(program, feed_vars, fetches)
    return _as_bytes({v.name: value_of(v).numpy() for v in _kept(made)})


def deserialize_program(data: bytes) -> Program:
    """The Program that ``serialize_program`` gave as bytes. Raises FormatError for anything else."""
    plain = _from_bytes("deserialize_program", data)
    if not isinstance(plain, dict) or _PROGRAM not in plain:
        raise FormatError("deserialize_program: these bytes hold no Program; they come from elsewhere")
    return from_plain(plain[_PROGRAM], "deserialize_program", training=True)


def deserialize_persistables(program: Program, data: bytes, executor: Any) -> None:
    """Give the parameters of ``program`` the values that ``serialize_persistables`` gave as bytes."""
    state = _from_bytes("deserialize_persistables", data)
    if not isinstance(state, dict) or not all(isinstance(v, np.ndarray) for v in state.values()):
        raise FormatError("deserialize_persistables: these bytes hold no values; they come from elsewhere")
    assign_state(program_of("deserialize_persistables", program), state)


def _as_bytes(tree: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "serialized")
        write_state(path, tree)
        return Path(path).read_bytes()


def _from_bytes(where: str, data: Any) -> Any:
    if not isinstance(data, (bytes, bytearray)):
        raise DTypeError(f"{where}: data must be bytes: got {type(data).__name__}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "serialized")
        Path(path).write_bytes(data)
        return read_state(path)


# Paddle has it as a static method; a Program itself knows no files.
Program.parse_from_string = staticmethod(deserialize_program)  # type: ignore[attr-defined]


# -- arguments ---------------------------------------------------------------------------------------------
def _prefix(where: str, path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise DTypeError(f"{where}: the path must be a text: got {type(path).__name__}")
    text = os.fspath(path)
    for suffix in (".pdparams", ".pdopt", ".pdmodel"):
        text = text.removesuffix(suffix)
    if not os.path.basename(text):
        raise ArgumentError(f"{where}: {os.fspath(path)!r} has no file name; give a folder and a name")
    return text


def _variables(where: str, what: str, value: Any) -> list[Variable]:
    listed = list(value) if isinstance(value, Iterable) and not isinstance(value, Variable) else [value]
    for item in listed:
        if not isinstance(item, Variable):
            raise DTypeError(f"{where}: {what} are Variables of a Program: got {type(item).__name__}")
    if not listed:
        raise ProgramError(f"{where}: {what} is empty; name at least one Variable")
    return listed
