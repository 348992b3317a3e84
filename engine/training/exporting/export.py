"""Exports a run: inference files from one of its checkpoints, checked by loading them in a clean process."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from engine.core.errors import ArgumentError, DataError, EngineError, FormatError, SaveError
from engine.files.atomic import make_folder, save_error
from engine.files.checkpoint import BEST_NAME, list_checkpoints
from engine.files.scratch import folder_next_to
from engine.jit.saved.model_files import (
    ONNX,
    describe_model_files,
    gain_of_compression,
    move_model_files,
    path_in_format,
    written_paths,
)
from engine.training.config import TrainingConfig
from engine.training.corrections import load_run_data
from engine.training.events import now
from engine.training.exporting.check import verify, verify_onnx
from engine.training.exporting.inputs import export_inputs, feeds_of
from engine.training.exporting.normalizing import for_callers, for_prediction
from engine.training.folder.recorded import recorded_best_step
from engine.training.folder.run_folder import RunFolder
from engine.training.measuring.metrics import mean_absolute_error, r2_score
from engine.training.reporting.progress import measured_before
from engine.training.setup import build_network
from engine.training.sources.preparing.prepared import as_given
from engine.training.sources.several_inputs import Samples, inputs_in, joined, samples_in
from resources.export_events import Exported, ExportProgress
from resources.settings.export import ABOUT, ENDINGS, ExportSettings

if TYPE_CHECKING:
    from engine.nn import Layer

SCALING = {"low": 0.0, "high": 1.0, "divide_by": 255.0}


def export_run(
    folder: Path,
    prefix: str,
    settings: ExportSettings | None = None,
    emit: Callable[[ExportProgress], None] = lambda event: None,
    step: int | None = None,
) -> Exported:
    """Write the files of ``prefix``, in the format of ``settings``, from the run in ``folder``; check them.

    Imports the run's own copy of the model's code. The files are loaded in a fresh process that sees no model
    code; its answers to test images are compared with the network's. An ONNX file is run there by ONNX
    Runtime, where it is installed, and by onnx's evaluator.

    Args:
        settings: of the export. The best checkpoint must be the one that the journal names, and neither it
            nor the last may be that of step 0, whose weights are untrained.
        step: the checkpoint of this step instead, whichever it is.
        emit: receives ``export_progress`` events.

    Returns:
        What was measured.

    Raises:
        DataError: there is no such checkpoint. SaveError: the files can't be written. FormatError: what was
            written does not read back as it was; then what lay at ``prefix`` before is unchanged.
    """
    from engine.jit.export import write_layer
    from engine.jit.input_spec import InputSpec

    store = RunFolder(folder)
    store.refuse_links()
    emit(_progress("read", "Reading the checkpoint..."))
    settings = settings or ExportSettings()
    tree = chosen_checkpoint(store, settings.checkpoint, step)
    config = TrainingConfig.from_dict(tree["config"])
    network, data, done, measured = network_of(store, config, tree)
    emit(_progress("save", "Writing the files..."))
    info = {**information(config, data, done, measured), "run": store.path.name, **about(settings)}
    rows = export_inputs(data, settings)
    inputs = [
        InputSpec([None if size < 0 else size for size in row.shape], dtype=row.dtype, name=row.name)
        for row in rows
    ]
    target = path_in_format(prefix, settings.format)
    make_folder(target.parent)
    # What is not verified never lies at the prefix: what was there before stays until then.
    with folder_next_to(target) as work:
        written = path_in_format(work / "model", settings.format)
        try:
            save_id = write_layer(
                network,
                str(written),
                input_spec=inputs,
                info=info,
                optimize=settings.optimize,
                format=settings.format,
                compress=settings.compress,
            )
        except SaveError as error:
            if isinstance(error.__cause__, OSError):
                raise save_error(target, error.__cause__) from error
            raise
        emit(_progress("verify", "Loading them in a clean process..."))
        images, labels = sample_images(config, store.source_path, data, settings.samples)
        expected = scores_of(network, images)
        if settings.format == ONNX:
            fed = {
                row.name: each.astype(row.dtype) for row, each in zip(rows, inputs_in(images), strict=True)
            }
            found = verify_onnx(written, fed, expected, target)
        else:
            found = verify(written, images, target, work)
        move_model_files(written, target, settings.format)
    scores = found.scores
    described = {} if settings.format == ONNX else describe_model_files(target).info
    event = Exported(
        event="exported",
        time=now(),
        prefix=str(target) if settings.format in ENDINGS else prefix,
        samples=samples_in(images),
        step=done,
        difference=float(np.abs(scores - expected).max()),
        pictures="noise" if labels is None else "test",
        sizes={path.name: path.stat().st_size for path in written_paths(target, settings.format)},
        operators=described.get("operators", []),
        save_id=save_id,
        latency=found.latency,
        seconds_to_load=found.seconds_to_load,
    )
    if settings.compress:
        event["saved"] = gain_of_compression(target, settings.format)
    event.update(figures_of(data, measured, scores, labels))
    return event


def figures_of(
    data: Mapping[str, Any],
    measured: Mapping[str, float],
    scores: np.ndarray,
    labels: np.ndarray | None,
) -> Exported:
    """The fields of an event about exported files that depend on the task: what the training measured, and
    what ``scores`` reach on samples with these ``labels``, classes or numbers in their units."""
    if task_of_data(data) == "numbers":
        true = None if labels is None else labels.reshape(len(labels), -1)
        return cast(
            "Exported",
            {
                "task": "numbers",
                "validation_r2": measured.get("validation_r2", math.nan),
                "validation_mae": measured.get("validation_mae", math.nan),
                "r2": math.nan if true is None else r2_score(true, scores),
                "mae": math.nan if true is None else mean_absolute_error(true, scores),
            },
        )
    return cast(
        "Exported",
        {
            "validation_accuracy": measured.get("validation_accuracy", math.nan),
            "accuracy": math.nan if labels is None else float((scores.argmax(axis=1) == labels).mean()),
        },
    )


def task_of_data(data: Mapping[str, Any]) -> str:
    """The task that the ``data`` of a checkpoint, or the information in exported files, is about."""
    spec = data.get("spec", data.get("data_spec"))
    return "numbers" if isinstance(spec, Mapping) and spec.get("task") == "numbers" else "classes"


def about(settings: ExportSettings) -> dict[str, str]:
    """What the author says of the model, without what is empty."""
    return {name: getattr(settings, name) for name in ABOUT if getattr(settings, name)}


def information(
    config: TrainingConfig, data: dict[str, Any], step: int, measured: Mapping[str, float]
) -> dict[str, Any]:
    """The information in the files of a run's model: how it is fed, what it predicts, where it comes from."""
    fed = for_callers(data)
    spec = fed.pop("spec", None)
    return {
        "scaling": SCALING,
        **fed,
        **({} if spec is None else {"data_spec": spec}),
        "model": config.model,
        "data": config.data,
        "step": step,
        **(measured or ({} if task_of_data(data) == "numbers" else {"validation_accuracy": -1.0})),
    }


