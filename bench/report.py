"""Puts figures into bench/README.md: ``python -m bench.report FILE.json ...``, FILE by ``--json`` of a bench.

The files of ``bench.suite`` replace what stands between the markers of that bench, those of ``bench.growth``
theirs; the rest of the page stays as it is. Several of one bench, one for each instruction set, stand one
after another.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bench import quiet
from bench.growth_table import growth_page
from bench.results import Result, describe, kernels_line, memory, ratio, ratios, read_row, same_loss

PAGE = Path(__file__).with_name("README.md")
Found = dict[str, Result]


def main(arguments: list[str] | None = None, page: Path = PAGE) -> None:
    """Rewrite the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    text = page.read_text(encoding="utf-8")
    found: dict[str, list[dict[str, Any]]] = {}
    for file in parser.parse_args(arguments).files:
        report = read(file)
        found.setdefault(report["what"], []).append(report)
    for what, reports in found.items():
        content = "\n".join(
            (f"### {title}\n\n" if len(reports) > 1 else "") + PAGES[what](report)
            for title, report in zip(_titles(what, reports), reports, strict=True)
        )
        text = replaced(text, what, content, page)
    page.write_text(text, encoding="utf-8")


def _titles(what: str, reports: list[dict[str, Any]]) -> list[str]:
    """What distinguishes reports of one bench: the instruction set, and the machine where two share it."""
    sets = [
        f"{report.get('isa') or 'Unknown vectors'}{', simulated' if report.get('simulated') else ''}"
        for report in reports
    ]
    return [
        f"{what.capitalize()}, {name}" + (f", {report['machine']}" if sets.count(name) > 1 else "")
        for name, report in zip(sets, reports, strict=True)
    ]


def read(file: Path) -> dict[str, Any]:
    """What a bench has written; SystemExit where it is something else."""
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"bench.report: {file}: can't be read: {error}; give a file that --json wrote"
        raise SystemExit(message) from None
    if not isinstance(report, dict) or report.get("what") not in PAGES:
        raise SystemExit(f"bench.report: {file}: holds no figures; give a file that --json wrote")
    return report


def replaced(text: str, what: str, content: str, page: Path) -> str:
    """``text`` with ``content`` between the markers of ``what``."""
    begin, end = f"<!-- {what} -->\n", f"<!-- end of {what} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        lacking = f"{begin.strip()} or {end}"
        raise SystemExit(f"bench.report: {page}: lacks {lacking}; put both lines where they belong")
    return f"{before}{begin}{content}{end}{after}"


def markdown(rows: list[list[str]]) -> str:
    """Rows of cells as a table; the first names the columns."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def suite_page(report: dict[str, Any]) -> str:
    """The tables of ``bench.suite``: ratios, times, memory and losses, and which contenders were skipped."""
    rows = {row["title"]: (row, read_row(row)) for row in report["rows"].values()}
    results = {title: found for title, (_, found) in rows.items()}
    versions = dict.fromkeys(one.version for found in results.values() for one in found.values())
    runs = report.get("runs", 1)
    parts = [
        f"{describe(report)}. {', '.join(filter(None, versions))}.{_busy(report)}",
        "Median over the turns of a contender's time divided by the reference's; below 1 is faster."
        + (f" The median of {runs} complete runs, and the worst of them." if runs > 1 else ""),
        *_tables(rows),
        *_listed("Operators of the plans that compiled kernels run:", _compiled(results)),
        *_listed("Skipped:", _left_out(results)),
    ]
    return "\n\n".join(parts) + "\n"


def _tables(rows: dict[str, tuple[dict[str, Any], Found]]) -> list[str]:
    every = dict.fromkeys(name for _, found in rows.values() for name in found)
    names = [name for name in every if not name.endswith(" operator")]
    divided, times = [["divided by", *names]], [["min / median", *names]]
    spent = [["MB (by torch's); s; loss", *names]]
    for title, (row, found) in rows.items():
        of = dict(found)
        if row["kind"] == "operator":  # of a library, not of one of its modes: in the column of its eager one
            of = {name.replace(" operator", " eager"): one for name, one in found.items()}
        reference = found.get(row["reference"])
        divided.append([f"{title}, by {row['reference']}", *(_ratio(of.get(n), reference) for n in names)])
        times.append([title, *(_times(of.get(name), row["kind"] == "train") for name in names)])
        spent.append([title, *(_spent(of.get(name), reference, found) for name in names)])
    return [
        markdown(divided),
        "Milliseconds a step of training, microseconds a prediction or an operator.",
        markdown(times),
        "The most resident memory of the process and its ratio to torch eager's, seconds from its start to "
        "the end of its first step (imports included), and the loss after a few steps, marked where it is "
        "not the reference's.",
        markdown(spent),
    ]


def _listed(title: str, lines: list[str]) -> list[str]:
    return [f"{title}\n\n" + "\n".join(f"- {line}" for line in lines)] if lines else []


def _compiled(results: dict[str, Found]) -> list[str]:
    return [
        f"{title}: {kernels_line(one)}"
        for title, found in results.items()
        for one in found.values()
        if one.kernels
    ]


def _left_out(results: dict[str, Found]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for title, found in results.items():
        for one in found.values():
            if one.skipped:
                reasons.setdefault(f"{one.name}: {one.skipped}", []).append(title)
    return [f"{reason} ({'; '.join(titles)})" for reason, titles in reasons.items()]


def _busy(report: dict[str, Any]) -> str:
    if quiet.is_busy(report):
        return " **The machine was busy with other work: these figures are provisional.**"
    return "" if report.get("others") is None else " The machine was quiet."


def _ratio(one: Result | None, reference: Result | None) -> str:
    value = None if one is None else ratio(one, reference)
    if one is None or value is None:
        return "-"
    return f"{value:.2f}" + (f" ({max(ratios(one, reference)):.2f})" if one.runs > 1 else "")


def _times(one: Result | None, training: bool) -> str:
    if one is None or not one.seconds:
        return "-"
    factor = 1e3 if training else 1e6
    return f"{one.series.best * factor:.3g} / {one.series.typical * factor:.3g}"


def _spent(one: Result | None, reference: Result | None, results: Found) -> str:
    if one is None or not one.seconds:
        return "-"
    size, ratio_to_torch = memory(one, results)
    first = "-" if one.first is None else f"{one.first:.2f}"
    loss = "-" if one.loss is None else f"{one.loss:.5f}"
    return f"{size} ({ratio_to_torch}); {first}; {loss}" + (
        "" if same_loss(one, reference) else " **differs**"
    )


def _growth_page(report: dict[str, Any]) -> str:
    return f"{describe(report)}.{_busy(report)}\n\n{growth_page(report, markdown)}\n"


PAGES = {"suite": suite_page, "growth": _growth_page}


if __name__ == "__main__":
    main()
