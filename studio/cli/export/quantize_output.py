"""The report of a quantization on a terminal: what it costs, what it gains, layer by layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from resources.quantities import count, duration, loss, number, percent, points, ratio, size
from studio.cli.output import plain
from studio.session.export.quantization.text import METHOD_WORDS, noise

if TYPE_CHECKING:
    from rich.console import Console

    from engine.quantization.report import QuantizationReport

MOST_SHOWN = 20


def show_report(report: QuantizationReport, prefix: str, screen: Console) -> None:
    """Print the report of the model at ``prefix``."""
    from rich.table import Table

    facts = Table(show_header=False, box=None)
    for name, words in _facts(report):
        facts.add_row(plain(name), plain(words))
    screen.print(plain(f"{prefix}: {_method(report)}"))
    screen.print(facts)
    layers = Table("layer", "operator", "threshold", "noise", "weight noise", "alone costs")
    reasons = {each.layer: each.why for each in report.skipped}
    for layer in report.layers:
        cells = (
            layer.name,
            layer.op,
            _known(layer.threshold, number),
            _known(layer.noise_to_signal, noise),
            _known(layer.weight_noise_to_signal, noise),
            _known(layer.drop, lambda drop: f"{points(drop / 100)} points"),
        )
        why = [] if layer.quantized else [f"in float: {reasons.get(layer.name, '')}"]
        layers.add_row(*map(plain, (*cells, *why)))
    screen.print(layers)
    _show_classes(report, screen)


def _method(report: QuantizationReport) -> str:
    words = [METHOD_WORDS[report.method], f"weights of {report.weight_bits} bits ({report.weight_type})"]
    if report.method != "weights_only":
        words.append(f"values of {report.activation_bits} bits")
        found = "training" if report.method == "qat" else report.algo
        words.append(
            f"thresholds by {found} from {count(report.samples)} samples in {duration(report.seconds)}"
        )
    return ", ".join(words)


def _facts(report: QuantizationReport) -> list[tuple[str, str]]:
    facts = []
    accuracy = report.accuracy
    if accuracy is not None:
        change = "lost" if accuracy.drop >= 0 else "gained"
        facts.append(
            (
                "accuracy",
                f"{percent(accuracy.float)} -> {percent(accuracy.quantized)}: "
                f"{abs(accuracy.drop):.2f} points {change} on "
                f"{accuracy.samples} test samples, {report.changed_count} answers changed",
            )
        )
    if report.r2 is not None:
        found = report.r2
        facts.append(
            (
                "R²",
                f"{loss(found.float)} -> {loss(found.quantized)}, error {loss(found.float_error)} -> "
                f"{loss(found.quantized_error)} on {count(found.samples)} test samples",
            )
        )
    sizes = [report.sizes.float, report.sizes.quantized]
    for name, counts in (
        ("files", [sum(each.values()) for each in sizes]),
        ("weights", [each.get("pdiparams", 0) for each in sizes]),
    ):
        before, after = counts
        if name == "weights" and not (before and after):  # a packed file does not count them alone
            continue
        times = _times(before, after, "smaller", "larger")
        facts.append((name, f"{size(before)} -> {size(after)}{times}"))
    latency = report.latency
    facts.append(
        (
            "one sample",
            f"{duration(latency.float)} -> {duration(latency.quantized)}"
            f"{_times(latency.float, latency.quantized, 'faster', 'slower')}, measured here",
        )
    )
    facts.append(("largest difference", number(report.difference, digits=3)))
    return facts


def _show_classes(report: QuantizationReport, screen: Console) -> None:
    """The classes whose accuracy changed."""
    from rich.table import Table

    found = report.per_class
    if found is None:
        return
    rows = [
        (name, before, after)
        for name, before, after in zip(found.classes, found.float, found.quantized, strict=True)
        if before is not None and after is not None and before != after
    ]
    if not rows:
        return
    table = Table("class", "float", "quantized", "change")
    for name, before, after in sorted(rows, key=lambda row: row[2] - row[1])[:MOST_SHOWN]:
        cells = (name, percent(before), percent(after), f"{points(after - before)} points")
        table.add_row(*map(plain, cells))
    screen.print(table)


def _known(value: float | None, write: Callable[[float], str]) -> str:
    return "" if value is None else write(value)


def _times(before: float, after: float, less: str, more: str) -> str:
    """How much less or more ``after`` is; nothing within a twentieth."""
    if not before or not after or abs(before / after - 1) < 0.05:
        return ""
    return (
        f" ({ratio(before / after)} times {less})"
        if after < before
        else f" ({ratio(after / before)} times {more})"
    )
