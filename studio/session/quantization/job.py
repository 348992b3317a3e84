"""The job that quantizes a run in a child process, and what of the choices it takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.session.quantization.choices import QuantizeChoices

if TYPE_CHECKING:
    from studio.session.jobs import Emit


def quantize_job(folder: str, prefix: str, checkpoint: str, choices: QuantizeChoices) -> dict[str, Any]:
    """The job that quantizes the run in ``folder`` into files under ``prefix`` and measures them; the event
    ``quantized`` ends it."""
    return {
        "job": "quantize",
        "folder": folder,
        "prefix": prefix,
        "checkpoint": checkpoint,
        "choices": choices.as_dict(),
    }


def quantize(job: dict[str, Any], emit: Emit) -> None:
    """Do the job. Raises ArgumentError, DataError, FormatError, SaveError; nothing is written then."""
    from engine.quantization.options import QuantizeOptions
    from engine.training.quantize_choices import Choices
    from engine.training.quantize_run import quantize_run

    chosen = job["choices"]
    options = QuantizeOptions(
        algo=chosen["algo"],
        samples=chosen["samples"],
        weight_bits=chosen["weight_bits"],
        activation_bits=chosen["activation_bits"],
        weight_type=chosen["weight_type"],
        skip=tuple(chosen["skip"]),
    )
    method = chosen["method"]
    choices = Choices(
        options,
        target_drop=chosen["target_drop"],
        weights_only=method == "weights_only",
        epochs=chosen["epochs"] if method == "qat" else 0,
    )
    emit(quantize_run(Path(job["folder"]), job["prefix"], choices, emit, checkpoint=job["checkpoint"]))
