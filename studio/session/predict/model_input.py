"""What a model is fed: the inputs that its files name, and a person's values as the arrays they ask for."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from engine.training.exporting.raw_inputs import RawInputs
    from studio.session.predict.model_info import ModelInfo

Form = Literal["digit", "picture", "numbers", "table", "sequence", ""]
DIGIT_SIDE = 28
MOST_NUMBERS = 100_000
MOST_FIELDS = 200  # columns of numbers that are given in a form
MOST_WORD_FIELDS = 1000  # columns that are given in a form where some have words
MOST_SIDE = 4096
# The sides that images are fed with where the model takes any.
FREE_SIDE = 224
_CHANNELS = (1, 3, 4)
_FLOATS = ("float16", "float32", "float64")
_WHOLE = ("uint8", "int8", "int16", "int32", "int64", "bool")


@dataclass(frozen=True)
class ModelInput:
    """One input of a model.

    ``form`` is how a person gives it: a digit (28x28, grey), an image, numbers, a table's row by the names
    of its columns, or a sequence; ``raw`` reads rows and sequences. It is empty where it can't be given, for
    which ``why_not`` has the reason. ``shape`` is that of the values without the batch, -1 for a
    size that is open; ``batch`` is how often they are fed, as the model takes a fixed batch, 0 for an input
    without a batch. An image has ``height`` and ``width`` and 1, 3 or 4 ``channels``, which come first
    (``layout`` CHW), last (HWC) or are absent (HW); ``placing`` is how those of its training were placed,
    empty where that is not known; ``of_images`` says that it was trained on its own images.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    batch: int = 1
    form: Form = "numbers"
    channels: int = 1
    height: int = 0
    width: int = 0
    layout: str = ""
    why_not: str = ""
    raw: RawInputs | None = None
    placing: str = ""
    of_images: bool = False

    @property
    def whole(self) -> bool:
        """Whether the values are integers."""
        return self.dtype in _WHOLE


_A_DIGIT = {"name": "x", "dtype": "float32", "shape": [-1, 1, DIGIT_SIDE, DIGIT_SIDE]}


def inputs_of(info: ModelInfo | None) -> tuple[ModelInput, ...]:
    """The inputs of a model in order; without a model, or without a word about them, an image of a digit."""
    specs: Sequence[dict[str, Any]] = info.inputs if info is not None and info.inputs else (_A_DIGIT,)
    raw = info.raw if info is not None and len(specs) == 1 else None
    if raw is not None and (found := _by_data(specs[0], raw)) is not None:
        return (found,)
    placing = _placing_in_training(info) if len(specs) == 1 else ""
    of_images = raw is not None and raw.spec.kind == "images" and len(specs) == 1
    return tuple(replace(_input(spec), placing=placing, of_images=of_images) for spec in specs)


_PLACINGS = {"stretch": "stretch", "crop": "cover", "pad": "whole"}


def _placing_in_training(info: ModelInfo | None) -> str:
    """How images of any size were placed where the model was trained, empty where that is not known."""
    prepare = info.info.get("prepare") if info is not None and info.raw is not None else None
    if not isinstance(prepare, dict) or not prepare.get("resize"):
        return ""
    return _PLACINGS.get(str(prepare.get("fit", "stretch")), "")


