"""The settings of a run, and those that differ between two, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from resources.settings import SETTINGS, SUGGESTED
from resources.settings.data import FIT
from studio.session.runs.runs_folder import Run, source_file
from studio.session.train.run_settings import RunSettings, title_of, title_of_setting

# Not a choice: where the run lies.
_NO_SETTING = ("out", "given")
AUTO = "auto"
# What ``auto`` stands for is recorded when a run begins.
_RESOLVED = ("kind", "task", "loss")
NONE = "\u2013"
_DEFAULTS = RunSettings().as_dict()


@dataclass(frozen=True)
class Change:
    """A setting that differs between two runs; an empty value is one that a run does not have."""

    name: str
    before: str
    after: str

    @property
    def title(self) -> str:
        """The title of the setting, as the form shows it."""
        return title_of_setting(self.name)


def changed_settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """The settings that differ, parameters of optimizer and schedule one by one. What a run of an earlier
    version does not have counts as the default."""
    first, second = before, after
    before, after = (
        {**each, "model": network_of(each)} if each.get("model") == AUTO else each for each in (first, second)
    )
    unlike = {
        name
        for name in {**before, **after}
        if name not in before or name not in after or before[name] != after[name]
    }
    # Of what is the same in both nothing has to be compared: most runs of a list differ in a few settings.
    if (before.get("kind") == FIT) == (after.get("kind") == FIT):
        before = {name: value for name, value in before.items() if name in unlike or name == "kind"}
        after = {name: value for name, value in after.items() if name in unlike or name == "kind"}
        old, new = settings_of(before, unlike), settings_of(after, unlike)
    else:
        old, new = settings_of(before), settings_of(after)
    return [
        Change(name, value_text(name, old.get(name, "")), value_text(name, new.get(name, "")))
        for name in dict.fromkeys((*old, *new))
        if old.get(name, "") != new.get(name, "") and not (is_open(first, name) or is_open(second, name))
    ]


def is_open(config: Mapping[str, Any], name: str) -> bool:
    """Whether a run chooses this setting, or parameter, only when it begins: so it differs from no other. A
    run that failed before and one that waits leave it open."""
    if config.get("kind") == FIT:
        return False
    whole, _, parameter = name.partition(".")
    if whole in _RESOLVED:
        return config.get(whole) == AUTO
    if whole == "model_params" and config.get("kind") == AUTO and parameter not in config.get(whole, {}):
        return True
    if network_of(config) != AUTO or whole in config.get("given", ()):
        return False
    return whole == "model" or (whole in SUGGESTED and config.get(whole) == _DEFAULTS[whole])


def network_of(config: Mapping[str, Any]) -> str:
    """The model of a run, as far as it is known without the data, see ``RunSettings.network``."""
    model, built_in = str(config.get("model", "")), dict(SETTINGS["data"].choices)
    return "lenet" if model == AUTO and config.get("data") in built_in else model


def settings_of(config: Mapping[str, Any], names: Collection[str] | None = None) -> dict[str, Any]:
    """The settings of a run, flat: ``optimizer_params.beta1`` next to ``learning_rate``.

    Args:
        names: the settings that are wanted of the defaults, which hold for what the run does not have.
    """
    defaults = {} if config.get("kind") == FIT else _DEFAULTS
    if names is not None:
        defaults = {name: value for name, value in defaults.items() if name in names}
    flat: dict[str, Any] = {}
    for name, value in {**defaults, **config}.items():
        if name in _NO_SETTING:
            continue
        if isinstance(value, dict):
            flat.update({f"{name}.{part}": each for part, each in value.items()})
        else:  # a journal has lists where settings of the window have tuples
            flat[name] = list(value) if isinstance(value, tuple) else value
    return flat


def settings_of_run(run: Run) -> RunSettings:
    """The settings of a run for another one. A model whose file is gone is taken from the run's own copy.

    Raises:
        ValueError: a value of the wrong type: the journal is damaged, or of another version.
    """
    names = RunSettings().as_dict().keys()
    settings = RunSettings(**{name: value for name, value in run.config.items() if name in names})
    copy = source_file(run)
    if copy is None or Path(settings.user_file).is_file() or not copy.is_file():
        return settings
    return replace(settings, model=f"{copy}:{settings.model.rpartition(':')[2]}")


def value_text(name: str, value: Any) -> str:
    """A value for people."""
    if isinstance(value, bool):
        if name == "static":
            return "static" if value else "eager"
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return ", ".join(str(each) for each in value)
    if isinstance(value, str):
        return title_of(value)
    return str(value)


class Differences:
    """What differs between a run and the one that began before it, in a few words; worked out where it is
    asked for, and kept, since settings of a run never change."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], list[Change]] = {}
        self._runs: Sequence[Run] = ()
        self._before: dict[str, Run] | None = None

    def take(self, runs: Sequence[Run]) -> None:
        """These are the runs from now on."""
        self._runs, self._before = runs, None

    def words(self, run: Run) -> str:
        """``Learning rate 0.01, Batch size 128``; empty for the first run and for one as the last."""
        return ", ".join(f"{change.title} {change.after or NONE}" for change in self.changes(run))

    def changes(self, run: Run) -> list[Change]:
        """What differs from the run before; nothing for the first run."""
        if self._before is None:
            order = sorted(self._runs, key=lambda run: (run.started, run.path))
            self._before = {run.path: last for last, run in pairwise(order)}
        last = self._before.get(run.path)
        if last is None or not run.config or not last.config:
            return []
        key = (last.path, run.path)
        if key not in self._known:
            self._known[key] = changed_settings(last.config, run.config)
        return self._known[key]

    def of(self, runs: Sequence[Run]) -> dict[str, str]:
        """The words of all these runs, by folder."""
        self.take(runs)
        return {run.path: self.words(run) for run in runs}
