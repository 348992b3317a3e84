"""The page of a report: one HTML file that loads nothing, runs nothing, and prints well."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from resources import quantities
from resources.run_colors import DARK, LIGHT, color_in
from studio.session.runs.report.charts import curves, data_uri, matrix, scatter, sequence
from studio.session.runs.report.report_data import ReportData, gather, when
from studio.session.runs.run_colors import color_of
from studio.session.runs.runs_folder import Run

MOST_TARGETS = 12
MOST_VALUES = 6  # of a table's row
# Nothing but what stands in the file itself: whatever a name in it says.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
:root{color-scheme:light dark;--ground:#F6F7F9;--panel:#fff;--line:#E3E6EB;--text:#1B1F27;--mute:#667085;
--accent:#3B5BDB;--selection:#E7ECFF;--bad:#C0392B;--on:#fff}
@media (prefers-color-scheme:dark){:root{--ground:#14171C;--panel:#1B1F26;--line:#2A303A;--text:#E6E9EF;
--mute:#8B95A5;--accent:#7C93FF;--selection:#263056;--bad:#F2746B;--on:#10131A}}
*{box-sizing:border-box}
body{margin:0;padding:24px;background:var(--ground);color:var(--text);
font:14px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1180px;margin:auto}
h1{font-size:22px;margin:0;overflow-wrap:anywhere}h2{font-size:15px;margin:0 0 8px}
p{margin:4px 0 16px;color:var(--mute);overflow-wrap:anywhere}
.cards{display:grid;align-items:start;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:12px}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:12px 0}
section,.figures div{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:12px;
min-width:0}
.figures b{display:block;font-size:20px}.figures span,.mute{color:var(--mute)}
.full{grid-column:1/-1}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
td,th{padding:3px 8px;text-align:left;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-weight:600}
.matrix td,.matrix th{text-align:center;padding:3px;white-space:nowrap;
overflow-wrap:normal;border:1px solid var(--panel);font-size:12px}
.matrix .c{background:color-mix(in srgb,var(--accent) var(--s),var(--panel))}
.matrix .strong{color:var(--on)}
img.matrix{image-rendering:pixelated;max-width:100%}
.changed{background:var(--selection)}.bad{color:var(--bad)}
.hard{display:grid;grid-template-columns:repeat(auto-fill,minmax(84px,1fr));gap:8px}
figure{margin:0;text-align:center;font-size:12px}
figure img{width:100%;max-width:112px;image-rendering:pixelated;border-radius:6px;background:#000}
figure .row{text-align:left;font-size:11px;overflow-wrap:anywhere}
svg{width:100%;height:auto;display:block}
svg text{fill:var(--mute);font-size:11px}.grid{stroke:var(--line)}
.line{fill:none;stroke-width:1.6}.band{opacity:.18}
.s0.line{stroke:var(--run)}.s0.band,.s0.dot{fill:var(--run)}
.s1.line{stroke:var(--run);stroke-dasharray:6 4}.s1.band,.s1.dot{fill:var(--run)}
.key{color:var(--mute);font-size:12px}.key b,.key i{color:var(--run)}
.run{display:inline-block;width:12px;height:12px;margin-right:8px;border-radius:6px;background:var(--run)}
@media print{:root{--ground:#fff;--panel:#fff;--line:#ccc;--text:#000;--mute:#444;--accent:#3B5BDB;
--selection:#E7ECFF;--on:#fff}body{padding:0;font-size:11px;print-color-adjust:exact;
-webkit-print-color-adjust:exact}section,figure,tr{break-inside:avoid}}
"""


def write_report(folder: Path, out: Path, name: str = "") -> None:
    """Write a report about the run in ``folder`` to ``out``, replacing what is there.

    Args:
        name: of the run; by default the one that it has among the runs of its folder.

    Raises:
        DataError, FormatError: the run can't be read. SaveError: the file can't be written.
    """
    from engine.files.atomic import atomic_write

    text = page_of_run(folder, name).encode("utf-8", "replace")
    atomic_write(out, lambda file: file.write(text))


def page_of_run(folder: Path, name: str = "") -> str:
    """The page about the run in ``folder``, which is called ``name``.

    Raises DataError, FormatError: the run can't be read.
    """
    return page_of(gather(folder, name))


def is_pdf(out: str | Path) -> bool:
    """Whether the report is to be a PDF file, by the name."""
    return Path(out).suffix.lower() == ".pdf"


def page_of(found: ReportData) -> str:
    """The whole page."""
    run = found.run
    parts = [
        _figures(found),
        '<div class="cards">',
        _curve("Loss", found.losses),
        _curve(run.metric.title, found.accuracies),
        _baseline(found),
        _confusion(found),
        _hardest(found),
        _largest_errors(found),
        _scatters(found),
        _epochs(found),
        _layers(found),
        _settings(found),
        _facts(found),
        "</div>",
    ]
    words = f"{run.state}, {when(run.started)}"
    problem = f'<p class="bad">{escape(found.problem)}</p>' if found.problem else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in found.notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(found.name)}</title><style>{_STYLE}{_run_colors(run)}</style></head>\n<body><main>"
        f'<h1><b class="run"></b>{escape(found.name)}</h1>'
        f"<p>{escape(words)}</p>{problem}"
        + "\n".join(part for part in parts if part)
        + f"{notes}</main></body></html>\n"
    )


