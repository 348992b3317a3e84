"""Quantizes a run, or a model in inference files: measured before and after, written once it is checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from engine.core.errors import ArgumentError, FormatError, SaveError
from engine.files.atomic import make_folder, save_error, saving
from engine.files.inference import inference_paths
from engine.files.scratch import folder_next_to
from engine.jit.export import layer_of
from engine.jit.saved.model_files import (
    NATIVE,
    PACKED,
    describe_model_files,
    model_paths,
    model_prefix,
    move_model_files,
    path_in_format,
    read_model_files,
)
from engine.kernels.choice import settled
from engine.kernels.cpu.threads import computing_threads
from engine.quantization.calibration.thresholds import Calibration, calibrate
from engine.quantization.comparison import compare
from engine.quantization.post_training import Quantized as QuantizedProgram
from engine.quantization.preparing import Prepared, prepare
from engine.quantization.quantize_model import stored_program
from engine.quantization.report import KEY, Latency, NumberFigures, QuantizationReport, Sizes
from engine.training.config import TrainingConfig
from engine.training.events import now
from engine.training.exporting.check import verify_all
from engine.training.exporting.export import chosen_checkpoint, information, network_of
from engine.training.exporting.inputs import feeds_of
from engine.training.exporting.normalizing import own_names
from engine.training.folder.run_folder import RunFolder
from engine.training.measuring.metrics import mean_absolute_error, r2_score
from engine.training.quantize.choices import Choices, Emit, Pace, report_progress
from engine.training.quantize.data import Labelled, QuantizeData, data_named, data_of_run
from engine.training.quantize.layers import chosen_layers
from engine.training.sources.options import DataOptions, options_of_files
from resources.export_events import Quantized
from resources.settings.export import ENDINGS

if TYPE_CHECKING:
    from engine.training.quantize.aware import Trained

VERIFY_SECONDS = 1_800


@dataclass(frozen=True)
class _Model:
    """A model that is quantized: the files that it is compared with, those that are quantized, their data.

    ``trained`` has the thresholds that a training with quantization found; None calibrates.
    """

    before: Path
    float: Path
    data: QuantizeData | None
    info: dict[str, Any]
    trained: Trained | None = None


def quantize_run(
    folder: Path,
    prefix: str,
    choices: Choices | None = None,
    emit: Emit = lambda event: None,
    *,
    checkpoint: str = "best",
    step: int | None = None,
) -> Quantized:
    """Quantize the network of a run and write the inference files of ``prefix``; one packed file where its
    name ends with ``.h5``.

    Imports the run's own copy of the model's code. Its training samples calibrate, its test samples measure;
    with ``choices.epochs`` it is trained on with quantization first, which finds the thresholds. The files
    are loaded in a clean process, and only then put in place.

    Args:
        checkpoint, step: as of ``export_run``.

    Raises:
        ArgumentError, DataError: no such checkpoint or data, or what can't be quantized. SaveError: the files
            can't be written. FormatError: what was written does not load. Nothing is written then.
    """
    choices = choices or Choices()
    store = RunFolder(folder)
    store.refuse_links()
    target = _target(prefix)
    report_progress(emit, "read", "Reading the checkpoint...")
    tree = chosen_checkpoint(store, checkpoint, step, "quantize")
    config = TrainingConfig.from_dict(tree["config"])
    network, fed, done, measured = network_of(store, config, tree)
    if feeds := feeds_of(fed):
        _refuse_several([feed.name for feed in feeds], "inputs")
    info = {**information(config, fed, done, measured), "run": store.path.name}
    if choices.data:
        data = data_named(choices.data, DataOptions.of(config))
    else:
        data = data_of_run(config, store.source_path)
    _require_labels(choices, data)
    make_folder(target.parent)
    with folder_next_to(target) as work:
        before = _saved(network, work / "float", target, fed["shape"], info)
        model = _Model(before, before, data, info)
        if choices.epochs:
            from engine.training.quantize.aware import train_with_quantization

            prepared = _prepared(before, choices)
            report_progress(emit, "train", "Training with quantization...")
            trained, found = train_with_quantization(store, config, tree, prepared, choices, emit)
            files = _saved(trained, work / "trained", target, fed["shape"], info)
            model = _Model(before, files, data, info, found)
        return _quantize(model, target, prefix, work, choices, emit)


def quantize_saved(
    source: str, prefix: str, choices: Choices | None = None, emit: Emit = lambda event: None
) -> Quantized:
    """Quantize the model in the inference files of ``source`` and write those of ``prefix``.

    ``choices.data`` calibrates and measures; it may be omitted where weights alone are quantized.

    Raises:
        As ``quantize_run``; ArgumentError where a training is asked for, which needs a run.
    """
    choices = choices or Choices()
    target = _target(prefix)
    if choices.epochs:
        raise ArgumentError(
            f"quantize: --qat trains a run's network on its data: {source} is a saved model, which has "
            "neither; give the folder of a run, or leave --qat out"
        )
    if model_prefix(source).resolve() == target.resolve():
        raise ArgumentError(f"quantize: {prefix} is the model in float itself; give another --out")
    report_progress(emit, "read", "Reading the files...")
    described = describe_model_files(source)
    added = described.info.get("info") if isinstance(described.info, dict) else None
    info = dict(added) if isinstance(added, dict) else {}
    if not choices.data and not choices.weights_only:
        raise ArgumentError(
            f"quantize: {source} needs data that calibrates it: got no --data; give e.g. --data mnist, or "
            "--weights-only"
        )
    data = data_named(choices.data, options_of_files(info)) if choices.data else None
    _require_labels(choices, data)
    make_folder(target.parent)
    with folder_next_to(target) as work:
        path = described.prefix.resolve()
        return _quantize(_Model(path, path, data, info), target, prefix, work, choices, emit)


def _quantize(
    model: _Model, target: Path, prefix: str, work: Path, choices: Choices, emit: Emit
) -> Quantized:
    options = choices.options
    with computing_threads(1), settled():
        prepared, calibration = _calibrated(_prepared(model.float, choices), model, choices, emit)
        tested = model.data.tested() if model.data is not None else None
        found, drops = chosen_layers(
            prepared, calibration, lambda: layer_of(read_model_files(model.before)), tested, choices, emit
        )

    format = _format(prefix)
    written = path_in_format(_made(work / "quantized", target) / "model", format)
    report_progress(emit, "save", "Writing the files...")
    with _naming(target):
        found.save(str(written), model.info, format)
    report_progress(emit, "verify", "Loading them in a clean process...")
    values = tested.values if tested is not None else _other_samples(model, prepared)
    before, after = verify_all(
        [model.before, written], values, target, _made(work / "verify", target), "quantize", VERIFY_SECONDS
    )
    labels, classes = (
        (None, ())
        if tested is None or tested.targets is not None or model.data is None
        else (tested.labels, model.data.classes)
    )
    places = None if tested is None else tested.places
    compared = compare(before.scores, after.scores, labels, classes, places)
    report = QuantizationReport(
        method=choices.method,
        algo=_algo(choices),
        weight_bits=options.weight_bits,
        activation_bits=options.activation_bits,
        weight_type=options.weight_type,
        samples=found.samples,
        seconds=found.seconds,
        skipped=found.skipped,
        layers=tuple(replace(each, drop=drops.get(each.name)) for each in found.layers),
        sizes=Sizes(_sizes(model.before), _sizes(written)),
        latency=Latency(before.latency, after.latency),
        difference=compared.difference,
        accuracy=compared.accuracy,
        r2=None if tested is None else _numbers(tested, before.scores, after.scores),
        per_class=compared.per_class,
        confusion_difference=compared.confusion_difference,
        changed=compared.changed,
        changed_count=compared.changed_count,
    )
    report = _with_report(found, report, written, model.info, target)
    move_model_files(written, target, format)
    return Quantized(
        event="quantized",
        time=now(),
        prefix=prefix,
        save_id=describe_model_files(target).save_id,
        report=report.to_plain(),
    )


def _numbers(tested: Labelled, before: np.ndarray, after: np.ndarray) -> NumberFigures | None:
    """The figures of both models where they predict numbers."""
    true = tested.targets
    if true is None:
        return None
    return NumberFigures(
        r2_score(true, before),
        r2_score(true, after),
        mean_absolute_error(true, before),
        mean_absolute_error(true, after),
        len(true),
    )


def _algo(choices: Choices) -> str:
    """What found the thresholds of values."""
    return {"qat": "moving_average_abs_max", "weights_only": ""}.get(choices.method, choices.options.algo)


def _prepared(files: Path, choices: Choices) -> Prepared:
    """The model in inference files as it is quantized. Raises ArgumentError for one that can't be."""
    program, names = stored_program(read_model_files(files))
    prepared = prepare(program, choices.options, names=own_names(names), weights_only=choices.weights_only)
    _require_one(prepared)
    return prepared