def _by_data(spec: dict[str, Any], raw: RawInputs) -> ModelInput | None:
    """The input of a model of tables or sequences; None for images, and where it is another one."""
    sizes, shape = spec["shape"], raw.spec.shape
    fits = len(sizes) == len(shape) + 1 and all(
        size in (-1, wanted) for size, wanted in zip(sizes[1:], shape, strict=True)
    )
    if not fits or spec["dtype"] not in _FLOATS or math.prod(shape) > MOST_NUMBERS:
        return None
    if not raw.is_table and raw.spec.kind != "sequences":
        return None
    form: Form = "sequence" if not raw.is_table else "numbers"
    words = any(each.words for each in raw.inputs)
    if raw.spec.columns and (len(raw.inputs) <= MOST_FIELDS or words):
        form = "table"
    if words and len(raw.inputs) > MOST_WORD_FIELDS:
        why_not = (
            f"a form has at most {MOST_WORD_FIELDS} columns, these are {len(raw.inputs)}: predict a table"
        )
        return ModelInput(spec["name"], spec["dtype"], shape, max(1, sizes[0]), "", raw=raw, why_not=why_not)
    return ModelInput(spec["name"], spec["dtype"], shape, max(1, sizes[0]), form, raw=raw)


def _input(spec: dict[str, Any]) -> ModelInput:
    name, dtype, sizes = spec["name"], spec["dtype"], spec["shape"]
    # One size that is known is a vector without a batch.
    batch = 0 if not sizes or (len(sizes) == 1 and sizes[0] > 0) else max(1, sizes[0])
    shape = tuple(sizes if batch == 0 else sizes[1:])
    known = ModelInput(name, dtype, shape, batch)
    if dtype not in (*_FLOATS, *_WHOLE):
        return _refused(known, f"it takes {dtype}: give numbers of another type to a model that you export")
    return _image(known) or _numbers(known)


def _image(known: ModelInput) -> ModelInput | None:
    """The input as an image, where its shape is one."""
    shape, one = known.shape, known.dtype in (*_FLOATS, "uint8")
    if one and math.prod(shape) == DIGIT_SIDE**2 and -1 not in shape:
        layout = (
            "HW" if len(shape) != 3 or 1 not in (shape[0], shape[2]) else "CHW" if shape[0] == 1 else "HWC"
        )
        return _as_image(known, "digit", 1, DIGIT_SIDE, DIGIT_SIDE, layout)
    if not one or len(shape) not in (2, 3):
        return None
    if len(shape) == 2:
        # Two sizes are an image where they are alike, else rows of numbers.
        alike = shape[0] == shape[1] >= 8 or shape == (-1, -1)
        return _as_image(known, "picture", 1, *shape, "HW") if alike else None
    if shape[0] in _CHANNELS and all(size == -1 or size >= 8 for size in shape[1:]):
        return _as_image(known, "picture", shape[0], shape[1], shape[2], "CHW")
    if shape[2] in _CHANNELS and all(size == -1 or size >= 8 for size in shape[:2]):
        return _as_image(known, "picture", shape[2], shape[0], shape[1], "HWC")
    return None


def _as_image(
    known: ModelInput, form: Form, channels: int, height: int, width: int, layout: str
) -> ModelInput:
    made = ModelInput(
        known.name,
        known.dtype,
        known.shape,
        known.batch,
        form,
        channels,
        FREE_SIDE if height == -1 else height,
        FREE_SIDE if width == -1 else width,
        layout,
    )
    if max(made.height, made.width) > MOST_SIDE:
        return _refused(known, f"images of {made.width} \u00d7 {made.height} are larger than the page feeds")
    return made


def _numbers(known: ModelInput) -> ModelInput:
    opened = known.shape.count(-1)
    if opened > 1:
        return _refused(known, f"{opened} of its sizes are open: export it with fixed ones")
    count = math.prod(size for size in known.shape if size != -1)
    if count == 0 or count > MOST_NUMBERS:
        return _refused(known, f"it takes {count} numbers: at most {MOST_NUMBERS} can be given here")
    return known


def _refused(known: ModelInput, why_not: str) -> ModelInput:
    return ModelInput(known.name, known.dtype, known.shape, known.batch, "", why_not=why_not)