def _run_colors(run: Run) -> str:
    """The run's colour, in light and dark and on paper."""
    light, dark = (color_in(colors, color_of(run)) for colors in (LIGHT, DARK))
    return (
        f":root{{--run:{light}}}@media (prefers-color-scheme:dark){{:root{{--run:{dark}}}}}"
        f"@media print{{:root{{--run:{light}}}}}"
    )


def _section(title: str, content: str, full: bool = False) -> str:
    kind = ' class="full"' if full else ""
    return f"<section{kind}><h2>{escape(title)}</h2>{content}</section>" if content else ""


def _table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A table of texts; the first of a row is its name."""
    lines = []
    for first, *rest in rows:
        cells = "".join(f"<td>{escape(each)}</td>" for each in rest)
        lines.append(f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>')
    top = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    return f"<table>{f'<tr>{top}</tr>' if top else ''}{''.join(lines)}</table>" if lines else ""


def _figures(found: ReportData) -> str:
    last = found.epochs[-1] if found.epochs else {}
    run = found.run
    is_numbers = run.task == "numbers"
    balanced = None if found.table is None else found.table.balanced_accuracy
    figures = [
        ("Best R²", _number(run.r2)) if is_numbers else ("Best accuracy", _percent(run.accuracy)),
        *([("Mean absolute error", _number(run.mae))] if is_numbers else []),
        *([("Balanced accuracy", _percent(balanced))] if balanced is not None else []),
        ("Last loss", _number(found.losses[0].ys[-1] if found.losses else math.nan)),
        ("Test loss", _number(last.get("validation_loss", math.nan))),
        ("Steps", f"{run.step:,} of {run.total_steps:,}"),
        ("Time", _seconds(found.seconds)),
    ]
    cards = "".join(f"<div><span>{escape(n)}</span><b>{escape(v)}</b></div>" for n, v in figures)
    return f'<div class="figures">{cards}</div>'


def _curve(title: str, series: Any) -> str:
    drawn = curves(title, series)
    names = [each.name for each in series]
    marks = ("\u2501", "\u2505")
    key = " ".join(f"<b>{mark}</b> {escape(name)}" for mark, name in zip(marks, names, strict=False))
    return _section(title, f'{drawn}<div class="key">{key}</div>' if drawn else "")


def _names(found: ReportData, count: int) -> tuple[str, ...]:
    return found.classes if len(found.classes) == count else tuple(map(str, range(count)))


def _confusion(found: ReportData) -> str:
    if found.table is None:
        return ""
    counts = found.table.counts.astype("int64")
    words = f"<p>Epoch {found.table.epoch}: true classes down, predicted ones across.</p>"
    return _section("Confusion", words + matrix(counts, _names(found, len(counts))))


def _hardest(found: ReportData) -> str:
    predictions = found.predictions
    if predictions is None or found.table is None:
        return ""
    names = _names(found, predictions.classes)
    figures = []
    for place, image in zip(predictions.hardest.tolist(), predictions.pictures, strict=True):
        true, answer = names[predictions.labels[place]], names[predictions.answers[place]]
        words = f"{true} \u2192 {answer}"
        more = f"test image {place}, {_percent(float(predictions.of_truth[place]))} for {true}"
        figures.append(
            f"<figure>{_sample(image, f'{words}, {more}')}"
            f'<figcaption>{escape(words)}<br><span class="mute">{place}</span></figcaption></figure>'
        )
    return _section("Hardest test samples", f'<div class="hard">{"".join(figures)}</div>' if figures else "")


def _largest_errors(found: ReportData) -> str:
    """The samples of which the numbers were missed by most."""
    numbers = found.numbers
    if numbers is None:
        return ""
    figures = []
    for place, shown in zip(numbers.hardest.tolist(), numbers.pictures, strict=True):
        pair = (numbers.targets[place], numbers.predicted[place])
        words = " \u2192 ".join(", ".join(f"{value:.4g}" for value in each) for each in pair)
        figures.append(
            f"<figure>{_sample(shown, f'test sample {place}')}"
            f'<figcaption>{words}<br><span class="mute">{place}</span></figcaption></figure>'
        )
    return _section("Largest errors", f'<div class="hard">{"".join(figures)}</div>' if figures else "")


def _sample(shown: Any, words: str) -> str:
    """A sample as ``engine.training.measuring.shown_samples`` gives it; ``words`` describe it."""
    if not isinstance(shown, np.ndarray):
        lines = "<br>".join(f"{escape(name)}: {escape(text)}" for name, text in shown[:MOST_VALUES])
        return f'<div class="row" title="{escape(words, quote=True)}">{lines}</div>'
    if shown.dtype == np.uint8:
        return f'<img alt="{escape(words, quote=True)}" src="{data_uri(shown)}">'
    return sequence(words, shown)


def _epochs(found: ReportData) -> str:
    rows = [
        [
            f"{row.get('epoch', 0):.0f}",
            f"{row.get('step', 0):.0f}",
            _number(row.get("train_loss", math.nan)),
            _number(row.get("validation_loss", math.nan)),
            *_measured(row, found.run.task),
            _seconds(row.get("seconds", 0.0)),
        ]
        for row in found.epochs
    ]
    of_task = ("test R²", "test error") if found.run.task == "numbers" else ("test accuracy",)
    head = ("epoch", "step", "train loss", "test loss", *of_task, "time")
    return _section("Epochs", _table(rows[-50:], head))


def _measured(row: Mapping[str, float], task: str) -> list[str]:
    if task == "numbers":
        return [_number(row.get(name, math.nan)) for name in ("validation_r2", "validation_mae")]
    return [_percent(row.get("validation_accuracy", math.nan))]


def _baseline(found: ReportData) -> str:
    """What simple models reach, next to the network."""
    rows = []
    constant = "mean" if found.run.task == "numbers" else "majority class"
    for key, title in (("constant", constant), ("linear", "linear model")):
        figures = found.baseline.get(key)
        if isinstance(figures, Mapping):
            known = {f"validation_{n}": v for n, v in figures.items() if isinstance(v, int | float)}
            rows.append([title, *_measured(known, found.run.task)])
    run = found.run
    own = {"validation_accuracy": run.accuracy, "validation_r2": run.r2, "validation_mae": run.mae}
    rows += [[found.name, *_measured(own, run.task)]] if rows else []
    head = ("", "R²", "error") if found.run.task == "numbers" else ("", "accuracy")
    return _section("Compared with simple models", _table(rows, head))


def _scatters(found: ReportData) -> str:
    """Predicted over true numbers, one figure for each target."""
    if found.numbers is None:
        return ""
    names = found.started.get("targets")
    count = found.numbers.targets.shape[1]
    given = [str(name) for name in names] if isinstance(names, list) else []
    titles = given if len(given) == count else list(map(str, range(count)))
    drawn = [
        f"<p>{escape(title)}: predicted over true</p>"
        + scatter(title, found.numbers.targets[:, place], found.numbers.predicted[:, place])
        for place, title in enumerate(titles[:MOST_TARGETS])
    ]
    return _section("Predictions", "".join(drawn))


def _layers(found: ReportData) -> str:
    head = ("parameter", "numbers", "norm", "gradient", "update / weights")
    alerts = "".join(f'<p class="bad">{escape(alert)}</p>' for alert in found.alerts[-20:])
    return _section("Layers", alerts + _table(found.layers, head))


def _settings(found: ReportData) -> str:
    rows = "".join(
        f'<tr{" class=changed" if other else ""}><th scope="row">{escape(name)}</th>'
        f"<td>{escape(value)}</td><td>{escape(other)}</td></tr>"
        for name, value, other in found.settings
        if value or other
    )
    before = f"in {found.before}" if found.before else ""
    head = f"<tr><th>setting</th><th>value</th><th>{escape(before)}</th></tr>"
    return _section("Settings", f"<table>{head}{rows}</table>" if rows else "")


def _facts(found: ReportData) -> str:
    started = found.started
    rows = [
        ("Folder", found.run.path),
        ("Started", when(found.run.started)),
        ("Parameters", _count(started.get("parameters"))),
        ("Training images", _count(started.get("train_samples"))),
        ("Test images", _count(started.get("test_samples"))),
        ("Classes", ", ".join(found.classes[:40]) + (" ..." if len(found.classes) > 40 else "")),
        ("Corrections", _corrections(started.get("corrections"))),
    ]
    environment = started.get("environment")
    if isinstance(environment, Mapping):
        rows += [(str(name).capitalize(), str(value)) for name, value in environment.items()]
        since = found.run.computing.since
        compiled = f"NumPy until step {since}, then compiled" if since else "compiled"
        rows.append(("Kernels", "NumPy" if since < 0 else compiled))
    return _section("Run", _table((name, value) for name, value in rows if value))


def _corrections(applied: Any) -> str:
    if not isinstance(applied, Mapping):
        return ""
    words = [
        f"{name}: " + ", ".join(f"{count} {split}" for split, count in applied[name].items())
        for name in ("relabelled", "dropped")
        if isinstance(applied.get(name), Mapping)
    ]
    return "; ".join([*words, f"not found: {applied.get('missing')}", f"SHA-256 {applied.get('sha256')}"])


def _count(value: Any) -> str:
    return quantities.count(value) if type(value) is int else ""


def _number(value: float) -> str:
    return quantities.loss(value) if math.isfinite(value) else quantities.NOTHING


def _percent(value: float) -> str:
    return quantities.percent(value) if math.isfinite(value) else quantities.NOTHING


def _seconds(value: float) -> str:
    return quantities.duration(value or math.nan)