def network_of(
    store: RunFolder, config: TrainingConfig, tree: dict[str, Any]
) -> tuple[Any, dict[str, Any], int, dict[str, float]]:
    """The network of a run with the weights of a checkpoint, as it is fed what people have; with what the
    checkpoint says of the data, its step, and the figures measured last (empty for none).

    Raises:
        FormatError: the tree is not the checkpoint of a training.
    """
    try:
        weights, data = dict(tree["model"]), dict(tree["data"])
        done, measured = int(tree["progress"]["step"]), measured_before(tree["progress"])
        data["shape"] = [int(size) for size in data["shape"]]
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise FormatError(
            f"export: not the checkpoint of a training: {type(error).__name__} at {error}; choose another "
            "checkpoint"
        ) from error
    network, _ = build_network(config, store.source_path)
    network.set_state_dict(weights)
    network.eval()
    return for_prediction(network, data), data, done, measured


def _progress(stage: str, message: str) -> ExportProgress:
    return ExportProgress(event="export_progress", time=now(), stage=stage, message=message)


def chosen_checkpoint(
    store: RunFolder, checkpoint: str, step: int | None, what: str = "export"
) -> dict[str, Any]:
    """The tree of the checkpoint asked for: ``best``, ``last``, a path, or that of a step.

    ``what`` is the command that messages begin with.

    Raises:
        DataError: it does not exist; or, unless asked for by its step, it is untrained or not the
            best of the run.
    """
    if step is not None:
        return checkpoint_of_step(store, step, what)
    if checkpoint not in ("best", "last"):
        return store.read_checkpoint(Path(checkpoint))
    newest, damaged = store.latest_checkpoint(what)
    if damaged and checkpoint == "last":
        problem = damaged[0].problem.partition("; ")[0]
        raise DataError(f"{what}: the last checkpoint is damaged: {problem}; {_choices(store)}")
    latest = store.read_checkpoint(newest)
    TrainingConfig.from_dict(latest["config"])  # reports a fit of a script before the missing parts
    best = store.checkpoints_path / BEST_NAME
    if checkpoint == "last":
        tree = latest
    elif best.exists():
        tree = store.read_best()
    else:
        raise DataError(f"{what}: the run has no best checkpoint: {best} does not exist; {_choices(store)}")
    done = int(tree["progress"]["step"])
    if done == 0:
        raise DataError(
            f"{what}: the {checkpoint} checkpoint is of step 0, untrained: {store.path}; {_choices(store)}"
        )
    wanted = recorded_best_step(store.journal_path) if checkpoint == "best" else None
    if wanted is not None and wanted != done:
        raise DataError(
            f"{what}: the best weights, of step {wanted}, were not saved: {best} is of step {done}; "
            f"{_choices(store)}"
        )
    return tree


