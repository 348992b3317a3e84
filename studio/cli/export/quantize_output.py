"""The report of a quantization on a terminal: what it costs, what it gains, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.cli.output import plain
from studio.session.export.quantization.text import METHOD_WORDS

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
            _number(layer.threshold, "{:.4g}"),
            _number(layer.noise_to_signal, "{:.1e}"),
            _number(layer.weight_noise_to_signal, "{:.1e}"),
            _number(layer.drop, "{:+.2f} points"),
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
        words.append(f"thresholds by {found} from {report.samples} samples in {report.seconds:.1f} s")
    return ", ".join(words)


def _facts(report: QuantizationReport) -> list[tuple[str, str]]:
    facts = []
    accuracy = report.accuracy
    if accuracy is not None:
        change = "lost" if accuracy.drop >= 0 else "gained"
        facts.append(
            (
                "accuracy",
                f"{accuracy.float:.2%} -> {accuracy.quantized:.2%}: "
                f"{abs(accuracy.drop):.2f} points {change} on "
                f"{accuracy.samples} test samples, {report.changed_count} answers changed",
            )
        )
    if report.r2 is not None:
        found = report.r2
        facts.append(
            (
                "R²",
                f"{found.float:.4f} -> {found.quantized:.4f}, error {found.float_error:.4g} -> "
                f"{found.quantized_error:.4g} on {found.samples} test samples",
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
        facts.append((name, f"{_bytes(before)} -> {_bytes(after)}{times}"))
    latency = report.latency
    facts.append(
        (
            "one sample",
            f"{latency.float * 1e6:.0f} us -> {latency.quantized * 1e6:.0f} us"
            f"{_times(latency.float, latency.quantized, 'faster', 'slower')}, measured here",
        )
    )
    facts.append(("largest difference", f"{report.difference:.3g}"))
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
        cells = (name, f"{before:.2%}", f"{after:.2%}", f"{100 * (after - before):+.2f} points")
        table.add_row(*map(plain, cells))
    screen.print(table)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def _bytes(count: int) -> str:
    return f"{count / 1024:.1f} KB" if count < 1024**2 else f"{count / 1024**2:.1f} MB"


def _times(before: float, after: float, less: str, more: str) -> str:
    """How much less or more ``after`` is; nothing within a twentieth."""
    if not before or not after or abs(before / after - 1) < 0.05:
        return ""
    return (
        f" ({before / after:.1f} times {less})" if after < before else f" ({after / before:.1f} times {more})"
    )
