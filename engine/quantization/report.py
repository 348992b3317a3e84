"""What a quantization cost and gained, measured: the report that lies in the files of a quantized model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from engine.core.errors import FormatError

KEY = "quantization"
"""The key of the report in the information of inference files."""

VERSION: Literal[1] = 1
MOST_CHANGED = 200
MOST_CLASSES = 1_000
MOST_LAYERS = 10_000
_CONFIG = ConfigDict(extra="forbid")

# All of this may come from an untrusted file: numbers are finite and not strings, strings and lists are
# limited.
Number: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Measure: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0)]
Share: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Difference: TypeAlias = Annotated[int, Field(strict=True, ge=-(2**53), le=2**53)]
Bits: TypeAlias = Annotated[int, Field(strict=True, ge=2, le=16)]
Text: TypeAlias = Annotated[str, Field(strict=True, max_length=1_000)]
Bytes: TypeAlias = Annotated[dict[Text, Count], Field(max_length=20)]
_CLASSES = Field(max_length=MOST_CLASSES)
PerClass: TypeAlias = Annotated[tuple[Share | None, ...], _CLASSES]
Row: TypeAlias = Annotated[tuple[Difference, ...], _CLASSES]


@dataclass(frozen=True, config=_CONFIG)
class Skipped:
    """A layer that stays in float, and why."""

    layer: Text
    why: Text


@dataclass(frozen=True, config=_CONFIG)
class LayerReport:
    """What became of one layer.

    Args:
        name: the layer's name, that of its weight without ``.weight``.
        op: the type of its operator, such as ``conv2d``.
        weight: the name of its weight; empty where it has none.
        quantized: whether it is; False where it stays in float.
        threshold: the abs max beyond which its input is cut off; None where its input stays in float.
        noise_to_signal: power of what quantization changes in its input, over the power of the input.
        weight_noise_to_signal: the same of its weight.
        drop: points of accuracy (0 to 100), or hundredths of R², lost with this layer alone quantized; None
            where not measured, below 0 where it rises.
    """

    name: Text
    op: Text
    weight: Text
    quantized: Annotated[bool, Field(strict=True)]
    threshold: Measure | None = None
    noise_to_signal: Measure | None = None
    weight_noise_to_signal: Measure | None = None
    drop: Number | None = None


@dataclass(frozen=True, config=_CONFIG)
class Accuracy:
    """The shares of ``samples`` labelled samples that the float and the quantized model answer rightly."""

    float: Share
    quantized: Share
    samples: Count

    @property
    def drop(self) -> Number:
        """Points of accuracy lost, 0 to 100; below 0 where accuracy rises."""
        return 100 * (self.float - self.quantized)


@dataclass(frozen=True, config=_CONFIG)
class NumberFigures:
    """R² of the float and the quantized model, and their mean absolute errors in the unit of the targets, on
    ``samples`` samples."""

    float: Number
    quantized: Number
    float_error: Measure
    quantized_error: Measure
    samples: Count

    @property
    def drop(self) -> Number:
        """Hundredths of R² lost; below 0 where it rises."""
        return 100 * (self.float - self.quantized)


@dataclass(frozen=True, config=_CONFIG)
class ClassAccuracy:
    """The shares answered rightly of each class; None for a class without samples."""

    classes: Annotated[tuple[Text, ...], _CLASSES]
    float: PerClass
    quantized: PerClass


@dataclass(frozen=True, config=_CONFIG)
class Changed:
    """A sample whose answer quantization changes: its place in the test data, its class, both answers."""

    index: Count
    label: Count
    float: Count
    quantized: Count


@dataclass(frozen=True, config=_CONFIG)
class Sizes:
    """The lengths of the inference files in bytes, by suffix (``pdmodel``, ``pdiparams`` ...)."""

    float: Bytes
    quantized: Bytes


@dataclass(frozen=True, config=_CONFIG)
class Latency:
    """Seconds for one sample, the median of calls in one process. Not less because a model is quantized:
    NumPy has no fast product of integers."""

    float: Measure
    quantized: Measure


@dataclass(frozen=True, config=_CONFIG)
class QuantizationReport:
    """What was quantized, and what that costs and gains.

    Args:
        method: ``post_training``, ``qat`` (trained on with quantization) or ``weights_only``.
        algo: how thresholds were found.
        samples: how many samples calibrated them; the number of training samples seen for ``qat``.
        seconds: what the calibration, or the training with quantization, took.
        accuracy: None without labelled test data, as are ``per_class`` and ``confusion_difference``.
        r2: instead of these, of a model that predicts numbers.
        confusion_difference: rows are classes, columns answers: counts of the quantized model minus those of
            the float model.
        changed: the first of the ``changed_count`` test samples whose answer changed.
        difference: the largest absolute difference of an output on the test samples.
    """

    method: Literal["post_training", "qat", "weights_only"]
    algo: Text
    weight_bits: Bits
    activation_bits: Bits
    weight_type: Text
    samples: Count
    seconds: Measure
    skipped: Annotated[tuple[Skipped, ...], Field(max_length=MOST_LAYERS)]
    layers: Annotated[tuple[LayerReport, ...], Field(max_length=MOST_LAYERS)]
    sizes: Sizes
    latency: Latency
    difference: Measure
    accuracy: Accuracy | None = None
    r2: NumberFigures | None = None
    per_class: ClassAccuracy | None = None
    confusion_difference: Annotated[tuple[Row, ...], _CLASSES] | None = None
    changed: Annotated[tuple[Changed, ...], Field(max_length=MOST_CHANGED)] = ()
    changed_count: Count = 0
    version: Literal[1] = VERSION

    @model_validator(mode="after")
    def _fits(self) -> QuantizationReport:
        """What the fields say of each other: tables have a row and a column for each class."""
        per_class, table = self.per_class, self.confusion_difference
        if per_class is not None and not (
            len(per_class.classes) == len(per_class.float) == len(per_class.quantized)
        ):
            raise ValueError("per_class: not one number for each class")
        if table is not None and any(len(row) != len(table) for row in table):
            raise ValueError("confusion_difference: not as many columns as rows")
        if table is not None and per_class is not None and len(table) != len(per_class.classes):
            raise ValueError("confusion_difference: not one row for each class")
        if self.changed_count < len(self.changed):
            raise ValueError("changed_count: less than the samples listed")
        return self

    def to_plain(self) -> dict[str, Any]:
        """The report as plain values (dicts, lists, texts, numbers), for files and events."""
        plain: dict[str, Any] = _REPORT.dump_python(self, mode="json")
        if self.r2 is None:
            del plain["r2"]  # which earlier versions do not know
        return plain

    @staticmethod
    def from_plain(plain: object, where: str = "quantization report") -> QuantizationReport:
        """The report that ``plain`` is.

        Raises:
            FormatError: it is none; the message begins with ``where`` and says which value is wrong.
        """
        try:
            return _REPORT.validate_python(plain)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])[:200] or "the report"
            raise FormatError(
                f"{where}: not a report of a quantization: {place}: {first['msg'].lower()}; quantize the "
                "model again"
            ) from None


_REPORT = TypeAdapter(QuantizationReport)


def stored_report(info: object, where: str) -> QuantizationReport | None:
    """The report in the information of inference files; None where there is none.

    Raises:
        FormatError: the value under the key is not a report.
    """
    if not isinstance(info, Mapping) or KEY not in info:
        return None
    return QuantizationReport.from_plain(info[KEY], where)