def checkpoint_of_step(store: RunFolder, step: int, what: str = "export") -> dict[str, Any]:
    """The tree of the checkpoint of ``step``, whichever it is. Raises DataError where there is none."""
    found = {entry.step: entry.path for entry in list_checkpoints(store.checkpoints_path)}
    if step in found:
        return store.read_checkpoint(found[step])
    if step == store.best_step():
        return store.read_best()
    raise DataError(f"{what}: no checkpoint of step {step}: {store.path}; {_choices(store)}")


def _choices(store: RunFolder) -> str:
    steps = {entry.step for entry in list_checkpoints(store.checkpoints_path)} | {store.best_step()}
    saved = ", ".join(str(step) for step in sorted(steps - {-1})) or "none"
    return f"train on, or give --step with one that is saved: {saved}"


def sample_images(
    config: TrainingConfig, source: Path, data: Mapping[str, Any], count: int
) -> tuple[Any, np.ndarray | None]:
    """Samples of the test split with their labels, or with the numbers to predict [n, k] in their units;
    noise without labels where the data is not on this machine. For several inputs a tuple of samples.

    Args:
        data: of the checkpoint, or the information in exported files.

    Whether two processes compute the same can be seen on either.
    """
    if count < 1:
        raise ArgumentError(f"export: the number of samples must be at least 1: got {count}; give e.g. 256")
    try:
        split = load_run_data(config, source).splits.test
        given = as_given(split)
    except EngineError:
        return _noise(data, count), None
    items = [given.__getitems__([index]) for index in range(min(count, len(given)))]
    images = joined([image for image, _ in items])
    labels = np.concatenate([label for _, label in items])
    if split.targets is not None:
        return images, split.prepare.raw_targets(labels)
    return images, labels.reshape(-1).astype(np.int64)


def _noise(data: Mapping[str, Any], count: int) -> Any:
    random = np.random.default_rng(0)
    shape = [int(size) for size in data["shape"]]
    made = [
        random.integers(0, 2, (count, *each.shape))
        if each.dtype == "int64"
        else random.random((count, *each.shape), np.float32)
        for each in feeds_of(data)
    ]
    return tuple(made) if made else random.random((count, *shape), np.float32)


def scores_of(network: Layer, images: Samples) -> np.ndarray:
    """What the network gives for samples; a tuple of arrays for several inputs."""
    from engine.eager.grad_mode import no_grad
    from engine.tensor.creation import to_tensor

    with no_grad():
        scores = network(*(to_tensor(each) for each in inputs_in(images)))
    if not hasattr(scores, "numpy"):
        raise EngineError(
            f"export: the model gives no single Tensor: {type(scores).__name__}; return the scores alone"
        )
    return np.asarray(scores.numpy())
