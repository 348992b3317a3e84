"""``paddle.onnx.export``: a network as one ``.onnx`` file."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import ArgumentError, SaveError
from engine.files.atomic import atomic_write, make_folder
from engine.jit.export import load, traced
from engine.jit.input_spec import InputSpec
from engine.nn.layer.layers import Layer
from engine.onnx.extra import onnx_package
from engine.onnx.static_programs import function_of
from engine.onnx.write_model import OPSET, write_model
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable

if TYPE_CHECKING:
    from onnx import ModelProto


LARGEST = (1 << 31) - 1  # bytes of a message of protobuf
_log = logging.getLogger(__name__)


def export(
    layer: Layer | Program | Callable[..., Any] | str | os.PathLike[str],
    path: str,
    input_spec: Sequence[Any] | InputSpec | Variable | None = None,
    opset_version: int = 9,
    **configs: Any,
) -> None:
    """Write ``layer`` as ``PATH.onnx``.

    ``layer`` is a Layer or a converted function, as ``paddle.jit.save`` takes it with ``input_spec``; a
    Program, whose inputs and results are those that ``input_spec`` and ``output_spec`` name, or else its data
    and what no operator reads; or the path of a saved model. ``configs``: ``output_spec``, the results that
    stay; ``optimize=True`` makes batch norms part of the convolutions before them; ``metadata``,
    names and texts that the file holds.

    Opset 17 is written, which every runtime since 2022 reads: 9 (Paddle's default) to 16 give it, with a
    note in the log; higher ones are made by onnx's version converter. The file passes onnx's checker with
    full inference of shapes before it replaces another; nothing is written otherwise.

    Raises ArgumentError for a network in training mode, for operators that ONNX can't express (with their
    lines) and for another opset; MissingExtraError without the extra ``onnx``; SaveError if writing fails or
    the model has 2 GB.

    Differs from Paddle: branches, loops and lists that grow in them are written too.
    """
    if os.path.basename(path) == "":  # as Paddle says it
        raise ArgumentError(
            f"onnx.export: the path has no file name: {path!r}; give a folder and a name, such as "
            "models/lenet"
        )
    known = {"output_spec", "optimize", "metadata", "enable_onnx_checker", "verbose", "input_shape_dict"}
    unknown = sorted(configs.keys() - known)
    if unknown:
        raise ArgumentError(f"onnx.export: unknown option {unknown}; it takes {sorted(known)}")
    opset = written_opset(opset_version)
    program = _program(layer, input_spec, configs.get("output_spec"))
    model = write_model(program, configs.get("metadata") or {}, bool(configs.get("optimize")))
    write(model, f"{path}.onnx", opset)


def write(model: ModelProto, path: str, opset: int = OPSET) -> bytes:
    """Write a ModelProto of opset 17 as ``opset`` once it is checked; its bytes. Raises as :func:`export`."""
    onnx = onnx_package()
    if sum(len(weight.raw_data) for weight in model.graph.initializer) > LARGEST:
        raise SaveError(f"{path}: the weights have over 2 GB, which is more than one ONNX file can hold")
    if opset != OPSET:
        from onnx.version_converter import convert_version

        model = convert_version(model, opset)
    content: bytes = model.SerializeToString()
    try:  # bytes: a message would be serialized once more
        onnx.checker.check_model(content, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise SaveError(
            f"{path}: onnx's checker refuses the model, which is a fault of this program; nothing was "
            f"written: {error}"
        ) from error
    make_folder(Path(path).parent)
    atomic_write(path, lambda file: file.write(content))
    return content


def written_opset(version: object) -> int:
    """The opset that is written where ``version`` is asked for. Raises ArgumentError."""
    if isinstance(version, bool) or not isinstance(version, int) or version < 9:
        raise ArgumentError(f"onnx.export: opset_version {version!r}: opsets from 9 on can be asked for")
    newest = int(onnx_package().defs.onnx_opset_version())
    if version > newest:
        raise ArgumentError(
            f"onnx.export: opset_version {version}: the installed package onnx knows opsets up to {newest}"
        )
    if version < OPSET:
        _log.info("onnx.export: opset %d is written in place of %d", OPSET, version)
    return max(version, OPSET)


def _program(layer: Any, input_spec: Any, output_spec: Any) -> Program:
    if isinstance(layer, Program):
        chosen = input_spec is not None or output_spec is not None
        return function_of(layer, input_spec, output_spec) if chosen or not layer.outputs else layer
    if isinstance(layer, str | os.PathLike):
        layer = load(os.fspath(layer))
    return traced(layer, input_spec, output_spec)[0]
