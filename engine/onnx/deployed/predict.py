"""Predict with model.onnx: images, rows of tables or sequences. Needs numpy, pillow and onnxruntime.

python predict.py FILE...     print a line of JSON for each sample
python predict.py --check     compare the results for the sample with the expected ones

Everything that preparing the inputs needs is read from the metadata of model.onnx.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime
import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
MISSING = ("", "na", "nan", "null", "none", "?", "n/a", "#n/a", "-")
INPUTS = ("x", "images", "image", "imgs", "data", "inputs", "input", "features", "pictures", "samples")
LENGTHS = re.compile(f"(({'|'.join(INPUTS)})_)?(len(gth)?s?|seq_len(gth)?s?|steps)")
SPLITS = ("train", "training", "test", "testing", "val", "valid", "validation")
MOST_VALUES = 40_000_000  # of an image: width x height x channels
TOLERANCE = 1e-5  # of the largest expected value
BATCH = 64


class InputError(ValueError):
    """A file that the model can't be given; the message has the reason."""


def read_image(path: Path, info: dict[str, Any]) -> np.ndarray:
    """An image file as the model was trained on images: float32 [1, C, H, W] from 0 to 1."""
    channels, height, width = info["data_spec"]["shape"]
    pixels = open_image(path, channels == 1)
    prepare = info.get("prepare") or {}
    if (channels, height, width) == (1, 28, 28) and not prepare.get("resize"):
        grey = pixels[..., 0].astype(np.float32) / np.float32(255.0)
        return fit_digit(bright_on_dark(grey), path)[None, None]
    fit = prepare.get("fit", "stretch") if prepare.get("resize") else "crop"
    values = fit_image(pixels, height, width, fit).astype(np.float32) / np.float32(255.0)
    return np.ascontiguousarray(values.transpose(2, 0, 1))[None]


