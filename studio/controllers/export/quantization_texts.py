"""A report of a quantization in the window's words: what it cost and gained, no more than was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from resources.quantities import duration, number, percent, points, ratio, size
from studio.session.export.quantization.text import SAME_SHARE, noise, total_sizes
from studio.windows.export.quantization_page import ReportTexts
from widgets.bars import MeasuredRow

if TYPE_CHECKING:
    from engine.quantization.report import LayerReport, QuantizationReport

ARROW = "\u2192"


def kind(report: QuantizationReport) -> str:
    """int8, or what else it is in."""
    weights, values = report.weight_bits, report.activation_bits
    return f"int{weights}" if weights == values else f"int{weights}/int{values}"


def short_line(report: QuantizationReport, words: QObject) -> str:
    """All in one line: ``int8, hist, 320 samples, accuracy 97.70 → 97.60 %``."""
    parts = [kind(report)]
    if report.method == "weights_only":
        parts = [words.tr("int{0} weights").format(report.weight_bits)]
    elif report.method == "qat":
        parts.append(words.tr("trained with quantization"))
    if report.method == "post_training":
        samples = number(report.samples)
        parts += [report.algo, words.tr("{0} samples").format(samples)]
    if report.accuracy is not None:
        found = report.accuracy
        parts.append(words.tr("accuracy {0}").format(_change(found.float, found.quantized)))
    return ", ".join(parts)


def quantized_words(info: Mapping[str, Any], where: str, words: QObject) -> tuple[str, bool]:
    """What the information of a model says about its quantization in a line, empty for nothing; and whether
    there is a report to be shown."""
    if "quantization" not in info:
        return "", False
    from engine.core.errors import FormatError
    from engine.quantization.report import stored_report

    try:
        report = stored_report(info, where)
    except FormatError:
        return words.tr("yes, but its report is damaged"), False
    return (short_line(report, words), True) if report is not None else ("", False)


def report_words(report: QuantizationReport, prefix: str, words: QObject) -> ReportTexts:
    """Title, figures and the sentence about what came out."""
    tr = words.tr
    reasons = [(each.layer, each.why) for each in report.skipped]
    named = {each.layer for each in report.skipped}
    reasons += [
        (layer.name, "") for layer in report.layers if not layer.quantized and layer.name not in named
    ]
    return ReportTexts(
        title=short_line(report, words).partition(",")[0]
        + " \u00b7 "
        + prefix.replace("\\", "/").rpartition("/")[2],
        how=_how(report, words),
        summary=_summary(report, words),
        figures=_figures(report, words),
        in_float=[(layer, why or tr("not quantized")) for layer, why in reasons],
    )


def _how(report: QuantizationReport, words: QObject) -> str:
    tr = words.tr
    samples, seconds = number(report.samples), duration(report.seconds)
    if report.method == "weights_only":
        parts = [tr("Weights only: activations stay in float.")]
    elif report.method == "qat":
        parts = [tr("Trained with quantization on {0} samples in {1}.").format(samples, seconds)]
    else:
        parts = [tr("Ranges by {0} from {1} samples in {2}.").format(report.algo, samples, seconds)]
    done = sum(layer.quantized for layer in report.layers)
    parts.append(
        tr("{0} of {1} layers are quantized, weights in {2} bits and values in {3}.").format(
            done,
            len(report.layers),
            report.weight_bits,
            report.activation_bits if report.method != "weights_only" else 32,
        )
    )
    return " ".join(parts)


def _figures(report: QuantizationReport, words: QObject) -> dict[str, tuple[str, str]]:
    tr = words.tr
    before, after = total_sizes(report)
    accuracy = (tr("not measured"), tr("there are no labels"))
    if report.accuracy is not None:
        found = report.accuracy
        accuracy = (
            _change(found.float, found.quantized),
            tr("{0} points, {1} samples").format(points(-found.drop / 100), number(found.samples)),
        )
    return {
        "size": (f"{size(before)} {ARROW} {size(after)}", _ratio(before, after, words)),
        "accuracy": accuracy,
        "latency": (
            f"{duration(report.latency.float)} {ARROW} {duration(report.latency.quantized)}",
            _speed(report, words),
        ),
        "difference": (number(report.difference, digits=3), tr("of a score, over all samples")),
    }


def _change(before: float, after: float) -> str:
    """Two shares with one sign: ``97.70 → 97.58 %``."""
    return f"{percent(before).rstrip('%').rstrip()} {ARROW} {percent(after)}"


def _ratio(before: float, after: float, words: QObject) -> str:
    if not before or not after:
        return words.tr("not measured")
    if after <= before:
        return words.tr("{0} times smaller").format(ratio(before / after))
    return words.tr("{0} times larger").format(ratio(after / before))


def _speed(report: QuantizationReport, words: QObject) -> str:
    before, after = report.latency.float, report.latency.quantized
    if not before or not after:
        return words.tr("not measured")
    if abs(after - before) <= SAME_SHARE * before:
        return words.tr("about the same")
    if after < before:
        return words.tr("{0} times faster").format(ratio(before / after))
    return words.tr("{0} times slower").format(ratio(after / before))


def _summary(report: QuantizationReport, words: QObject) -> str:
    """What was gained and lost, in sentences."""
    tr = words.tr
    before, after = total_sizes(report)
    parts = []
    if before and after:
        parts.append(tr("The files are {0}.").format(_ratio(before, after, words)))
    if report.accuracy is not None:
        parts.append(_accuracy(report.accuracy.drop, report.method == "qat", words))
    first, second = report.latency.float, report.latency.quantized
    if first and second:
        if abs(second - first) <= SAME_SHARE * first:
            parts.append(tr("One image takes about as long as before."))
        elif second > first:
            parts.append(
                tr(
                    "It is {0} on this computer: there are no fast integer products in "
                    "NumPy. Quantize for size, "
                    "not for speed, here."
                ).format(_speed(report, words))
            )
        else:
            parts.append(tr("It is {0} on this computer.").format(_speed(report, words)))
    return " ".join(parts)


def _accuracy(drop: float, trained: bool, words: QObject) -> str:
    if drop > 0:
        return words.tr("{0} points of accuracy are lost.").format(f"{drop:.2f}")
    if drop < 0 and trained:
        return words.tr("Accuracy is {0} points higher: the network was trained further.").format(
            f"{-drop:.2f}"
        )
    if drop < 0:
        return words.tr("Accuracy is {0} points higher, which is chance rather than a gain.").format(
            f"{-drop:.2f}"
        )
    return words.tr("Accuracy is the same.")


# ----- layers and classes -----


def layer_row(layer: LayerReport, measure: str, reason: str, words: QObject) -> MeasuredRow:
    """A layer as a bar: its measure, or that it is in float."""
    tr = words.tr
    if not layer.quantized:
        return MeasuredRow(layer.name, layer.name, (None,), tr("in float"), True, reason)
    value: float | None = getattr(layer, measure)
    if value is None:
        text = tr("not measured")
    elif measure == "drop":
        text = tr("{0} points").format(points(-value / 100))
    else:
        text = noise(value)
    return MeasuredRow(layer.name, layer.name, (value,), text, False, about_layer(layer, reason, words))


def about_layer(layer: LayerReport, reason: str, words: QObject) -> str:
    """All that is known of a layer, in a line."""
    tr = words.tr
    parts = [f"{layer.name} ({layer.op})"]
    if not layer.quantized:
        parts.append(tr("in float: {0}").format(reason) if reason else tr("in float"))
    if layer.threshold is not None:
        threshold = number(layer.threshold, digits=4)
        parts.append(tr("values above {0} are cut off").format(threshold))
    if layer.noise_to_signal is not None:
        parts.append(tr("error of its input {0}").format(noise(layer.noise_to_signal)))
    if layer.weight_noise_to_signal is not None:
        parts.append(tr("of its weight {0}").format(noise(layer.weight_noise_to_signal)))
    if layer.drop is not None:
        parts.append(tr("alone it changes accuracy by {0} points").format(points(-layer.drop / 100)))
    return " \u00b7 ".join(parts)


def class_rows(report: QuantizationReport) -> list[MeasuredRow]:
    """A line for each class with both accuracies; none without labels."""
    table = report.per_class
    if table is None:
        return []
    rows = []
    for name, before, after in zip(table.classes, table.float, table.quantized, strict=True):
        if before is None or after is None:
            text = "\u2013"
        else:
            text = _change(before, after)
        rows.append(MeasuredRow(name, name, (before, after), text, before is None))
    return rows
