"""Names of runs: the given one, else one that says what differs; unique, the same everywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from resources.settings.data import FIT
from studio.session.runs.run_titles import is_open, settings_of
from studio.session.runs.runs_folder import Run
from studio.session.train.run_settings import title_of

LONGEST = 36  # characters of a default name to which further settings are added, before ", 2nd"
_LONGEST_MODEL = 24  # characters that count of a model's title
SWEEP = "sweep.json"
_Config: TypeAlias = Mapping[str, Any]
# Settings in short words. A value says enough of those with an empty one.
_SHORT = {
    "data": "",
    "model": "",
    "optimizer": "",
    "static": "",
    "learning_rate": "lr",
    "batch_size": "batch",
    "validation_share": "validation",
    "schedule_each": "schedule per",
    "clip_norm": "clip",
    "start_from": "from",
    "checkpoint_every": "checkpoint every",
    "layers_every": "layers every",
    "on_divergence": "divergence",
}
# What is named first, where not all fits; then the others as they were declared, and these last.
_FIRST = ("data", "model", "optimizer", "learning_rate", "optimizer_params", "batch_size", "epochs")
_LAST = ("static", "kernels", "device", "threads", "checkpoint_every", "keep", "max_size", "layers_every")
# Settings on which others depend: the parameters of another one are not compared.
_CHOOSERS = {"model_params": "model", "optimizer_params": "optimizer", "schedule_params": "schedule"}


class ComingRun(NamedTuple):
    """The settings of a run that has not begun; of a trial also its sweep, and in words what it chose."""

    config: _Config
    sweep: str = ""
    choices: str = ""


class RunNames:
    """Names the runs of a list.

    A default name has the title of the model and the settings that differ from the first run of that model
    in the list, the most telling ones of many; of a trial, what it chose. It has no ellipsis: widgets elide
    it to their width, and a text elided twice is unreadable. Runs are named in the order in which they
    began, and one whose name is taken becomes the 2nd: so a run that begins later changes no name. Only a
    new name of an earlier run, and one that is deleted, can change those of later ones.

    Args:
        before: the names of the same list before it changed, which saves work.

    ``names`` has the name of each run, by folder.
    """

    def __init__(self, runs: Iterable[Run] = (), before: RunNames | None = None) -> None:
        self.names: dict[str, str] = {}
        # Settings of a run never change: what differs between two is computed once.
        self._earlier = {} if before is None else before._known
        self._known: dict[tuple[str, str], str] = {}
        self._firsts: dict[str, tuple[str, _Config]] = {}
        self._taken: set[str] = set()
        self._counts: Counter[str] = Counter()
        for run in sorted(runs, key=lambda run: (run.started, run.path)):
            name = run.notes.name or self._default(run)
            if name in self._taken and run.sweep and not run.notes.name:
                name = f"{run.sweep}, {name}"
            self.names[run.path] = self._take(name)
        self._earlier = {}

    def coming(self, runs: Iterable[ComingRun]) -> list[str]:
        """The names that these runs get if they begin in this order, after the others."""
        taken, counts, firsts = set(self._taken), self._counts.copy(), dict(self._firsts)
        names = []
        for config, sweep, choices in runs:
            name = _chosen(choices) if choices else self._model_and_differences(config, "")
            names.append(self._take(f"{sweep}, {name}" if choices and name in self._taken else name))
        self._taken, self._counts, self._firsts = taken, counts, firsts
        return names

    def _take(self, name: str) -> str:
        """``name``, or where another run has it the first free one of its 2nd, 3rd, ..."""
        found = name
        while found in self._taken:
            self._counts[name] = max(self._counts[name], 1) + 1
            found = f"{name}, {_ordinal(self._counts[name])}"
        self._taken.add(found)
        return found

    def _default(self, run: Run) -> str:
        if run.sweep:
            return _chosen(run.choices) or Path(run.path).name
        return self._model_and_differences(run.config, run.path)

    def _model_and_differences(self, config: _Config, path: str) -> str:
        title = model_title(config)
        first, known = self._firsts.setdefault(title, (path, config))
        if known is config:
            return title
        pair = (first, path)
        words = self._earlier.get(pair) or _with_differences(title, known, config)
        if path:
            self._known[pair] = words
        return words


def run_names(runs: Iterable[Run]) -> dict[str, str]:
    """The names of runs that are listed once, by folder."""
    return RunNames(runs).names


def project_folder(folder: Path) -> Path:
    """The folder of the runs among which the one in ``folder`` is listed: of a trial, that of its sweep."""
    return folder.parent.parent if (folder.parent / SWEEP).is_file() else folder.parent


def file_name(name: str) -> str:
    """A name as a file can have it on every system."""
    return re.sub(r'[\x00-\x1f<>:"/\\|?*]+', "-", name).strip(" .") or "run"


def model_title(config: _Config) -> str:
    """The model of a run as its name has it: ``LeNet``; of a script's fit ``Net, train.py``."""
    model = str(config.get("model", "")) or "?"
    title = title_of(model.rpartition(":")[2] or model)
    if config.get("kind") == FIT and config.get("script"):
        return f"{title}, {title_of(str(config['script']))}"
    return title