def open_image(path: Path, grey: bool) -> np.ndarray:
    """The pixels, turned as the camera says, transparent parts on white: uint8 [H, W, 1 or 3]."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as opened:
            if opened.width * opened.height * len(opened.getbands()) > MOST_VALUES:
                opened.draft("L" if grey else "RGB", (2000, 2000))  # a JPEG is read at a part of its size
            if opened.width * opened.height * len(opened.getbands()) > MOST_VALUES:
                raise InputError(f"{path}: the image has over {MOST_VALUES} values; make it smaller")
            image = ImageOps.exif_transpose(opened)
            if image.mode.startswith("I") or image.mode == "F":
                deep = np.asarray(image).astype(np.float64)
                most = 65535.0 if deep.max(initial=0) > 255 else 255.0
                flat = np.clip(np.rint(deep * (255.0 / most)), 0, 255).astype(np.uint8)
                return flat[..., None] if grey else np.repeat(flat[..., None], 3, axis=2)
            if image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info:
                clear = image.convert("RGBA")
                ground = Image.new("RGBA", clear.size, (255, 255, 255, 255))
                image = Image.alpha_composite(ground, clear).convert("RGB")
            pixels = np.asarray(image.convert("L" if grey else "RGB"))
            return pixels[..., None] if grey else pixels
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: not an image that can be read: {error}") from error


def fit_image(image: np.ndarray, height: int, width: int, fit: str) -> np.ndarray:
    """Pixels [H, W, C] of this size: stretched, or their middle ("crop"), or with a border of 0 ("pad")."""
    from PIL import Image

    rows, columns = image.shape[:2]
    if (rows, columns) == (height, width):
        return image
    scale = (max if fit == "crop" else min)(height / rows, width / columns)
    if fit == "crop":
        tall, wide = min(rows, round(height / scale)), min(columns, round(width / scale))
        top, left = (rows - tall) // 2, (columns - wide) // 2
        image = image[top : top + tall, left : left + wide]
    size = (width, height)
    if fit == "pad":
        size = (max(1, round(columns * scale)), max(1, round(rows * scale)))
    if image.shape[:2] != size[::-1]:
        flat = image[..., 0] if image.shape[2] == 1 else image
        image = np.asarray(Image.fromarray(flat).resize(size, Image.Resampling.BILINEAR))
        image = image.reshape(*size[::-1], -1)
    if fit != "pad":
        return image
    whole = np.zeros((height, width, image.shape[2]), image.dtype)
    top, left = (height - image.shape[0]) // 2, (width - image.shape[1]) // 2
    whole[top : top + image.shape[0], left : left + image.shape[1]] = image
    return whole


def bright_on_dark(grey: np.ndarray) -> np.ndarray:
    """A stroke as bright on a dark ground: inverted where the border is bright."""
    ground = float(np.median(np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])))
    if ground > 0.5:
        grey, ground = 1.0 - grey, 1.0 - ground
    rest = np.clip(grey - ground, 0.0, 1.0)
    peak = float(rest.max()) if rest.size else 0.0
    return np.asarray(rest / peak if peak > 0.1 else rest, np.float32)


def fit_digit(stroke: np.ndarray, where: object) -> np.ndarray:
    """A stroke placed as MNIST places its digits: 20 pixels long, its center of mass on pixel 14 of 28."""
    stroke = np.clip(np.asarray(stroke, np.float32), 0.0, 1.0)
    mask = stroke > 0.08 * stroke.max(initial=0.0)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        raise InputError(f"{where}: there is no digit in it")
    if stroke.shape == (28, 28):
        longer = max(rows[-1] - rows[0], columns[-1] - columns[0]) + 1
        y, x = _center(stroke)
        if abs(longer - 20) <= 1 and abs(y - 14) <= 1.0 and abs(x - 14) <= 1.0:
            return stroke
    box = stroke[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float64)
    height, width = (max(1, round(side * (20 / max(box.shape)))) for side in box.shape)
    small = _shares(box.shape[0], height) @ box @ _shares(box.shape[1], width).T
    y, x = _center(small)
    top, left = min(max(round(14 - y), 0), 28 - height), min(max(round(14 - x), 0), 28 - width)
    image = np.zeros((28, 28), np.float32)
    image[top : top + height, left : left + width] = small
    return image


def _center(image: np.ndarray) -> tuple[float, float]:
    mass = float(image.sum())
    y = float((image.sum(axis=1) * np.arange(image.shape[0])).sum()) / mass
    return y, float((image.sum(axis=0) * np.arange(image.shape[1])).sum()) / mass


def _shares(old: int, new: int) -> np.ndarray:
    edges, pixels = np.arange(new + 1) * (old / new), np.arange(old)
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return np.asarray(np.clip(overlap, 0.0, None) / (old / new), np.float64)


_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")
_TIME = r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _TIME)


def read_table(path: Path, info: dict[str, Any]) -> np.ndarray:
    """The rows of a CSV file, columns in any order by their names: float32 [n, columns]."""
    spec, prepare = info["data_spec"], info.get("prepare")
    columns = [each for each in spec["columns"] if each["role"] == "input"]
    names, rows, commas = csv_rows(path, [each["name"] for each in spec["columns"]])
    if not columns:
        fills = (prepare or {}).get("fill") or [None] * int(np.prod(spec["shape"]))
        columns = [{"name": str(n), "type": "number", "words": (), "fill": v} for n, v in enumerate(fills)]
        places = list(range(len(columns)))
    elif names:
        absent = [each["name"] for each in columns if each["name"] not in names]
        if absent:
            raise InputError(f"{path}: no column {', '.join(map(repr, absent))}")
        places = [names.index(each["name"]) for each in columns]
    else:
        every = spec["columns"]
        choices = (every, [each for each in every if each["role"] != "target"], columns)
        known = next((each for each in choices if rows and len(each) == len(rows[0])), None)
        if known is None:
            raise InputError(f"{path}: no names of columns; add a header: {[c['name'] for c in columns]}")
        places = [place for place, each in enumerate(known) if each["role"] == "input"]
    filled = prepare is None or "fill" in prepare
    values = np.empty((len(rows), len(columns)), np.float32)
    for number, row in enumerate(rows):
        if len(row) <= max(places):
            raise InputError(f"{path}: row {number} has {len(row)} columns")
        for target, (place, column) in enumerate(zip(places, columns, strict=True)):
            try:
                values[number, target] = value_of(row[place].strip(), column, commas, filled)
            except ValueError as error:
                raise InputError(f"{path}: row {number}, column {column['name']}: {error}") from None
    return values.reshape(len(rows), *spec["shape"])


def value_of(text: str, column: dict[str, Any], commas: bool, filled: bool) -> float:
    """The number that a text stands for: of a word its index from 1, 0 for an unknown one."""
    if column["words"]:
        words = list(column["words"])
        return words.index(text) + 1 if text in words else 0
    if text.lower() in MISSING:
        if not filled or column["fill"] is None:
            raise ValueError("no value, and the model was trained without missing ones")
        return float(column["fill"])
    if column["type"] == "date":
        return days_of(text, bool(column["month_first"]))
    if commas and (_COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text)):
        text = text.replace(".", "").replace(",", ".")
    value = float(text)
    if not np.isfinite(value):
        raise ValueError("not a finite number")
    return value


def days_of(text: str, month_first: bool) -> float:
    """The days since 1970-01-01 of a date, with or without a time."""
    parts: Sequence[Any]
    if found := _YEAR_FIRST.fullmatch(text):
        parts = found.groups()
    elif found := _YEAR_LAST.fullmatch(text):
        first, second = (found[1], found[3]) if not month_first else (found[3], found[1])
        parts = (found[4], second, first, *found.groups()[4:])
    else:
        raise ValueError(f"not a date: {text[:60]!r}")
    moment = datetime.datetime(*(int(part or 0) for part in parts))  # type: ignore[arg-type]
    return (moment - datetime.datetime(1970, 1, 1)).total_seconds() / 86400


def csv_rows(path: Path, wanted: Sequence[str]) -> tuple[list[str], list[list[str]], bool]:
    """The names in the header (none without one), the rows, and whether numbers have decimal commas."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    lines = [line for line in text.splitlines() if line.strip()][:50]
    if not lines:
        raise InputError(f"{path}: the file is empty")
    bare = ["".join(line.split('"')[::2]) for line in lines]
    even = (mark for mark in ";\t|," if len({line.count(mark) for line in bare} | {0}) == 2)
    mark = next((m for m in even if all(m in line for line in bare)), max(",;\t|", key=lines[0].count))
    found = [row for row in csv.reader(io.StringIO(text), delimiter=mark) if any(map(str.strip, row))]
    first = [" ".join(name.split("\n")).strip() for name in found[0]]
    header = any(name in wanted for name in first if not is_number(name))
    header = header or not (wanted or any(map(is_number, first)))
    rows = found[1:] if header else found
    if not rows:
        raise InputError(f"{path}: there are no rows below the header")
    return (first if header else []), rows, mark != "," and decimal_commas(rows[:50])


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    with contextlib.suppress(ValueError):
        return float(text) is not None
    return False


