"""The settings of an export, each declared here alone.

The forms of the page Export, the options of the command, the palette, checks, scripts and documentation are
made from here; the engine gets them as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from resources.settings.setting import Setting, declared, settings_of

DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int64")
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
        "Those that read the test images best, or the last ones: best, last, or the path of a checkpoint.",
        choices=(("best", "Best weights"), ("last", "Last weights")),
        example="best, last or the path of a checkpoint",
    )
    input_name: str = declared(
        "name",
        "x",
        "Name",
        "How the input is called in the Program.",
        example="e.g. x",
        methods=FLOAT,
        group="window",
    )
    dtype: str = declared(
        "choice",
        "float32",
        "dtype",
        "The type of the numbers that the model is fed.",
        choices=tuple((name, name) for name in DTYPES),
        methods=FLOAT,
        group="window",
    )
    samples: int = declared(
        "int",
        256,
        "Samples",
        "Test images that are compared after reloading.",
        minimum=1,
        maximum=1_000_000,
        methods=FLOAT,
    )
    optimize: bool = declared(
        "bool",
        False,
        "Optimize for prediction",
        "Faster, but for prediction only: fold batch norms into convolutions, fuse operators.",
        methods=FLOAT,
    )


EXPORT_SETTINGS: dict[str, Setting] = settings_of(ExportSettings)