def _calibrated(
    prepared: Prepared, model: _Model, choices: Choices, emit: Emit
) -> tuple[Prepared, Calibration]:
    """The model and its thresholds: those of its training, or of calibration samples."""
    if choices.weights_only:
        return prepared, Calibration({}, {}, 0, 0.0)
    assert model.data is not None
    if model.trained is not None:
        from engine.training.quantize.aware import calibration_of

        return calibration_of(prepared, model.trained, model.data.batches(None))
    samples = choices.options.samples
    batches = model.data.batches(samples)
    pace = Pace(emit, "calibrate", "Reading the calibration samples...")
    return prepared, calibrate(prepared, batches, lambda done, total: pace(done, total or 0))


# ----- files -----


def _target(prefix: str) -> Path:
    return path_in_format(prefix, _format(prefix))


def _format(prefix: str) -> str:
    """One packed file where the name has its suffix, else three files."""
    return PACKED if prefix.endswith(ENDINGS[PACKED]) else NATIVE


def _saved(network: Any, folder: Path, target: Path, shape: list[int], info: dict[str, Any]) -> Path:
    """The network in float as inference files in ``folder``; their prefix."""
    from engine import jit
    from engine.jit.input_spec import InputSpec

    _made(folder, target)
    spec = InputSpec(shape=[None, *shape], dtype="float32", name="x")
    with _naming(target):
        jit.save(network, str(folder / "model"), input_spec=[spec], info=info)
    return folder / "model"


