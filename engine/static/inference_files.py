"""Inference models of static graphs: a pruned Program with its parameters, as files or as bytes.

The three files are those of ``jit.save``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import AbsentError, ArgumentError, DataError, DTypeError, FormatError
from engine.files import inference
from engine.files.atomic import atomic_write, make_folder
from engine.files.native.in_memory import container_bytes, read_container_bytes
from engine.files.state import KIND as STATE
from engine.framework.state_files import from_tree
from engine.jit.export import programs_of, weights_of, write_model
from engine.jit.saved.model_files import NATIVE, kind_of, named_files, read_model_files
from engine.jit.translated_layer import FORWARD
from engine.program.graph import delegates, lengths
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.clone import switch_to_prediction
from engine.program.passes.prune import pruned
from engine.program.run.executor import Executor
from engine.program.run.scope import Scope, give_value, global_scope, require_fit, value_of
from engine.program.saved.serialize import from_plain, to_plain
from engine.static.compiled import program_of
from engine.static.helper import require_executor, require_options, variables_of
from resources.regular_files import LARGE_FILE, read_regular

__all__ = [
    "deserialize_persistables",
    "deserialize_program",
    "load_from_file",
    "load_inference_model",
    "normalize_program",
    "save_inference_model",
    "save_to_file",
    "serialize_persistables",
    "serialize_program",
]

_PROGRAM, _WEIGHTS = inference.KINDS[inference.PROGRAM], inference.KINDS[inference.WEIGHTS]


def normalize_program(
    program: Program,
    feed_vars: Variable | Sequence[Variable],
    fetch_vars: Variable | Sequence[Variable],
    **kwargs: Any,
) -> Program:
    """A copy with only the operators that compute ``fetch_vars`` from ``feed_vars``, in inference mode.

    ``feed_vars`` may be Variables from the middle of the Program. Raises DTypeError for values that are not
    Variables, ArgumentError where a fetch needs data that ``feed_vars`` does not have.

    Differs from Paddle: the given program does not change, and the results keep their names; Paddle appends a
    ``scale`` for each of them and adds operators that feed and fetch.
    """
    return _normalized("normalize_program", program, feed_vars, fetch_vars, kwargs, ("skip_prune_program",))


def _normalized(
    where: str, program: Any, feed_vars: Any, fetch_vars: Any, options: Mapping[str, Any], known: Any
) -> Program:
    """The pruned copy; ``program`` None stands for the one of the fetched Variables."""
    require_options(where, options, known)
    feeds = variables_of(where, "feed_vars", feed_vars)
    fetches = variables_of(where, "fetch_vars", fetch_vars)
    if options.get("skip_prune_program"):
        raise ArgumentError(
            f"{where}: skip_prune_program=True is not possible here: a saved model holds what its fetches "
            "need; leave it out, or keep the whole Program with paddle.save()"
        )
    if not fetches:
        raise ArgumentError(f"{where}: fetch_vars is empty; pass the Variables to predict")
    whole = program_of(where, fetches[0].block.program if program is None else program)
    return pruned(whole, lengths.with_levels(feeds), fetches, where)


_SAVE_OPTIONS = (
    "program",
    "clip_extra",
    "legacy_format",
    "skip_prune_program",
    "info",
    "optimize",
    "format",
    "compress",
)


def save_inference_model(
    path_prefix: str,
    feed_vars: Variable | Sequence[Variable],
    fetch_vars: Variable | Sequence[Variable],
    executor: Executor | None,
    **kwargs: Any,
) -> None:
    """Write ``path_prefix`` with the suffixes ``.pdmodel``, ``.pdiparams`` and ``.pdiparams.info``.

    They hold the operators that compute ``fetch_vars`` from ``feed_vars``, and the values of the parameters
    in the global scope.

    ``program`` (keyword) is the Program, by default that of the fetched Variables; ``info`` is a dict of
    plain values to be kept with the model, ``optimize=True`` makes prediction faster, and
    ``format`` and ``compress`` choose other files, all as of ``jit.save``; ``clip_extra`` and
    ``legacy_format`` are accepted. ``jit.load`` reads the files as well.

    Raises DTypeError for values that are not Variables, ArgumentError where a fetch needs data that
    ``feed_vars`` does not have, ProgramError where a parameter has no value, SaveError if writing fails
    (existing files stay). Differs from Paddle: see ``normalize_program``.
    """
    where = "save_inference_model"
    require_executor(where, executor)
    program = _normalized(where, kwargs.get("program"), feed_vars, fetch_vars, kwargs, _SAVE_OPTIONS)
    for variable in _persistables(program):
        program.bind(variable, value_of(variable))
    info, optimize = kwargs.get("info", {}), kwargs.get("optimize", False)
    format, compress = kwargs.get("format", NATIVE), kwargs.get("compress", False)
    write_model(_prefix(where, path_prefix), program, {}, {}, info, optimize, format, compress)


def load_inference_model(path_prefix: str | None, executor: Executor | None, **kwargs: Any) -> list[Any]:
    """A list of the Program, the names of its feeds, and the Variables to fetch.

    Reads what ``save_inference_model`` and ``jit.save`` (its ``forward``) wrote. The parameters are put into
    the global scope under their names, replacing values there. With ``path_prefix=None``, ``model_filename``
    and ``params_filename`` are the bytes of program and parameters; with a folder they are the names of its
    files.

    Raises AbsentError for absent files, FormatError for damaged, foreign or mixed ones; then the scope does
    not change.
    """
    where = "load_inference_model"
    require_executor(where, executor)
    require_options(where, kwargs, ("model_filename", "params_filename"))
    if path_prefix is None:
        program, weights, shown = _from_bytes(kwargs)
    else:
        program, weights, shown = _from_files(named_files(where, _prefix(where, path_prefix), kwargs))
    put_weights(program, weights, shown, global_scope())
    block = program.global_block()
    return [program, lengths.without_levels(program.inputs), [block.var(name) for name in program.outputs]]


def model_at(prefix: str, scope: Scope) -> Program:
    """The Program in the files of a prefix, in inference mode; its parameters are put into ``scope``.

    Raises as ``load_inference_model``.
    """
    program, weights, shown = _from_files(prefix)
    put_weights(program, weights, shown, scope)
    return program


def model_in(where: str, model: bytes, params: bytes, scope: Scope) -> Program:
    """The Program in the bytes of a ``.pdmodel``, as ``model_at`` gives it."""
    program = deserialize_program(model)
    put_weights(program, _weights(where, params), where, scope)
    return program


def put_weights(program: Program, weights: Mapping[str, Any], shown: str, scope: Scope) -> None:
    """Make a Program that was read ready to predict: its mode, and its parameters in ``scope``."""
    for operator in (o for block in program.blocks for o in block.ops):
        switch_to_prediction(operator)  # jit.save keeps the mode that the network was in
    lengths.mark_levels(program)
    program.changed()
    for variable, array in list(weights_of(program, weights, shown)):
        scope.var(variable.name).store(np.array(array))


def _from_files(prefix: str) -> tuple[Program, Mapping[str, Any], str]:
    pair = inference.read_pair(prefix) if kind_of(prefix) == NATIVE else None
    if pair is not None:
        return from_plain(pair[0], f"{prefix}.pdmodel", own=pair[2]), pair[1], f"{prefix}.pdiparams"
    files = read_model_files(prefix)
    return programs_of(files)[FORWARD], files.weights, files.file_of(inference.WEIGHTS)


def _from_bytes(options: Mapping[str, Any]) -> tuple[Program, Mapping[str, Any], str]:
    model, params = options.get("model_filename"), options.get("params_filename")
    if model is None or params is None:
        raise ArgumentError(
            "load_inference_model: path_prefix is None: then model_filename and params_filename must be the "
            "bytes of program and parameters"
        )
    program, weights = deserialize_program(model), _weights("load_inference_model", params)
    return program, weights, "load_inference_model"


# -- bytes -------------------------------------------------------------------------------------------------
def serialize_program(
    feed_vars: Variable | Sequence[Variable], fetch_vars: Variable | Sequence[Variable], **kwargs: Any
) -> bytes:
    """The Program that ``save_inference_model`` writes, as the bytes of a ``.pdmodel``. Raises as it does."""
    known = ("program", "legacy_format")
    program = _normalized("serialize_program", kwargs.get("program"), feed_vars, fetch_vars, kwargs, known)
    return program_bytes(program)


@delegates.program_bytes.define
def program_bytes(program: Program) -> bytes:
    """A whole Program as the bytes of a ``.pdmodel``."""
    return container_bytes(_PROGRAM, inference.VERSION, {"program": to_plain(program)})


def serialize_persistables(
    feed_vars: Variable | Sequence[Variable],
    fetch_vars: Variable | Sequence[Variable],
    executor: Executor | None,
    **kwargs: Any,
) -> bytes:
    """The parameters that ``save_inference_model`` writes, as the bytes of a ``.pdiparams``. Raises as it
    does."""
    where = "serialize_persistables"
    require_executor(where, executor)
    program = _normalized(where, kwargs.get("program"), feed_vars, fetch_vars, kwargs, ("program",))
    weights = {v.name: value_of(v).numpy() for v in _persistables(program)}
    return container_bytes(_WEIGHTS, inference.VERSION, {"weights": weights})


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes to a file and create its folder.

    Raises DTypeError for a value that is not bytes, SaveError if writing fails.
    """
    if not isinstance(content, bytes):
        raise DTypeError(f"save_to_file: content must be bytes: got {type(content).__name__}")
    make_folder(Path(path).parent)
    atomic_write(path, lambda file: file.write(content))


