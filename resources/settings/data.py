"""The settings of a run that are about its data: what lies there, how it is read, split and prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from resources.settings.setting import declared
from resources.words import marked

MAX_SEED = 2**63 - 1
FIT = "fit"
"""The ``kind`` in the config of a run that is the ``fit`` of a script."""
STORED = "stored"
"""The kind of data of runs that recorded none: arrays of two or three dimensions are images."""


@dataclass(frozen=True)
class DataSettings:
    """What a training learns from."""

    data: str = declared(
        "name",
        "digits",
        "Data",
        "The training data: digits, mnist, fashion-mnist, or the path of a folder of IDX files, a folder of"
        " images, or an NPZ, HDF5 or CSV file.",
        choices=(("digits", "Digits (built in)"), ("mnist", "MNIST"), ("fashion-mnist", "FashionMNIST")),
        example=marked("digits, mnist or the path of a folder or file"),
    )
    # In the order of earlier versions a script gives data and model, then what it changes.
    _: KW_ONLY
    kind: str = declared(
        "choice",
        "auto",
        "Kind",
        "The kind of a sample: an image, a row of a table, or a sequence [steps, values]. auto decides by "
        "the shape of the data. stored treats every array of two or three dimensions as images, as runs of "
        "earlier versions and your own models do.",
        choices=(
            ("auto", "Automatic"),
            ("images", "Images"),
            ("table", "Table"),
            ("sequences", "Sequences"),
            (STORED, "As stored"),
        ),
        group="data",
    )
    task: str = declared(
        "choice",
        "auto",
        "Task",
        "What the model predicts: classes, or numbers (regression). auto treats fractions, and more than "
        "100 different integers in a CSV column, as numbers.",
        choices=(("auto", "Automatic"), ("classes", "Classes"), ("numbers", "Numbers")),
        group="data",
    )
    extra_data: str = declared(
        "path",
        "",
        "Extra data",
        "Additional training samples of the same classes, in any of these forms, such as the images "
        "collected in the project. The test samples stay the same.",
        group="data",
    )
    input_name: str = declared(
        "text",
        "",
        "Input array",
        "The array of an NPZ or HDF5 file that contains the inputs. Separate several by commas, for a model "
        "whose forward takes several. If empty, it is found by its name.",
        group="data",
    )
    label_name: str = declared(
        "text",
        "",
        "Target",
        "The array of an NPZ or HDF5 file, or the column of a CSV file, that contains the labels or the "
        "numbers to predict. Separate several columns by commas. If empty, it is found by its name.",
        group="data",
        alias="target",
    )
    exclude: tuple[str, ...] = declared(
        "patterns",
        (),
        "Exclude",
        "Columns of a CSV file to ignore, or images of a folder to omit: names or patterns such as id* or "
        "cat/blurred*. Columns that differ in nearly every row, such as ids and dates, are excluded unless "
        "--include names them.",
        empty="none",
        group="data",
    )
    include: tuple[str, ...] = declared(
        "patterns",
        (),
        "Include",
        "Columns of a CSV file to use as inputs although they look like an id, a name or a date.",
        empty="none",
        group="data",
    )
    missing: str = declared(
        "choice",
        "median",
        "Missing values",
        "The replacement for a missing number in a table: the median or mean of its column in the training "
        "rows, or zero. refuse stops with an error that names the row.",
        choices=(("median", "Median"), ("mean", "Mean"), ("zero", "Zero"), ("refuse", "Refuse")),
        group="data",
    )
    date_order: str = declared(
        "choice",
        "auto",
        "Order of dates",
        "What comes first in dates such as 3/4/2026: day or month. auto takes the day unless a date of the "
        "column allows the month only.",
        choices=(("auto", "Automatic"), ("day", "Day first"), ("month", "Month first")),
        group="data",
    )
    test_share: float = declared(
        "float",
        0.2,
        "Test share",
        "The share of each class to reserve for testing if the data has no test split.",
        minimum=0.01,
        maximum=0.9,
        example="e.g. 0.2",
        group="data",
    )
    split_seed: int = declared(
        "int",
        0,
        "Split seed",
        "The seed of the split if the data has no test split. A different seed gives a different split.",
        minimum=0,
        maximum=MAX_SEED,
        example="e.g. 1",
        group="data",
    )
    split: str = declared(
        "text",
        "random",
        "Split",
        "How to split data that has no test split: random (the same share of each class), order (the last "
        "rows are the test samples), or group:COLUMN (all rows of a group on the same side).",
        example="random, order or group:COLUMN",
        group="data",
    )
    validation_share: float = declared(
        "float",
        0.0,
        "Validation share",
        "The share of the training samples on which the best checkpoint is chosen. 0 chooses it on the test"
        " samples, which makes the test result too optimistic.",
        minimum=0,
        maximum=0.9,
        zero="other",
        example="e.g. 0.1, or 0 for the test data",
        group="data",
    )
    resize: int = declared(
        "int",
        0,
        "Resize",
        "Scale images to squares with this number of pixels per side; 0 keeps their size.",
        minimum=0,
        maximum=4096,
        zero="none",
        example="e.g. 32, or 0 for images as they are",
        group="data",
    )
    fit: str = declared(
        "choice",
        "stretch",
        "Fit",
        "How to make images of other proportions square: stretch them, crop their middle, or pad them.",
        choices=(("stretch", "Stretch"), ("crop", "Crop"), ("pad", "Pad")),
        group="data",
    )
    damaged_share: float = declared(
        "float",
        0.01,
        "Damaged images",
        "The share of the images that may be unreadable, rounded up to a whole image. They are skipped and "
        "counted. A larger number stops the run.",
        minimum=0,
        maximum=1,
        example="e.g. 0.01, or 0 to stop at the first",
        advanced=True,
        group="data",
    )
    color: str = declared(
        "choice",
        "auto",
        "Colour",
        "The channels of the images: as stored, grey, or red, green and blue.",
        choices=(("auto", "As they are"), ("grey", "Grey"), ("rgb", "Red, green, blue")),
        group="data",
    )
    normalize: str = declared(
        "choice",
        "none",
        "Normalize",
        "How to scale the inputs: none (images from 0 to 1, numbers unchanged), symmetric (images from -1 "
        "to 1), or statistics (mean 0 and standard deviation 1 for each channel or column).",
        choices=(("none", "No"), ("symmetric", "From -1 to 1"), ("statistics", "Z-score")),
        group="data",
    )
    shift: int = declared(
        "int",
        0,
        "Shift",
        "Shift each training image at random by up to this number of pixels in each direction.",
        minimum=0,
        maximum=1000,
        zero="none",
        example="e.g. 2, or 0 for none",
        group="data",
    )
    rotate: float = declared(
        "float",
        0.0,
        "Rotate",
        "Rotate each training image at random by up to this number of degrees in either direction.",
        minimum=0,
        maximum=180,
        zero="none",
        example="e.g. 10, or 0 for none",
        group="data",
    )
    flip: str = declared(
        "choice",
        "none",
        "Mirror",
        "Mirror each training image at random: none, horizontal (left and right), vertical (up and down), "
        "or both.",
        choices=(
            ("none", "No"),
            ("horizontal", "Left and right"),
            ("vertical", "Up and down"),
            ("both", "Both"),
        ),
        group="data",
    )
    balance: str = declared(
        "choice",
        "none",
        "Balance",
        "How to compensate for classes of unequal size: weights increases the loss of rare classes, "
        "sampling draws them more often.",
        choices=(("none", "No"), ("weights", "Weights"), ("sampling", "Sampling")),
        group="data",
    )


_BEFORE_KINDS = {"kind": STORED, "task": "classes", "missing": "refuse", "damaged_share": 0.0}
"""How data was read before it had kinds."""


def as_recorded(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run or a project from a file; without ``kind`` they are those of an earlier version,
    which had no kinds of data: with what it did where a default differs from that."""
    return {**({} if "kind" in values else _BEFORE_KINDS), **with_tuples(values)}


def with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with tuples where JSON and the command line have lists."""
    return {
        name: tuple(value) if name in _LISTS and isinstance(value, list) else value
        for name, value in values.items()
    }


_LISTS = ("exclude", "include", "given")
