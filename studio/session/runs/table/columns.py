"""RunColumns: every setting and result of runs as a column with its title, values and texts."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from resources import quantities
from resources.settings.data import FIT
from studio.session.runs.measures import MEASURES, Value
from studio.session.runs.run_titles import value_text
from studio.session.runs.runs_folder import Run
from studio.session.sweep.parameters import short_name
from studio.session.train.run_settings import RunSettings, title_of_setting

TO_BEST, TITLE_TO_BEST = "_to_best", ", to best"  # the ends of names and titles
CURVE = "curve"  # a drawing, which can be neither filtered nor sorted
MOST_SETTINGS = 6  # that the table shows by itself
_NO_SETTING = ("out", "given", "kind", "script")
_DEFAULTS = RunSettings().as_dict()
_SHARES = ("accuracy",)


@dataclass(frozen=True, eq=False)
class RunColumn:
    """A column: ``of`` reads a run's value (a number, a text, or None), ``text`` writes one for people.

    ``better`` says which of two values is better, empty where neither is. ``raw`` reads the text that a
    filter compares next to the one that is shown.
    """

    name: str
    title: str
    of: Callable[[Run], Value]
    text: Callable[[float], str] = quantities.number
    better: str = ""
    raw: Callable[[Run], object] | None = None

    @property
    def is_share(self) -> bool:
        """Whether the values are shares of 1, shown as percentages."""
        return self.name in _SHARES

    def shown(self, value: Value) -> str:
        """A value for people; empty for a missing one."""
        if value is None:
            return ""
        return value if isinstance(value, str) else self.text(value)


def _measured(read: Callable[[Run], float]) -> Callable[[Run], Value]:
    def of(run: Run) -> Value:
        value = read(run)
        return None if math.isnan(value) else value

    return of


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _problem(run: Run) -> Value:
    return " ".join(filter(None, (run.note, run.failure))).replace("\n", " ") or None


# What a run has that is neither a setting nor a measured result. The name comes from the session.
_FIRST = (
    RunColumn("state", "State", lambda run: run.state),
    RunColumn(CURVE, "Loss curve", lambda run: None),
)
_ABOUT: tuple[RunColumn, ...] = (
    *_FIRST,
    RunColumn("tags", "Tags", lambda run: ", ".join(run.notes.tags) or None),
    RunColumn("note", "Note", lambda run: run.notes.note or None),
    RunColumn("sweep", "Sweep", lambda run: run.sweep or None),
    RunColumn("folder", "Folder", lambda run: run.name),
    RunColumn("started", "Started", lambda run: run.started or None, _date),
    RunColumn("epoch", "Epoch", lambda run: run.epoch, lambda value: quantities.count(int(value))),
    RunColumn("problem", "Problem", _problem),
)


def _setting(name: str) -> RunColumn:
    whole, _, parameter = name.partition(".")
    default = _DEFAULTS.get(whole) if not parameter else None
    texts: dict[str, str] = {"": ""}

    def raw(run: Run) -> object:
        missing = None if run.config.get("kind") == FIT else default
        value = run.config.get(whole, missing)
        if parameter:
            return value.get(parameter) if isinstance(value, dict) else None
        return value

    def of(run: Run) -> Value:
        value = raw(run)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return None if value != value else value
        if not isinstance(value, str):
            return None if value is None else value_text(name, value)
        if value not in texts:
            texts[value] = value_text(name, value)
        return texts[value] or None

    def text(value: float) -> str:
        whole_number = isinstance(value, int) or value.is_integer()
        return quantities.number(int(value)) if whole_number and abs(value) < 1e15 else f"{value:g}"

    return RunColumn(name, title_of_setting(name), of, text, raw=raw)


class RunColumns:
    """All columns of a list of runs, by name; ``aliases`` are other names for them, such as ``lr``.

    A column of settings is there for each setting that any of the runs has.
    """

    def __init__(self) -> None:
        self.titles: Mapping[str, str] = {}
        name = RunColumn("name", "Name", lambda run: self.titles.get(run.path, run.name))
        results = [
            RunColumn(each, it.title, _measured(it.of), it.text, it.better) for each, it in MEASURES.items()
        ]
        differences = [
            replace(
                it, name=f"{it.name}{TO_BEST}", title=f"{it.title}{TITLE_TO_BEST}", text=quantities.number
            )
            for it in results
            if it.better
        ]
        self._fixed = {each.name: each for each in (name, *_ABOUT, *results, *differences)}
        self._first = [name.name, *(each.name for each in (*_FIRST, *results))]
        self._settings: dict[str, RunColumn] = {}
        self._seen: dict[str, Mapping[str, Any]] = {}
        self._names: dict[str, str] = {}
        # Settings that were seen in runs, and of those that are groups of parameters their parameters.
        self._known: set[str] = set()
        self._groups: dict[str, set[str]] = {}
        for setting in _DEFAULTS:
            self._add(setting)

    def set_runs(self, runs: Iterable[Run], titles: Mapping[str, str]) -> None:
        """Have a column for each setting of these runs too."""
        self.titles = titles
        for run in runs:
            config = run.config
            if self._seen.get(run.path) is config:
                continue
            self._seen[run.path] = config
            if not self._known.issuperset(config):
                for name in config.keys() - self._known:
                    self._known.add(name)
                    if isinstance(config[name], dict):
                        self._groups.setdefault(name, set())
                    else:
                        self._add(name)
            for name, parts in self._groups.items():
                value = config.get(name)
                if value and isinstance(value, dict) and not parts.issuperset(value):
                    parts.update(value)
                    for part in value:
                        self._add(f"{name}.{part}")

    def _add(self, name: str) -> None:
        whole = name.partition(".")[0]
        if name in self._settings or name in self._fixed or whole in _NO_SETTING:
            return
        if name == whole and isinstance(_DEFAULTS.get(name), dict):
            return
        self._settings[name] = _setting(name)
        self._names.clear()

    def __getitem__(self, name: str) -> RunColumn:
        return self._fixed.get(name) or self._settings[name]

    def __contains__(self, name: str) -> bool:
        return name in self._fixed or name in self._settings

    def names(self) -> list[str]:
        """All columns: results, settings, what else is known of a run."""
        others = [each for each in self._fixed if each not in self._first]
        return [*self._first, *self._settings, *others]

    def settings(self) -> list[str]:
        """The settings that any run has."""
        return list(self._settings)

    def short(self, name: str) -> str:
        """The shortest name that a filter takes for a column: ``lr`` for ``learning_rate``."""
        if name not in self._settings:
            return name
        short = {"batch_size": "batch"}.get(name) or short_name(name)
        return short if self.find(short) == name else name

    def find(self, given: str) -> str:
        """The name of the column that a filter means: by name, short name, option or title; else empty."""
        if not self._names:
            self._names = self._aliases()
        folded = given.casefold().removeprefix("--")
        return self._names.get(folded) or self._names.get(folded.replace("-", "_"), "")

    def _aliases(self) -> dict[str, str]:
        found: dict[str, str] = {}
        parts: dict[str, list[str]] = {}
        for name in self._settings:
            parts.setdefault(name.rpartition(".")[2].casefold(), []).append(name)
        for part, names in parts.items():
            if len(names) == 1:
                found[part] = names[0]
        for name in self._settings:
            found.setdefault(title_of_setting(name).casefold(), name)
            found[short_name(name).replace("-", "_").casefold()] = name
        found["batch"] = "batch_size"
        found |= {self._fixed[name].title.casefold(): name for name in self._fixed}
        return found | {name.casefold(): name for name in (*self._settings, *self._fixed)}


def differing_settings(columns: RunColumns, runs: Sequence[Run], most: int = MOST_SETTINGS) -> list[str]:
    """The ``most`` settings in which these runs differ most, in their order. A thread may call it."""
    varied = {}
    for name in columns.settings():
        raw, of = columns[name].raw, columns[name].of
        assert raw is not None
        first = raw(runs[0]) if runs else None
        if any(raw(run) != first for run in runs):
            varied[name] = others(Counter(map(of, runs)))
    return most_varied(varied, most)


def others(counts: Counter[Value]) -> int:
    """How many runs have another value than most runs have."""
    return counts.total() - max(counts.values(), default=0)


def most_varied(varied: Mapping[str, int], most: int) -> list[str]:
    """The ``most`` settings in which the most runs have another value than the others, in their order."""
    first = sorted(varied, key=lambda name: -varied[name])[:most]
    return [name for name in varied if name in first]