def load_from_file(path: str) -> bytes:
    """The bytes of a file. Raises AbsentError where there is none, DataError for one that can't be read."""
    try:
        return read_regular(path, LARGE_FILE)
    except FileNotFoundError as error:
        raise AbsentError(f"load_from_file: {path}: there is no such file; check the path") from error
    except OSError as error:
        raise DataError(f"load_from_file: {path} can't be read: {error}; check the path") from error


@delegates.parse_from_string.define
def deserialize_program(data: bytes) -> Program:
    """The Program in the bytes of ``serialize_program`` or of a ``.pdmodel``, that of ``static.save`` too.

    Raises DTypeError for no bytes, FormatError for damaged or foreign ones.
    """
    where = "deserialize_program"
    container = read_container_bytes(data, (_PROGRAM, STATE), inference.VERSION, where)
    if container.kind == STATE:
        program = from_tree(container.tree, True, where, container.own)
        if not isinstance(program, Program):
            raise FormatError(f"{where}: the bytes do not hold a Program; pass those of serialize_program()")
        return program
    inference.check_tree(container.tree, inference.PROGRAM, where)
    return from_plain(container.tree["program"], where, own=container.own)


def deserialize_persistables(program: Program, data: bytes, executor: Executor | None) -> None:
    """Give the parameters of ``program`` the values in the bytes of ``serialize_persistables`` or of a
    ``.pdiparams``, in the global scope.

    Raises DTypeError for no bytes, FormatError for damaged or foreign ones, ArgumentError for a parameter
    that they do not have, ShapeError or DTypeError for one that does not fit; then nothing is changed.
    """
    where = "deserialize_persistables"
    require_executor(where, executor)
    program = program_of(where, program)
    weights = _weights(where, data)
    missing = [v.name for v in program.all_parameters() if v.name not in weights]
    if missing:
        raise ArgumentError(
            f"{where}: the bytes have no values for {missing[:5]}; take those of the same Program"
        )
    known = [v for v in _persistables(program) if v.name in weights]
    for variable in known:
        require_fit(variable, weights[variable.name])
    for variable in known:
        give_value(variable, weights[variable.name])


def _weights(where: str, data: Any) -> dict[str, Any]:
    container = read_container_bytes(data, _WEIGHTS, inference.VERSION, where)
    inference.check_tree(container.tree, inference.WEIGHTS, where)
    weights: dict[str, Any] = container.tree["weights"]
    return weights


def _persistables(program: Program) -> list[Any]:
    return [v for v in program.global_block().vars.values() if v.persistable]


def _prefix(where: str, path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise DTypeError(f"{where}: path_prefix must be a string: got {type(path).__name__}")
    return os.fspath(path)