def decimal_commas(rows: Sequence[Sequence[str]]) -> bool:
    """Whether there are numbers such as 3,14, and none such as 3.14."""
    texts = [text.strip() for row in rows for text in row]
    points = any("." in text and is_number(text) and not _THOUSANDS.fullmatch(text) for text in texts)
    return not points and any(map(_COMMA.fullmatch, texts))


def read_arrays(path: Path, info: dict[str, Any]) -> np.ndarray:
    """The array of an NPY file, or that of an NPZ file called ``x`` or the like, with its ``lengths``."""
    spec, lengths = info["data_spec"], None
    found = np.load(path, allow_pickle=False)
    if isinstance(found, np.lib.npyio.NpzFile):
        by_name = {name: base_name(name) for name in found.files}
        given = [name for name, base in by_name.items() if LENGTHS.fullmatch(base)]
        others = [name for name in found.files if name not in given]
        if not others:
            raise InputError(f"{path}: there are no arrays of inputs")
        lengths = found[given[0]] if given else None
        found = found[min(others, key=lambda name: by_name[name] not in INPUTS)]
    values = np.asarray(found)
    if values.dtype.kind not in "biuf":
        raise InputError(f"{path}: an array of {values.dtype}: give numbers")
    if spec["kind"] == "sequences":
        return padded(values.astype(np.float32), spec, path, lengths)
    return pixels_of(values, spec, path) if spec["kind"] == "images" else numbers_of(values, info, path)


