"""What the command explain prints and writes about a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources import quantities
from studio.cli.explain.sample import OpenedSample
from studio.cli.output import emit_json, say

if TYPE_CHECKING:
    from engine.explain import Attribution

MOST_CHANNELS = 3  # of a step, in one line


@dataclass(frozen=True)
class Row:
    """A column of a table, a number, or a step of a sequence: its name, its value in words and as a number
    (that of a step with one channel), its attribution, and those of a step's channels."""

    name: str
    words: str
    value: float
    number: float
    channels: tuple[tuple[str, float, float], ...] = ()


def names_of(opened: OpenedSample, output: int) -> tuple[str, ...]:
    """The names of the numbers of an output."""
    info = opened.info
    if output:
        return ()
    return tuple(info.raw.spec.targets) if info.raw is not None and info.predicts_numbers else info.classes


def partial_path(out: Path) -> Path:
    """Where a part is written, so that a whole map of before stays."""
    return out.with_name(f"{out.stem}.partial{out.suffix}")


def write_map(out: Path, opened: OpenedSample, found: Attribution) -> Path:
    """Write the map, a part of it next to where the whole would be; returns the file."""
    from engine.core.errors import ArgumentError
    from studio.session.explain.map_files import array_npy, map_png, table_csv, write
    from studio.session.explain.maps import is_image, map_of

    asked, value = opened.inputs[found.input], opened.values[found.input]
    kind = out.suffix.lower()
    if kind == ".npy":
        data = array_npy(found.values)
    elif is_image(asked):
        values = map_of(asked, found.values, found.method)
        if kind == ".png":
            data = map_png(value, values)
        else:
            data = table_csv([str(n) for n in range(values.shape[1])], values.tolist())
    elif kind == ".png":
        raise ArgumentError(f"explain: {asked.name} is not an image, but numbers: give --out FILE.csv")
    else:
        data = _as_table(rows_of(opened, found), found.method)
    file = partial_path(out) if found.is_partial else out
    write(file, data)
    return file


def _as_table(rows: Sequence[Row], method: str) -> bytes:
    """A line for each column or step; of a step with several channels the attribution of each."""
    from studio.session.explain.map_files import table_csv

    if not any(row.channels for row in rows):
        return table_csv(["name", "value", method], [(row.name, row.value, row.number) for row in rows])
    names = [name for name, _, _ in rows[0].channels]
    if method == "occlusion":
        heading = ["step", method, *(f"value of {name}" for name in names)]
        return table_csv(heading, [(row.name, row.number, *(v for _, v, _ in row.channels)) for row in rows])
    heading = ["step", method, *(f"{method} of {name}" for name in names)]
    return table_csv(heading, [(row.name, row.number, *(n for _, _, n in row.channels)) for row in rows])


def rows_of(opened: OpenedSample, found: Attribution) -> list[Row]:
    """Each column of a table, each number of another input, each step of a sequence without its padding."""
    from studio.session.explain.maps import channels_of, numbers_of

    asked, value = opened.inputs[found.input], opened.values[found.input]
    numbers = numbers_of(asked, found.values, found.method).tolist()
    if asked.form == "sequence":
        given = value.reshape(len(numbers), -1)
        names = [f"[{place}]" for place in range(given.shape[1])]
        masked = asked.raw is not None and asked.raw.spec.masked
        if masked:
            names[-1] = "mask"
        parts = channels_of(asked, found.values).tolist()
        return [
            Row(
                str(step),
                "",
                float(given[step, 0]),
                number,
                tuple(zip(names, given[step].tolist(), parts[step], strict=True)) if len(names) > 1 else (),
            )
            for step, number in enumerate(numbers)
            if not masked or given[step, -1]
        ]
    flat = value.reshape(-1).tolist()
    columns = asked.raw.inputs if asked.raw is not None and asked.raw.is_table else ()
    if len(columns) != len(flat):
        return [
            Row(str(place), f"{each:.6g}", each, number)
            for place, (each, number) in enumerate(zip(flat, numbers, strict=True))
        ]
    return [
        Row(column.name, _cell(column.words, each), each, number)
        for column, each, number in zip(columns, flat, numbers, strict=True)
    ]


def _cell(words: Sequence[str], value: float) -> str:
    """A value of a column: of one with words the word, which is fed as its place among those of training."""
    if not words:
        return f"{value:.6g}"
    return words[int(value) - 1] if 1 <= value <= len(words) else "(no word of the training)"


