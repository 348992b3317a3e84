"""A report of a quantization as text and as a table for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from resources.quantities import count, duration, loss, number, percent, points, ratio, size, typed

if TYPE_CHECKING:
    from engine.quantization.report import LayerReport, QuantizationReport

METHOD_WORDS = {
    "post_training": "after training",
    "qat": "with training (QAT)",
    "weights_only": "weights alone",
}
COLUMNS = (
    "layer",
    "op",
    "weight",
    "quantized",
    "threshold",
    "noise_to_signal",
    "weight_noise_to_signal",
    "drop",
    "why",
)


# Two measurements of the same thing differ by as much.
SAME_SHARE = 0.05


def report_text(report: QuantizationReport, prefix: str) -> str:
    """The whole report for people, in columns of a monospace font."""
    float_size, quantized_size = total_sizes(report)
    facts = [
        ("Files", prefix),
        ("Method", _method(report)),
        ("Weights", f"{report.weight_bits} bits, {report.weight_type}"),
        ("Activations", f"{report.activation_bits} bits" if report.method != "weights_only" else "float"),
    ]
    if report.accuracy is not None:
        found = report.accuracy
        facts.append(
            (
                "Accuracy",
                f"{percent(found.float)} -> {percent(found.quantized)} on {count(found.samples)} "
                f"test samples ({points(-found.drop / 100)} points)",
            )
        )
    if report.r2 is not None:
        fit = report.r2
        facts += [
            ("R²", f"{loss(fit.float)} -> {loss(fit.quantized)} on {count(fit.samples)} test samples"),
            ("Error", f"{loss(fit.float_error)} -> {loss(fit.quantized_error)} (mean, absolute)"),
        ]
    facts += [
        ("Size", f"{size(float_size)} -> {size(quantized_size)} ({times(float_size, quantized_size)})"),
        (
            "One sample",
            f"{duration(report.latency.float)} -> {duration(report.latency.quantized)} ({speed(report)})",
        ),
        ("Difference", f"{number(report.difference, digits=3)} (largest, of a score)"),
    ]
    parts = ["Quantization", "", *_columns(facts), "", "Layers", "", *_columns(_layer_lines(report))]
    if report.skipped:
        parts += ["", "In float", "", *_columns([(each.layer, each.why) for each in report.skipped])]
    if report.per_class is not None:
        table = report.per_class
        rows = [("class", "float", "quantized")] + [
            (name, _share(before), _share(after))
            for name, before, after in zip(table.classes, table.float, table.quantized, strict=True)
        ]
        parts += ["", "Classes", "", *_columns(rows)]
    if report.changed_count:
        answers = [("sample", "label", "float", "quantized")]
        answers += [
            (
                str(each.index),
                class_name(report, each.label),
                class_name(report, each.float),
                class_name(report, each.quantized),
            )
            for each in report.changed
        ]
        listed = len(report.changed)
        first = "" if listed == report.changed_count else f", the first {listed}"
        parts += ["", f"Changed answers: {report.changed_count}{first}", "", *_columns(answers)]
    return typed("\n".join(parts) + "\n")


def report_csv(report: QuantizationReport) -> str:
    """A line for each layer with all that was measured of it; skipped ones say why."""
    why = {each.layer: each.why for each in report.skipped}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for layer in report.layers:
        numbers = (layer.threshold, layer.noise_to_signal, layer.weight_noise_to_signal, layer.drop)
        writer.writerow(
            [
                layer.name,
                layer.op,
                layer.weight,
                int(layer.quantized),
                *("" if number is None else repr(number) for number in numbers),
                why.pop(layer.name, ""),
            ]
        )
    for name, reason in why.items():
        writer.writerow([name, "", "", 0, "", "", "", "", reason])
    return text.getvalue()


def total_sizes(report: QuantizationReport) -> tuple[int, int]:
    """Bytes of the float and of the quantized files."""
    return sum(report.sizes.float.values()), sum(report.sizes.quantized.values())


def times(before: float, after: float) -> str:
    """How many times smaller or larger."""
    if not before or not after:
        return "not measured"
    return (
        f"{ratio(before / after)} times smaller"
        if after <= before
        else f"{ratio(after / before)} times larger"
    )


def speed(report: QuantizationReport) -> str:
    """How many times faster or slower, as measured."""
    before, after = report.latency.float, report.latency.quantized
    if not before or not after:
        return "not measured"
    if abs(after - before) <= SAME_SHARE * before:
        return "about the same"
    return (
        f"{ratio(before / after)} times faster" if after < before else f"{ratio(after / before)} times slower"
    )


def noise(share: float) -> str:
    """The power of an error as a share of the signal's; it is rarely 0, and often less than two decimals
    show."""
    return percent(share) if share >= 1e-4 or not share else f"<{percent(1e-4)}"


def class_name(report: QuantizationReport, number: int) -> str:
    """The name of a class; its number where it has none."""
    names: Sequence[str] = report.per_class.classes if report.per_class is not None else ()
    return names[number] if 0 <= number < len(names) else str(number)


def _method(report: QuantizationReport) -> str:
    words = METHOD_WORDS[report.method]
    if report.method == "weights_only":
        return words
    return f"{words}, {report.algo}, {count(report.samples)} samples, {duration(report.seconds)}"


def _layer_lines(report: QuantizationReport) -> Iterable[Sequence[str]]:
    yield "layer", "op", "threshold", "noise", "weight noise", "points alone"
    for layer in report.layers:
        yield layer.name, layer.op, *_numbers(layer)


def _numbers(layer: LayerReport) -> tuple[str, ...]:
    if not layer.quantized:
        return ("float", "", "", "")
    return (
        _number(layer.threshold),
        _percent(layer.noise_to_signal),
        _percent(layer.weight_noise_to_signal),
        "" if layer.drop is None else points(-layer.drop / 100),
    )


def _number(value: float | None) -> str:
    return "" if value is None else number(value)


def _percent(value: float | None) -> str:
    return "" if value is None else noise(value)


def _share(value: float | None) -> str:
    return "-" if value is None else percent(value)


def _columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as lines, each column as wide as its widest text."""
    rows = list(rows)
    wide = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))] if rows else []
    return [
        "  ".join(text.ljust(size) for text, size in zip(row, wide, strict=True)).rstrip() for row in rows
    ]
