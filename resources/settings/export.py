"""The settings of an export, each declared here alone.

The forms of the page Export, the options of the command, the palette, checks, scripts and documentation are
made from here; the engine gets them as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from resources.settings.setting import Setting, declared, settings_of
from resources.words import marked

DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int64")
# The formats of a model's files.
MODEL_FORMATS = (
    ("native", "Three files"),
    ("packed", "One file (.h5)"),
    ("onnx", "ONNX (.onnx)"),
    ("paddle", "PaddlePaddle (three files)"),
)
# A folder that predicts without this program.
FOLDER = "folder"
FORMATS = (*MODEL_FORMATS, (FOLDER, "Folder to deploy"))
# The settings that apply to one format alone, with that format.
OF_FORMAT = {"compress": "packed", "fixed": FOLDER}
# What models are called that are one file.
ENDINGS = {"packed": ".h5", "onnx": ".onnx"}
# The method of an export without quantization.
FLOAT = ("float",)


@dataclass(frozen=True)
class ExportSettings:
    """How a run is exported."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012  (of project files)

    checkpoint: str = declared(
        "name",
        "best",
        "Weights",
        "The weights to export: best (the best result on the test or validation samples), last, or the path"
        " of a checkpoint.",
        choices=(("best", "Best weights"), ("last", "Last weights")),
        example=marked("best, last or the path of a checkpoint"),
    )
    format: str = declared(
        "choice",
        "native",
        "Format",
        "The files to write: native (three files), packed (one file that holds all), onnx (for other "
        "programs), paddle (three files for PaddlePaddle 2.6) or folder (to deploy: model.onnx, predict.py, "
        "labels, a sample and a README).",
        choices=FORMATS,
    )
    compress: bool = declared(
        "bool",
        False,
        "Compress",
        "Make a packed file smaller by shuffle and gzip; weights lose about a sixth of their size.",
        methods=FLOAT,
        advanced=True,
    )
    fixed: bool = declared(
        "bool",
        False,
        "Fixed sizes",
        "In a folder to deploy: an input of fixed sizes, for one sample, as converters to C need.",
        methods=FLOAT,
        advanced=True,
    )
    input_name: str = declared(
        "name",
        "x",
        "Input name",
        "The name of the input in the Program.",
        example="e.g. x",
        methods=FLOAT,
    )
    dtype: str = declared(
        "choice",
        "float32",
        "dtype",
        "The data type of the input.",
        choices=tuple((name, name) for name in DTYPES),
        methods=FLOAT,
    )
    samples: int = declared(
        "int",
        256,
        "Samples",
        "The number of test samples to compare after reloading the files.",
        minimum=1,
        maximum=1_000_000,
        methods=FLOAT,
    )
    optimize: bool = declared(
        "bool",
        False,
        "Optimize for prediction",
        "Fold batch norms into convolutions and fuse operators: faster, but for prediction only.",
        methods=FLOAT,
    )
    input_shape: tuple[int, ...] | None = declared(
        "shape",
        None,
        "Shape",
        "The shape of the input, such as None,1,28,28; None stands for any size. By default that of the "
        "run's data.",
        example="e.g. None,1,28,28",
        optional=True,
        empty="as the run's data",
        methods=FLOAT,
    )
    inputs: str = declared(
        "text",
        "",
        "Inputs",
        "The inputs of a model that takes several, separated by semicolons: name, shape and dtype of each, "
        "such as image: None,1,28,28 float32; row: None,5 float32. By default those of the run's data.",
        empty="as the run's data",
        methods=FLOAT,
    )
    title: str = declared("text", "", "Title", "A title for people who get the model.", methods=FLOAT)
    author: str = declared("text", "", "Author", "Who made the model.", methods=FLOAT)
    license: str = declared(
        "text", "", "License", "The license of the model, such as Apache-2.0.", methods=FLOAT
    )
    description: str = declared(
        "text", "", "Description", "What the model is for, and where its limits are.", methods=FLOAT
    )


ABOUT = ("title", "author", "license", "description")
"""The settings that are stored in the files as they are."""


def with_ending(prefix: str, format: str) -> str:
    """``prefix``, or with its suffix the one file that a model of this format is."""
    ending = ENDINGS.get(format, "")
    return prefix if prefix.endswith(ending) else prefix + ending


# The window writes one file unless the user chooses others; the command line keeps writing three.
WINDOW_EXPORT = ExportSettings(format="packed")
EXPORT_SETTINGS: dict[str, Setting] = settings_of(ExportSettings)
