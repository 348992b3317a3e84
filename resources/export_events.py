"""The events of exports and quantizations: plain dicts, as ``resources.training_events`` has them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from resources.training_events import Timed


class ExportProgress(Timed):
    """An export has come so far: ``stage`` is read, save or verify."""

    event: Literal["export_progress"]
    stage: str
    message: str


class Exported(Timed):
    """Inference files were written and checked by loading them in a clean process.

    ``difference`` is the largest absolute one over ``samples`` images, ``latency`` the seconds for one,
    ``accuracy`` that on the samples (NaN for noise), ``validation_accuracy`` what the training measured at
    ``step`` or before (NaN if nothing yet), ``pictures`` test or noise, ``sizes`` bytes by file,
    ``operators`` how many there were before and after the passes, empty for files that are not optimized,
    ``saved`` the share of bytes that compression saved, of files that are to be compressed. Of
    numbers there are R² and mean absolute error instead of accuracies.
    """

    event: Literal["exported"]
    prefix: str
    samples: int
    step: int
    validation_accuracy: NotRequired[float]
    validation_r2: NotRequired[float]
    validation_mae: NotRequired[float]
    difference: float
    accuracy: NotRequired[float]
    r2: NotRequired[float]
    mae: NotRequired[float]
    task: NotRequired[str]
    pictures: str
    sizes: dict[str, int]
    operators: list[int]
    save_id: str
    latency: float
    seconds_to_load: float
    saved: NotRequired[float]


class QuantizeProgress(Timed):
    """A quantization has come so far: ``done`` of ``total`` samples, steps or layers of ``stage``.

    ``stage`` is read, calibrate, train (with quantization), save, verify, measure or layers (each of them
    quantized alone). ``total`` is 0 where nothing is counted.
    """

    event: Literal["quantize_progress"]
    stage: str
    message: str
    done: int
    total: int


class Quantized(Timed):
    """Inference files of a quantized model were written and checked by loading them in a clean process.

    ``report`` is what ``QuantizationReport.to_plain`` gives; the files hold the same.
    """

    event: Literal["quantized"]
    prefix: str
    save_id: str
    report: dict[str, Any]