def array_of(asked: ModelInput, values: NDArray[Any], scaling: dict[str, Any], where: str) -> NDArray[Any]:
    """What is fed for values of a person.

    Args:
        values: of an image 0 to 1 ([H, W] or [H, W, channels]), else numbers in any shape with as many.
        scaling: what the files say: ``mean`` and ``std`` for images.
        where: the model, for messages.

    Raises:
        ArgumentError: as many values as the input does not take.
    """
    from engine.core.errors import ArgumentError

    found = np.asarray(values)
    if asked.form in ("digit", "picture"):
        found = _pixels(asked, np.asarray(found, np.float32), scaling)
    else:
        found = found.astype(asked.dtype)
    shape = [1 if size == -1 and found.size == 0 else size for size in asked.shape]
    try:
        if asked.form == "picture":
            # The sides that are open are those of the image.
            shape = [size if size != -1 else found.shape[place] for place, size in enumerate(shape)]
        found = found.reshape(shape)
    except (ValueError, IndexError) as error:
        raise ArgumentError(
            f"{where}: the model takes inputs of {_with_batch(asked)}: there are {np.size(values)} "
            "values; give as many as it takes, or choose another model"
        ) from error
    return np.asarray(found if asked.batch == 0 else np.repeat(found[None], asked.batch, axis=0))


def _with_batch(asked: ModelInput) -> list[int]:
    return list(asked.shape) if asked.batch == 0 else [-1 if asked.batch == 1 else asked.batch, *asked.shape]


def _pixels(asked: ModelInput, values: NDArray[np.float32], scaling: dict[str, Any]) -> NDArray[Any]:
    if "mean" in scaling and "std" in scaling:
        with np.errstate(all="ignore"):
            values = (values - np.float32(scaling["mean"])) / np.float32(scaling["std"])
    if asked.layout == "CHW":
        values = values[None] if values.ndim == 2 else np.moveaxis(values, -1, 0)
    elif asked.layout == "HWC" and values.ndim == 2:
        values = values[..., None]
    if asked.dtype == "uint8":
        return np.asarray(np.clip(np.rint(values * 255.0), 0, 255), np.uint8)
    return np.asarray(values, asked.dtype)


def numbers_in(text: str, asked: ModelInput) -> NDArray[Any]:
    """The numbers of a pasted table or of a row of a CSV file, for the input ``asked``.

    They are divided by commas, semicolons, tabs, spaces and line ends; a first line of words is a heading.

    Raises:
        ValueError: says what is not a number, or that there are too many or too few.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [_row(line) for line in lines]
    if len(rows) > 1 and not any(_is_number(word) for word in rows[0]):
        rows = rows[1:]
    words = [word for row in rows for word in row]
    found = np.empty(len(words), np.float64)
    for place, word in enumerate(words):
        try:
            found[place] = float(word)
        except ValueError:
            raise ValueError(
                f"{asked.name}: not a number: {word[:40]!r} at place {place + 1}; give numbers divided "
                "by commas or spaces"
            ) from None
        if asked.whole and not found[place].is_integer():
            raise ValueError(f"{asked.name}: not an integer: {word[:40]!r}; the input takes {asked.dtype}")
    wanted = math.prod(size for size in asked.shape if size != -1)
    fits = len(found) % wanted == 0 and len(found) > 0 if -1 in asked.shape else len(found) == wanted
    if not fits:
        many = f"a multiple of {wanted}" if -1 in asked.shape else str(wanted)
        raise ValueError(f"{asked.name}: {len(found)} numbers where {many} are taken; check what is pasted")
    return found.astype(asked.dtype).reshape(asked.shape)


def _row(line: str) -> list[str]:
    divider = next((mark for mark in (",", ";", "\t") if mark in line), " ")
    cells = next(csv.reader(io.StringIO(line), delimiter=divider, skipinitialspace=True))
    return [cell.strip() for cell in cells if cell.strip()]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def first_numbers(asked: ModelInput) -> NDArray[Any]:
    """Zeros to begin with, of the input's shape; a size that is open is 1."""
    return np.zeros([1 if size == -1 else size for size in asked.shape], asked.dtype)
