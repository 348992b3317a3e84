"""The settings of a quantization, each declared here alone.

The card of the page Export, the options of the command, the palette, checks, scripts and documentation are
made from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from resources.settings.setting import Setting, declared, settings_of

FEWEST_BITS, MOST_BITS = 2, 16
METHODS: tuple[tuple[str, str], ...] = (
    ("none", "No"),
    ("post_training", "Yes, after training"),
    ("qat", "Yes, with training (QAT)"),
    ("weights_only", "Yes, weights alone"),
)


@dataclass(frozen=True)
class QuantizeSettings:
    """How a model is quantized."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012  (of project files)

    method: str = declared(
        "choice",
        "none",
        "Quantize",
        "Store weights and compute in small integers, for smaller files.",
        choices=METHODS,
        group="window",
    )
    algo: str = declared(
        "choice",
        "hist",
        "Algorithm",
        "The algorithm that finds the range of each value from the calibration samples.",
        choices=tuple(
            (name, name) for name in ("hist", "KL", "avg", "mse", "emd", "abs_max", "min_max", "ptf")
        ),
        methods=("post_training",),
    )
    samples: int | None = declared(
        "int",
        320,
        "Calibration samples",
        "The number of training samples for calibration; by default 320, or all if there are fewer.",
        minimum=1,
        maximum=1_000_000,
        methods=("post_training",),
    )
    epochs: int = declared(
        "int",
        1,
        "Epochs",
        "The number of epochs of training with quantized weights and values (QAT).",
        minimum=1,
        maximum=1_000,
        methods=("qat",),
    )
    target_drop: float | None = declared(
        "float",
        None,
        "Target drop",
        "The largest loss of accuracy in percentage points; the most sensitive layers stay in float. Empty:"
        " no target.",
        minimum=0,
        maximum=100,
        optional=True,
        empty="no target",
        example="e.g. 0.5",
        unit="%",
    )
    weight_bits: int = declared(
        "int",
        8,
        "Weight bits",
        "The bits of each weight; 8 for int8. Fewer bits give smaller files and larger errors.",
        minimum=FEWEST_BITS,
        maximum=MOST_BITS,
    )
    activation_bits: int = declared(
        "int",
        8,
        "Activation bits",
        "The bits of each value between layers; 8 for int8.",
        minimum=FEWEST_BITS,
        maximum=MOST_BITS,
        methods=("post_training", "qat"),
    )
    weight_type: str = declared(
        "choice",
        "channel_wise_abs_max",
        "Weight range",
        "How to find the range of a weight. One range for each channel is more exact than one for the whole"
        " weight.",
        choices=(
            ("channel_wise_abs_max", "of each channel"),
            ("abs_max", "of the whole weight"),
            ("channel_wise_mse", "of each channel, least error"),
            ("mse", "of the whole weight, least error"),
        ),
    )
    skip: tuple[str, ...] = declared(
        "patterns",
        (),
        "Layers in float",
        "Layers that stay in float: names, patterns (fc*) or types of operators.",
        empty="none",
    )
    bias_correction: bool = declared(
        "bool",
        False,
        "Bias correction",
        "Correct the mean and standard deviation of each channel of the weights.",
        group="command",
    )
    rounding: str = declared(
        "choice",
        "nearest",
        "Rounding",
        "nearest rounds each weight to the nearest integer; adaptive rounds it up or down so that the "
        "layer's results change least.",
        choices=(("nearest", "nearest"), ("adaptive", "adaptive")),
        group="command",
    )
    equalize: bool = declared(
        "bool",
        False,
        "Equalize",
        "First equalize the weight ranges of neighbouring layers.",
        group="command",
    )
    learning_rate: float = declared(
        "float",
        0.0,
        "Learning rate",
        "The learning rate of --qat; by default a tenth of the run's.",
        minimum=0,
        example="e.g. 0.0001",
        zero="other",
        option="lr",
        methods=("qat",),
        group="command",
    )
    sensitivity: bool = declared(
        "bool", True, "Sensitivity", "Measure the effect of quantizing each layer alone.", group="command"
    )


QUANTIZE_SETTINGS: dict[str, Setting] = settings_of(QuantizeSettings)
# The choice of the method, and those that the window asks for once one is chosen.
METHOD = QUANTIZE_SETTINGS["method"]
QUANTIZE_FIELDS = {
    name: each for name, each in QUANTIZE_SETTINGS.items() if each.group != "command" and name != "method"
}
