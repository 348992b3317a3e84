"""Deploys a run: a folder with its model as ONNX, a program that predicts with it, and a sample to check."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, SaveError
from engine.files.atomic import make_folder, saving
from engine.files.scratch import folder_next_to
from engine.jit.saved.edit_model import ModelEdits
from engine.training.config import TrainingConfig
from engine.training.exporting.deploy_readme import readme
from engine.training.exporting.export import chosen_checkpoint, export_run, sample_images, scores_of
from engine.training.exporting.inputs import feeds_of
from engine.training.folder.run_folder import RunFolder
from resources.export_events import Exported, ExportProgress
from resources.replacing import sync_folder
from resources.settings.export import ExportSettings

MODEL, PREDICT, LABELS = "model.onnx", "predict.py", "labels.txt"
EXPECTED, README = "expected.json", "README.md"
_EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Deployed:
    """A folder that was written: the event of its export, whose ``prefix`` is the model in it, and the
    largest difference of each runtime of ONNX as a share of the largest result."""

    folder: Path
    event: Exported
    differences: Mapping[str, float]


def deploy_run(
    run: Path,
    folder: Path,
    settings: ExportSettings | None = None,
    emit: Callable[[ExportProgress], None] = lambda event: None,
    step: int | None = None,
) -> Deployed:
    """Write ``folder`` from the run in ``run``: ``model.onnx``, ``predict.py``, which needs NumPy, Pillow and
    ONNX Runtime alone, ``labels.txt``, a sample with ``expected.json``, and ``README.md``.

    The folder appears whole, or not at all. The expected results are those of the exported files here.

    Args:
        settings: of the export; the format and the compression have no effect. ``fixed`` gives every axis
            of the input a size, one sample a batch, as converters to C need.

    Raises:
        ArgumentError: the folder is not empty, the model takes another type than float32, or the run does
            not record its data. MissingExtraError without the extra ``onnx``; as ``export_run``.
    """
    from engine import jit
    from engine.jit.saved.model_files import describe_model_files
    from engine.onnx.convert import convert_model
    from engine.onnx.deployed import predict
    from engine.onnx.extra import onnx_package

    onnx_package()
    settings = settings or ExportSettings()
    if settings.dtype != "float32":
        raise ArgumentError(f"deploy: {PREDICT} feeds float32: got the dtype {settings.dtype}; export that")
    _check_empty(folder)
    store = RunFolder(run)
    store.refuse_links()
    feeds = feeds_of(chosen_checkpoint(store, settings.checkpoint, step, "deploy").get("data", {}))
    if feeds:
        raise ArgumentError(
            f"deploy: {PREDICT} feeds one input, and the model takes {len(feeds)}: "
            f"{', '.join(feed.name for feed in feeds)}; export it as ONNX (--format onnx)"
        )
    make_folder(folder.parent)
    with folder_next_to(folder) as work:
        packed, made = work / "model.h5", work / "folder"
        plain = replace(settings, format="packed", compress=False, optimize=False)
        event = export_run(run, str(packed), plain, emit, step)
        layer = jit.load(str(packed))
        layer.eval()
        info = layer.info
        spec = info.get("data_spec")
        if spec is None:
            raise ArgumentError(f"deploy: {run}: the run does not record its data; train it again")
        edits = ModelEdits(dims={settings.input_name: _sizes(spec)}) if settings.fixed else None
        with saving(folder):
            made.mkdir()
        tree = chosen_checkpoint(store, settings.checkpoint, step, "deploy")
        config = TrainingConfig.from_dict(tree["config"])
        # Samples of the data: random values would not fit columns of words.
        images, _ = sample_images(config, store.source_path, info, max(2, settings.samples))
        batches = [images[:1], images[-1:] if settings.fixed else images]
        checked = convert_model(
            str(packed),
            made / MODEL,
            optimize=settings.optimize,
            edits=edits,
            feeds=[{settings.input_name: batch} for batch in batches],
        )
        save_id = describe_model_files(made / MODEL).save_id
        with saving(folder):
            sample = _write_sample(made, images[0], spec)
            fed = [values for _, values in predict.read_inputs(made / sample, info)]
            scores = scores_of(layer, np.concatenate(fed)).reshape(len(fed), -1)
            expected = {"sample": sample, "outputs": scores.astype(np.float64).tolist()}
            labels = spec["classes"] or spec["targets"]
            texts = {
                PREDICT: Path(predict.__file__).read_text(encoding="utf-8"),
                LABELS: "".join(f"{label}\n" for label in labels),
                EXPECTED: json.dumps(expected) + "\n",
                README: readme(info, settings, sample, layer.program().outputs[0]),
            }
            for name, text in texts.items():
                (made / name).write_text(text, encoding="utf-8")
            event["sizes"] = {path.name: path.stat().st_size for path in sorted(made.iterdir())}
            sync_folder(made)
            made.replace(folder)
            sync_folder(folder.parent)
    event["prefix"], event["save_id"] = str(folder / MODEL), save_id
    event["latency"] = next(iter(checked.latencies.values()))
    # Packed files were compared on all samples, and the ONNX file with those on the batches.
    largest = max(float(np.abs(scores_of(layer, batch)).max()) for batch in batches)
    event["difference"] += max(checked.differences.values()) * largest
    return Deployed(folder, event, checked.differences)


def _check_empty(folder: Path) -> None:
    try:
        if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
            raise ArgumentError(f"deploy: {folder}: not an empty folder; give a new one")
    except OSError as error:
        raise SaveError(f"deploy: {folder}: {error.strerror or error}; give another folder") from error


def _sizes(spec: Mapping[str, Any]) -> dict[int, int]:
    """The size of each axis of the input, for one sample."""
    return dict(enumerate([1, *map(int, spec["shape"])]))


def _write_sample(folder: Path, values: np.ndarray, spec: Mapping[str, Any]) -> str:
    """Write a sample as people have it, an image, a row of a CSV file, or an array; the name of its file."""
    columns = [each for each in spec["columns"] if each["role"] == "input"]
    if spec["kind"] == "images" and values.shape[0] in (1, 3):
        from PIL import Image

        pixels = np.rint(np.clip(values, 0.0, 1.0) * 255).astype(np.uint8).transpose(1, 2, 0)
        Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels).save(folder / "sample.png")
        return "sample.png"
    if spec["kind"] == "table" and columns:
        import csv

        with open(folder / "sample.csv", "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow([each["name"] for each in columns])
            table.writerow(
                [_text(each, value) for each, value in zip(columns, values.reshape(-1), strict=True)]
            )
        return "sample.csv"
    if spec["kind"] == "sequences":
        values = values.reshape(spec["shape"][0], -1)
        values = values[values[:, -1] == 1, :-1] if spec["masked"] else values
    np.save(folder / "sample.npy", values, allow_pickle=False)
    return "sample.npy"


def _text(column: Mapping[str, Any], value: float) -> str:
    """How a value of a column stands in a CSV file."""
    if column["words"]:
        return str(column["words"][int(value) - 1]) if value >= 1 else ""
    if column["type"] == "date":
        return (_EPOCH + datetime.timedelta(days=float(value))).strftime("%Y-%m-%d %H:%M:%S")
    return f"{value:.9g}"
