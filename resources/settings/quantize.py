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
        "How the range of each value is found from the calibration samples.",
        choices=tuple(
            (name, name) for name in ("hist", "KL", "avg", "mse", "emd", "abs_max", "min_max", "ptf")
        ),
        methods=("post_training",),
    )
    samples: int | None = declared(
        "int",
        320,
        "Calibration samples",
        "Training samples that calibrate: 320, or all of fewer, unless given.",
        minimum=1,
        maximum=1_000_000,
        methods=("post_training",),
    )
    epochs: int = declared(
        "int",
        1,
        "Epochs",
        "How long the network is trained further with quantized weights and values (QAT).",
        minimum=1,
        maximum=1_000,
        methods=("qat",),
    )
    target_drop: float | None = declared(
        "float",
        None,
        "Target drop",
        "Lose at most so many points of accuracy: the worst layers stay in float. Empty: no target.",
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
        "Bits of weights",
        "8 for int8; fewer make smaller files and larger errors.",
        minimum=FEWEST_BITS,
        maximum=MOST_BITS,
    )
    activation_bits: int = declared(
        "int",
        8,
        "Bits of values",
        "8 for int8; those that flow between the layers.",
        minimum=FEWEST_BITS,
        maximum=MOST_BITS,
        methods=("post_training", "qat"),
    )
    weight_type: str = declared(
        "choice",
        "channel_wise_abs_max",
        "Range of weights",
        "One for each channel of a weight is more exact than one for all.",
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
        "Layers that stay in float, by name, pattern (fc*) or type of operator.",
        empty="none",
    )
    bias_correction: bool = declared(
        "bool",
        False,
        "Bias correction",
        "Correct mean and deviation of each channel of weights.",
        group="command",
    )
    rounding: str = declared(
        "choice",
        "nearest",
        "Rounding",
        "nearest; adaptive: each weight up or down, as the layer's results change least.",
        choices=(("nearest", "nearest"), ("adaptive", "adaptive")),
        group="command",
    )
    equalize: bool = declared(
        "bool",
        False,
        "Equalize",
        "Let neighbouring layers share the ranges of their weights first.",
        group="command",
    )
    learning_rate: float = declared(
        "float",
        0.0,
        "Rate",
        "Learning rate of --qat; a tenth of the run's unless given.",
        minimum=0,
        example="e.g. 0.0001",
        zero="other",
        option="lr",
        methods=("qat",),
        group="command",
    )
    sensitivity: bool = declared(
        "bool", True, "Sensitivity", "Measure what each layer costs alone.", group="command"
    )


QUANTIZE_SETTINGS: dict[str, Setting] = settings_of(QuantizeSettings)
# The choice of the method, and those that the window asks for once one is chosen.
METHOD = QUANTIZE_SETTINGS["method"]
QUANTIZE_FIELDS = {
    name: each for name, each in QUANTIZE_SETTINGS.items() if each.group != "command" and name != "method"
}