def _without_gradient(opened: OpenedSample, found: Attribution, rows: Sequence[Row]) -> list[str]:
    """The columns of words that the model looks up as integers, through which no gradient flows."""
    raw = opened.inputs[found.input].raw
    if found.method == "occlusion" or raw is None or not raw.is_table:
        return []
    words = {column.name for column in raw.inputs if column.words}
    return [row.name for row in rows if row.name in words and row.number == 0.0]


def _known(number: float) -> float | None:
    return number if number == number else None


def tell(
    opened: OpenedSample, found: Attribution, fill: str, file: Path, out: Path | None, as_json: bool
) -> None:
    """Print what was found; ``fill`` is what the sample was compared with or covered by, empty for neither,
    ``out`` where the map was written."""
    from studio.session.explain.maps import is_image

    names = names_of(opened, found.output)
    name = names[found.target] if found.target < len(names) else str(found.target)
    table = not is_image(opened.inputs[found.input])
    rows = rows_of(opened, found) if table else []
    without = _without_gradient(opened, found, rows)
    if as_json:
        said: dict[str, Any] = {
            "file": str(file),
            "method": found.method,
            "class": name,
            "target": found.target,
            "score": found.score,
            "seconds": found.seconds,
            "shape": list(found.values.shape),
            **found.settings,
        }
        if found.difference is not None:
            said |= {"baseline": fill, "difference": found.difference, "gap": found.gap}
        if found.method == "occlusion":
            said |= {"color": fill, "share": found.share, "partial": found.is_partial}
        if table:
            said["values"] = {row.name: None if row.name in without else _known(row.number) for row in rows}
        if out is not None:
            said["out"] = str(out)
        emit_json(said)
        return
    _tell_title(found, name, file, out)
    if fill:
        from studio.session.explain.covering import fill_words

        words = fill_words(opened.inputs[found.input], fill)
        say(f"  {'covered by' if found.method == 'occlusion' else 'baseline'}: {words}")
    _tell_rows(found, rows, without)


def _tell_title(found: Attribution, name: str, file: Path, out: Path | None) -> None:
    title = "integrated gradients" if found.method == "integrated" else found.method
    part = "partial " if found.is_partial else ""
    words = f"{file}: {part}{title} of {name} (score {quantities.number(found.score, digits=4)})"
    if found.is_partial:
        words += f"; {quantities.percent(found.share)} of the windows were computed"
    if found.difference is not None:
        share = found.gap_share
        words += f"; difference to the baseline {quantities.number(found.difference, digits=4)}"
        words += f", the sum is {quantities.percent(share)} away" if share is not None else ""
    say(words + (f": {out}" if out is not None else ""))


def _tell_rows(found: Attribution, rows: Sequence[Row], without: Sequence[str]) -> None:
    import numpy as np

    from studio.session.explain.maps import strongest

    chosen = strongest(np.array([row.number for row in rows], np.float32))
    absent = []
    for place in chosen.tolist():
        row = rows[place]
        if row.number != row.number:
            absent.append(row.name)
        elif row.name not in without:
            say(f"  {_line(row, found.method)}")
    if absent:
        say(f"  not computed: {', '.join(absent)}")
    if without:
        say(f"  no gradient: {', '.join(without)} (words become integers); --method occlusion covers them")
        if found.difference is not None:
            say("  the sum is away by what they change; more steps do not bring it closer")
    if len(chosen) < len(rows):
        say(f"  and {quantities.count(len(rows) - len(chosen))} weaker ones; all are in --out FILE.csv")


def _line(row: Row, method: str) -> str:
    """A column with its value, or a step with its strongest channels."""
    if row.words:
        return f"{row.name} = {row.words}: {row.number:+.4g}"
    if not row.channels:
        return f"step {row.name} = {row.value:.6g}: {row.number:+.4g}"
    if method == "occlusion":  # covers all channels of a step at once
        shown = [f"{name} = {value:.4g}" for name, value, _ in row.channels[:MOST_CHANNELS]]
    else:
        ordered = sorted(row.channels, key=lambda each: -abs(each[2]))
        shown = [f"{name} = {value:.4g}: {number:+.4g}" for name, value, number in ordered[:MOST_CHANNELS]]
    more = ", ..." if len(row.channels) > MOST_CHANNELS else ""
    return f"step {row.name}: {row.number:+.4g} ({', '.join(shown)}{more})"
