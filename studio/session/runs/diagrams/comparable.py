"""Runs whose results can be compared: of the same task, model and data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from studio.session.runs.runs_folder import Run

SAME = ("model", "data")


def comparable_runs(
    runs: Sequence[Run], measured: Sequence[Any], selected: str, apart: Collection[str] = ()
) -> list[int]:
    """The positions of the runs with the task, model and data that most of the measured runs have, or those
    of the selected run, if it is measured. Runs that are not measured follow in their group.

    Args:
        measured: whether each run has the result.
        selected: the folder of the selected run.
        apart: settings that a figure shows apart, such as an axis; runs may differ in them.
    """
    same = [name for name in SAME if name not in apart]
    groups = [(run.task, *(str(run.config.get(name, "")) for name in same)) for run in runs]
    counts = Counter(group for group, known in zip(groups, measured, strict=True) if known)
    if not counts:
        return list(range(len(runs)))
    found = counts.most_common(1)[0][0]
    for run, group in zip(runs, groups, strict=True):
        if run.path == selected and group in counts:
            found = group
    return [place for place, group in enumerate(groups) if group == found]
