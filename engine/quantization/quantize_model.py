"""Quantization of a Layer, and of a model in inference files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from engine.core.errors import ArgumentError
from engine.files.inference import InferenceFiles
from engine.jit.export import described_variables, layer_of, traced
from engine.jit.saved.model_files import read_model_files
from engine.jit.translated_layer import FORWARD, TranslatedLayer
from engine.nn import Layer
from engine.program.graph.program import Program
from engine.quantization.calibration.data import Batches
from engine.quantization.calibration.thresholds import Progress
from engine.quantization.options import QuantizeOptions
from engine.quantization.post_training import Quantized, quantize_program, quantize_weights
from engine.quantization.preparing import WHERE


def quantize_layer(
    layer: Layer | Callable[..., Any],
    input_spec: Sequence[Any] | None,
    batches: Batches | None,
    options: QuantizeOptions | None = None,
    progress: Progress | None = None,
) -> Quantized:
    """Quantize the forward of ``layer`` (a Layer or a converted function) as it predicts.

    ``input_spec`` as of ``jit.save``; without ``batches`` only weights become integers. The Layer stays as it
    is, in the mode that it is in. ``layer()`` of the result is a Layer again. Raises as ``jit.save`` and
    ``quantize_program``.
    """
    with _predicting(layer):
        program, by_id = traced(layer, input_spec)
    names = {v.name: by_id[id(v.tensor)] for v in program.bound() if id(v.tensor) in by_id}
    return _quantize(program, batches, options, names, progress)


def quantize_files(
    prefix: str,
    out: str,
    batches: Batches | None,
    options: QuantizeOptions | None = None,
    progress: Progress | None = None,
) -> Quantized:
    """Quantize the model in the inference files of ``prefix`` and write that of ``out``.

    The information of the files (``info``) stays. Nothing is written where anything fails. Raises as
    ``quantize_stored``, and SaveError where writing fails.
    """
    files = read_model_files(prefix)
    found = quantize_stored(files, batches, options, progress)
    info = files.info.get("info", {}) if isinstance(files.info, dict) else {}
    found.save(out, info)
    return found


def quantize_stored(
    files: InferenceFiles,
    batches: Batches | None,
    options: QuantizeOptions | None = None,
    progress: Progress | None = None,
) -> Quantized:
    """Quantize the model that was read from inference files; without ``batches`` its weights only.

    Raises ArgumentError for a model with further methods, FormatError for malformed files, and as
    ``quantize_program``.
    """
    program, names = stored_program(files)
    return _quantize(program, batches, options, names, progress)


def stored_program(files: InferenceFiles) -> tuple[Program, dict[str, str]]:
    """The Program in inference files, bound to its weights, and the structured names of its parameters.

    Raises ArgumentError for a model with other methods than forward, FormatError for malformed files.
    """
    names = {
        name: each["structured_name"]
        for name, each in described_variables(files).items()
        if isinstance(each.get("structured_name"), str)
    }
    layer: TranslatedLayer = layer_of(files)
    others = sorted(set(layer.functions) - {FORWARD})
    if others or FORWARD not in layer.functions:
        raise ArgumentError(
            f"{WHERE}: {files.prefix} has the methods {others}: only a model with forward alone can be "
            "quantized; save it without them"
        )
    return layer.program(), names


def _quantize(
    program: Program,
    batches: Batches | None,
    options: QuantizeOptions | None,
    names: dict[str, str],
    progress: Progress | None,
) -> Quantized:
    if batches is None:
        return quantize_weights(program, options, names=names)
    return quantize_program(program, batches, options, names=names, progress=progress)


@contextmanager
def _predicting(layer: Any) -> Iterator[None]:
    """A Layer in evaluation mode within the block; afterwards each of its parts is in the mode it was in."""
    owner = layer if isinstance(layer, Layer) else getattr(layer, "class_instance", None)
    parts = owner.sublayers(include_self=True) if isinstance(owner, Layer) else []
    before = [part.training for part in parts]
    try:
        if isinstance(owner, Layer):
            owner.eval()
        yield
    finally:
        for part, training in zip(parts, before, strict=True):
            part.training = training