def _with_differences(title: str, first: _Config, config: _Config) -> str:
    old, new = settings_of(first), settings_of(config)
    names = [
        name
        for name in dict.fromkeys((*new, *old))
        if old.get(name, "") != new.get(name, "") and not (is_open(first, name) or is_open(config, name))
    ]
    parts = [part for name in sorted(names, key=_rank) if (part := _part(name, old, new))]
    return ", ".join([title, *_fitting(parts, LONGEST - min(len(title), _LONGEST_MODEL))])


def _fitting(parts: Iterable[str], room: int) -> list[str]:
    """The first parts that have this many characters, each with a comma and a space before it."""
    fitting = []
    for part in parts:
        room -= len(part) + 2
        if room < 0:
            break
        fitting.append(part)
    return fitting


def _rank(name: str) -> int:
    whole = name.partition(".")[0]
    if whole in _FIRST:
        return _FIRST.index(whole) - len(_FIRST)
    return 1 + _LAST.index(whole) if whole in _LAST else 0


def _part(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """A setting that differs, in words: ``lr 0.01``; empty where another one says it already."""
    whole, _, parameter = name.partition(".")
    chooser = _CHOOSERS.get(whole, "")
    if name not in new:
        same = old.get(chooser) == new.get(chooser)
        return f"{parameter.replace('_', ' ')} default" if parameter and same else ""
    value = _value(name, new[name])
    if name == "model":  # of the same title: another file
        value = _value(name, str(new[name]).rpartition(":")[0] or new[name])
        return "" if value == _value(name, str(old.get(name, "")).rpartition(":")[0]) else value
    if name == "corrections":
        return "corrected" if value else "uncorrected"
    short = parameter.replace("_", " ") if parameter else _SHORT.get(name, name.replace("_", " "))
    return " ".join(filter(None, (short, value or "none")))


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return ("static" if value else "eager") if name == "static" else "on" if value else "off"
    if isinstance(value, list | tuple):
        return "-".join(_value(name, each) for each in value)
    if isinstance(value, float):
        return f"{value:g}"
    return title_of(value).partition(" (")[0] if isinstance(value, str) else str(value)


def _chosen(choices: str) -> str:
    """What a trial chose, ``lr=0.1, batch-size=32``, as other names have it: ``lr 0.1, batch 32``."""
    words = re.sub(r"(^|, )(?:[\w-]+\.)?([\w-]+)=", r"\1\2 ", choices).replace("batch-size ", "batch ")
    first, *others = words.split(", ")
    return ", ".join([first, *_fitting(others, LONGEST - len(first))])


def _ordinal(place: int) -> str:
    """``2nd``, ``3rd``, ``11th``, ``21st``."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"