def _with_report(
    found: QuantizedProgram, report: QuantizationReport, written: Path, info: dict[str, Any], target: Path
) -> QuantizationReport:
    """Write the files again with the report in them, which says how large they are with it.

    Raises:
        FormatError: they hold another model than those that were checked.
    """
    checked = read_model_files(written)
    for _ in range(3):
        with _naming(target):
            found.save(str(written), {**info, KEY: report.to_plain()}, _format(str(written)))
        sizes = Sizes(report.sizes.float, _sizes(written))
        if sizes == report.sizes:
            break
        report = replace(report, sizes=sizes)
    again = read_model_files(written)
    same = again.program == checked.program and again.weights.keys() == checked.weights.keys()
    if not same or not all(np.array_equal(again.weights[n], w) for n, w in checked.weights.items()):
        raise FormatError(
            f"quantize {target}: nothing was written: saved twice, the model differs; report this with the "
            "model's code"
        )
    return report


def _sizes(prefix: Path) -> dict[str, int]:
    """The lengths of the files in bytes by suffix."""
    three = {path: suffix for suffix, path in inference_paths(prefix).items()}
    return {three.get(path, path.suffix[1:]): path.stat().st_size for path in model_paths(prefix)}


def _made(folder: Path, target: Path) -> Path:
    with saving(target):
        folder.mkdir()
    return folder


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Within the block an error of the disk names ``target`` instead of a folder that is removed."""
    try:
        yield
    except SaveError as error:
        if isinstance(error.__cause__, OSError):
            raise save_error(target, error.__cause__) from error
        raise


# ----- data -----


def _require_labels(choices: Choices, data: QuantizeData | None) -> None:
    if choices.target_drop is not None and (data is None or data.test is None):
        raise ArgumentError(
            "quantize: --target-drop needs test samples with labels: "
            f"{data.name if data is not None else 'no data'} has none; give data with labels, or leave it out"
        )


def _require_one(prepared: Prepared) -> None:
    """Raise ArgumentError for a model whose answers to samples can't be compared here."""
    for what, names in (("inputs", prepared.program.inputs), ("results", prepared.program.outputs)):
        if len(names) != 1:
            _refuse_several(names, what)


def _refuse_several(names: Sequence[str], what: str) -> NoReturn:
    raise ArgumentError(
        f"quantize: the model has {len(names)} {what} ({', '.join(names)}): only models with one are "
        "measured; quantize it in a script: engine.quantization.quantize_model.quantize_files"
    )


def _other_samples(model: _Model, prepared: Prepared) -> np.ndarray:
    """Samples without labels that both models answer: those of the data, else noise."""
    if model.data is not None:
        return np.concatenate(list(model.data.batches(None)))
    spec = prepared.inputs[0].spec
    shape = [spec.shape[0] if spec.shape[0] > 0 else 64, *(max(size, 1) for size in spec.shape[1:])]
    noise = np.random.default_rng(0).random(shape, np.float32)
    return noise.astype(spec.dtype.np)  # numbers of rows, such as words, are 0