def base_name(name: str) -> str:
    """The name of an array without the words for its split: ``x`` of ``x_train``."""
    words = re.split(r"[\W_]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    return "_".join(word for word in words if word and word not in SPLITS)


def pixels_of(values: np.ndarray, spec: dict[str, Any], where: object) -> np.ndarray:
    """Images from 0 to 1, of bytes or of numbers up to 255, with channels first or last."""
    shape = tuple(spec["shape"])
    last, grey = (*shape[1:], shape[0]), shape[1:] if shape[0] == 1 else shape
    if values.shape in (shape, last, grey):
        values = values[None]
    if values.shape[1:] == last and last != shape:
        values = np.moveaxis(values, -1, 1)
    elif values.shape[1:] not in (shape, grey):
        raise InputError(f"{where}: shape {list(values.shape)}: the model takes {list(shape)}")
    made = values.reshape(-1, *shape).astype(np.float32)
    for each in made:
        each /= np.float32(255.0 if values.dtype == np.uint8 or each.max(initial=0.0) > 1.0 else 1.0)
    return made


def numbers_of(values: np.ndarray, info: dict[str, Any], where: object) -> np.ndarray:
    """Rows of numbers, with those that are missing (NaN) filled as in the training."""
    spec, prepare, shape = info["data_spec"], info.get("prepare"), tuple(info["data_spec"]["shape"])
    values = values[None] if values.shape == shape else values
    if values.shape[1:] != shape:
        raise InputError(f"{where}: shape {list(values.shape)}: the model takes {list(shape)}")
    made = values.astype(np.float32)
    if not np.isnan(made).any():
        return made
    known = prepare is None or "fill" in prepare
    fills = [each["fill"] for each in spec["columns"] if known and each["role"] == "input"]
    fills = fills or (prepare or {}).get("fill") or []
    if not fills:
        raise InputError(f"{where}: missing numbers, and the model was trained without missing ones")
    return np.where(np.isnan(made), np.asarray(fills, np.float32).reshape(shape), made)


def padded(
    values: np.ndarray, spec: dict[str, Any], where: object, lengths: np.ndarray | None = None
) -> np.ndarray:
    """Sequences [steps, values] or [n, steps, values] with zeros up to the steps of training; of a model for
    sequences of several lengths, with a last value that is 1, and 0 for padding. It may be there already."""
    steps, whole = spec["shape"][0], int(np.prod(spec["shape"][1:]))
    width = whole - bool(spec["masked"])
    if lengths is None and spec["masked"] and values.ndim in (2, 3) and values.shape[-1] == whole:
        values = values[None] if values.ndim == 2 else values
        lengths, values = values[..., -1].sum(axis=1), values[..., :-1]
    values = values[:, None] if values.ndim == 1 and width == 1 else values
    values = values[..., None] if values.ndim == 2 and width == 1 != values.shape[1] else values
    values = values[None] if values.ndim == 2 else values
    if values.ndim != 3 or values.shape[2] != width:
        raise InputError(f"{where}: shape {list(values.shape)}: the model takes up to {[steps, width]}")
    counts = np.full(len(values), values.shape[1]) if lengths is None else np.ravel(lengths).astype(int)
    if len(counts) != len(values) or counts.min(initial=0) < 0 or counts.max(initial=0) > values.shape[1]:
        raise InputError(f"{where}: the lengths don't fit {len(values)} sequences of {values.shape[1]} steps")
    if counts.max(initial=0) > steps:
        raise InputError(f"{where}: {int(counts.max())} steps: the model takes up to {steps}")
    made = np.zeros((len(values), steps, whole), np.float32)
    for row, count in enumerate(counts.tolist()):
        made[row, :count, :width] = values[row, :count]
        if spec["masked"]:
            made[row, :count, -1] = 1.0
    return made.reshape(len(values), *spec["shape"])


def read_inputs(path: Path, info: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """The samples of a file or folder, each with its name and a batch of one."""
    kind = info["data_spec"]["kind"]
    if path.is_dir():
        for each in sorted(path.rglob("*")):
            if each.suffix.lower() in IMAGES:
                yield from read_inputs(each, info)
        return
    if path.suffix.lower() in IMAGES and kind == "images":
        yield str(path), read_image(path, info)
        return
    if path.suffix.lower() not in (".npy", ".npz", *([".csv"] if kind == "table" else [])):
        raise InputError(f"{path}: the model takes {kind}; give such a file, or an array as .npy")
    read = read_table if path.suffix.lower() == ".csv" else read_arrays
    for number, values in enumerate(read(path, info)):
        yield f"{path}:{number}", values[None]


def read_metadata(texts: dict[str, str]) -> dict[str, Any]:
    """The metadata of the model: lists and objects are JSON there."""
    named = [name for name in ("data_spec", "prepare", "classes") if name in texts]
    return {**texts, **{name: json.loads(texts[name]) for name in named}}


def result_of(name: str, scores: np.ndarray, info: dict[str, Any]) -> dict[str, Any]:
    """What is printed for a sample: its class with the probability, or its numbers by name."""
    spec = info["data_spec"]
    if spec["task"] == "numbers":
        return {"name": name, "values": dict(zip(spec["targets"], map(float, scores), strict=True))}
    scores = scores.astype(np.float64)
    if scores.min() < 0.0 or abs(float(scores.sum()) - 1.0) >= 1e-4:
        scores = np.exp(scores - scores.max())
        scores /= scores.sum()
    names, best = spec["classes"], int(scores.argmax())
    chosen = names[best] if len(names) == len(scores) else str(best)
    return {"name": name, "class": chosen, "probability": float(scores[best])}


class Model:
    """model.onnx, run by ONNX Runtime."""

    def __init__(self, path: Path) -> None:
        try:
            import onnxruntime

            options, run_by = onnxruntime.SessionOptions(), ["CPUExecutionProvider"]
            options.add_session_config_entry("session.disable_quant_qdq", "1")  # on AVX2 8-bit sums overflow
            self._session = onnxruntime.InferenceSession(str(path), options, providers=run_by)
        except Exception as error:  # those of ONNX Runtime have no other class in common
            raise InputError(f"{path}: " + " ".join(str(error).split())) from None
        (self._input,) = self._session.get_inputs()
        self.info = read_metadata(self._session.get_modelmeta().custom_metadata_map)

    def scores(self, values: np.ndarray) -> np.ndarray:
        """The results for a batch, one row for each sample."""
        size = self._input.shape[0]
        step = size if isinstance(size, int) else BATCH
        parts = [values[begin : begin + step] for begin in range(0, len(values), step)]
        found = [self._session.run(None, {self._input.name: part})[0] for part in parts]
        return np.concatenate(found).reshape(len(values), -1)


def check(model: Model) -> int:
    """Compare the results for the sample with the expected ones; 0 where they agree, else 3."""
    expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    inputs = [values for _, values in read_inputs(HERE / expected["sample"], model.info)]
    wanted = np.asarray(expected["outputs"], np.float64)
    found = model.scores(np.concatenate(inputs))
    if found.shape != wanted.shape:
        print(f"different: results of shape {list(found.shape)} instead of {list(wanted.shape)}")
        return 3
    apart = float(np.abs(found - wanted).max() / max(float(np.abs(wanted).max()), 1e-12))
    same = apart <= TOLERANCE
    print(f"{'equal' if same else 'different'}: largest difference {apart:.2g} of the largest result")
    return 0 if same else 3


def main() -> int:
    """Predict the files of the command line, or check the sample."""
    parser = argparse.ArgumentParser(description="Predict with model.onnx.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--check", action="store_true", help="compare the sample with the expected results")
    given = parser.parse_args()
    if given.check == bool(given.files):
        parser.error("give files to predict, or --check alone")
    try:
        model = Model(HERE / "model.onnx")
        if given.check:
            return check(model)
        for path in given.files:
            for name, values in read_inputs(path, model.info):
                print(json.dumps(result_of(name, model.scores(values)[0], model.info), ensure_ascii=False))
    except (InputError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
