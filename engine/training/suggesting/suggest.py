"""Suggestions: a model and settings for data, each with its reason, where ``model`` is ``auto``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, TypeAlias

from engine.core.errors import ArgumentError
from engine.training.config import TrainingConfig
from engine.training.resolve import fitted
from engine.training.sources.images.sizes import ImageSizes, image_sizes
from engine.training.sources.opening import BUILT_IN, Source, open_source
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepared import Prepared
from engine.training.sources.spec import DataSpec
from engine.training.suggesting.linear_check import is_linear_enough
from resources.families import FAMILIES
from resources.settings import SETTINGS

AUTO = "auto"
LARGE_SIDE = 128
"""Images with both sides of more pixels are resized: a step on them takes too long on a CPU."""
PHASES = 9
"""Parts of a suggestion and its estimate: reading the data, choosing, building the network, and six steps."""
Report: TypeAlias = Callable[[str, float], None]
"""Receives words about the part that begins, and how many of ``PHASES`` are done."""
_DIGIT = (28, 28, 1)
_UNEQUAL = 1.1  # proportions that differ by more are not stretched


@dataclass(frozen=True)
class Choice:
    """A setting that was not given, its suggested value, and why."""

    setting: str
    value: Any
    reason: str


@dataclass(frozen=True)
class Suggestion:
    """A ``config`` that can be trained, what its data is, and what was chosen.

    ``problems`` has for each built-in network why it does not fit the data, "" where it does.
    """

    config: TrainingConfig
    spec: DataSpec
    choices: tuple[Choice, ...]
    problems: dict[str, str]

    def as_plain(self) -> dict[str, Any]:
        """As plain values, for JSON and for the window."""
        return {
            "settings": {each.setting: each.value for each in self.choices},
            "choices": [vars(each) for each in self.choices],
            "data": self.spec.as_plain(),
            "models": self.problems,
        }


def given_in(config: TrainingConfig) -> set[str]:
    """The settings of ``config`` that differ from their defaults."""
    return {name for name, value in config.as_dict().items() if value != SETTINGS[name].default}


def suggested(
    config: TrainingConfig,
    given: Collection[str] | None = None,
    source: Source | None = None,
    report: Report = lambda words, done: None,
) -> Suggestion:
    """A model and settings for the data of ``config``.

    Args:
        given: the settings that stay as they are, next to ``config.given``; None for those that differ from
            their defaults.
        source: the data, where it is open.
        report: receives how far it is.

    Raises:
        ArgumentError, DataError, FormatError: the data can't be read, or a given setting does not fit it.
    """
    stays = {*(given_in(config) if given is None else given), *config.given}
    rest = _Chooser(config.changed(given=()), stays - ({"model"} if config.model == AUTO else set()))
    if config.data in BUILT_IN:
        return rest.as_before(f"{config.data}: the network for digits and its usual settings", _digits())
    options = DataOptions.of(config)
    report("Reading the data", 0)
    source = source or open_source(config.data, options)
    if source.kind == "idx" and source.train.shape == _DIGIT and config.model == AUTO:
        spec = replace(_digits(), classes=source.classes, samples=len(source.train))
        return rest.as_before(
            "IDX files of 28x28 pixels: the network for digits and its usual settings", spec
        )
    return rest.for_data(source, report)


def with_suggestions(config: TrainingConfig, given: Collection[str] | None = None) -> TrainingConfig:
    """``config``, with what is suggested where its model is ``auto``. Raises as ``suggested``."""
    return suggested(config, given).config if config.model == AUTO else config


def _digits() -> DataSpec:
    return DataSpec("images", "classes", (1, 28, 28), tuple(map(str, range(10))))


class _Chooser:
    """Fills the settings that are not given, one by one, with reasons."""

    def __init__(self, config: TrainingConfig, stays: Collection[str]) -> None:
        self.config, self._stays = config, set(stays)
        self._choices: list[Choice] = []

    def as_before(self, reason: str, spec: DataSpec) -> Suggestion:
        """LeNet and the defaults."""
        if self.config.model == AUTO:
            self._choose("model", "lenet", reason)
        return self._suggestion(spec)

    def for_data(self, source: Source, report: Report) -> Suggestion:
        """What fits the data of ``source``."""
        from engine.training.data import splits_of

        if source.train.is_image:
            self._prepare_images(source)
        self._choose("normalize", "statistics", "values of mean 0 and deviation 1 train faster")
        splits = splits_of(
            source if source.kind != "images" else open_source(self.config.data, DataOptions.of(self.config)),
            self.config.samples,
            DataOptions.of(self.config),
            report=lambda done, total: report(f"Reading image {done:,} of {total:,}", done / total),
        )
        report("Choosing settings", 1)
        spec, count = splits.spec, len(splits.train)
        if self.config.model == AUTO:
            self._choose_model(spec, count, splits.train)
        self._choose_training(spec, count)
        return self._suggestion(spec)

    def _suggestion(self, spec: DataSpec) -> Suggestion:
        model_spec = spec.model_spec()
        problems = {name: family.problem(model_spec) for name, family in FAMILIES.items()}
        if self.config.data not in BUILT_IN:
            fitted(self.config, spec)  # raises for a given model that does not fit
        return Suggestion(self.config, spec, tuple(self._choices), problems)

    def _choose(self, setting: str, value: Any, reason: str) -> None:
        if setting in self._stays or value == getattr(self.config, setting):
            return
        self.config = self.config.changed(**{setting: value})
        self._choices.append(Choice(setting, value, reason))

    def _prepare_images(self, source: Source) -> None:
        sizes = image_sizes(source)
        if sizes is None or not sizes.sizes:
            height, width = source.train.shape[:2]
            sizes = ImageSizes()
            sizes.sizes[(width, height)] = len(source.train)
        side, (width, height) = min(sizes.suggested_side(), 64), sizes.median
        if sizes.distinct > 1:
            words = f"{sizes.distinct} sizes from {_by(sizes.smallest)} to {_by(sizes.largest)}"
            self._choose("resize", side, f"images of {words} become {side}x{side}")
        elif min(width, height) > LARGE_SIDE:
            self._choose("resize", side, f"images of {_by(sizes.largest)} take long: {side}x{side} is faster")
        if self.config.resize:
            shapes = [size[0] / size[1] for size in sizes.sizes]
            if max(max(shapes), 1 / min(shapes)) > _UNEQUAL:
                self._choose("fit", "pad", "not all images are squares: padding keeps their proportions")

    def _choose_model(self, spec: DataSpec, count: int, train: Prepared) -> None:
        if spec.feeds:
            raise ArgumentError(
                f"model: auto chooses models with one input, and the data has {len(spec.feeds)}: "
                f"{', '.join(feed.array for feed in spec.feeds)}; choose FILE.py:Class of your own whose "
                "forward takes them, or one array as input_name"
            )
        what = {"images": "images", "table": "rows", "sequences": "sequences"}[spec.kind]
        if spec.kind == "images":
            size = f"{count} images of {spec.shape[2]}x{spec.shape[1]}"
            if not FAMILIES["cnn"].problem(spec.model_spec()):
                self._choose("model", "cnn", f"a small convolutional network for {size}")
            else:
                self._choose("model", "mlp", f"{size} are too small for convolutions")
        elif spec.kind == "table" and is_linear_enough(train, spec):
            self._choose(
                "model", "linear", f"it predicts left-out parts of {count} rows as well as curved models do"
            )
        elif spec.kind == "table":
            self._choose("model", "mlp", f"a multilayer perceptron for {count} {what} of a table")
        else:
            self._choose("model", "gru", f"a recurrent network for {count} {what}")
        if self.config.model == "mlp" and "model_params" not in self._stays:
            share = 0.3 if spec.task == "numbers" else 0.2
            self._choose(
                "model_params", {"dropout": share}, f"few {what}: dropout of {share} against overfitting"
            )

    def _choose_training(self, spec: DataSpec, count: int) -> None:
        rule = _RULES.get(self.config.model, _OTHERS)
        rate = rule.rate_of_numbers if spec.task == "numbers" and rule.rate_of_numbers else rule.rate
        if self.config.model == "cnn" and not self._deep(spec):
            rate = 0.003
        if not {"optimizer", "optimizer_params"} & self._stays:
            self._choose("optimizer", "adamw", "Adam with weight decay")
            self._choose("optimizer_params", {"weight_decay": rule.decay}, "keeps the weights small")
        if self.config.optimizer == "adamw":
            self._choose("learning_rate", rate, f"the highest rate of the schedule for {self.config.model}")
        if not {"schedule", "schedule_params"} & self._stays and not self.config.schedule_params:
            self._choose("schedule", "one_cycle_lr", "a rate that rises and falls trains fast")
        batch = 32 if count <= 5_000 else 64 if count <= 20_000 else 128
        self._choose("batch_size", min(batch, max(1, count)), f"{count} training samples")
        if spec.kind == "sequences":
            self._choose("clip_norm", 1.0, "gradients of recurrent networks can become large")
        steps = ceil(count / self.config.batch_size)
        epochs = min(rule.most_epochs, max(rule.least_epochs, ceil(rule.steps / steps)))
        self._choose("epochs", epochs, f"about {epochs * steps} steps of {self.config.batch_size} samples")
        if spec.kind == "images" and count <= 5_000 and not spec.feeds:  # further inputs are not moved
            shift = max(1, min(spec.shape[1:]) // 16)
            self._choose("shift", shift, "few images: each is moved a little at random")

    def _deep(self, spec: DataSpec) -> bool:
        arguments = {**FAMILIES["cnn"].arguments(spec.model_spec()), **self.config.model_params}
        return bool(arguments.get("norm"))


@dataclass(frozen=True)
class _Rule:
    """Settings of a network; ``steps`` is how many are enough for small data."""

    rate: float
    decay: float
    steps: int
    least_epochs: int
    most_epochs: int
    rate_of_numbers: float = 0.0


_OTHERS = _Rule(0.003, 0.01, 400, 10, 40)
_RECURRENT = _Rule(0.005, 0.01, 1500, 10, 40)
_TABLE = _Rule(0.003, 0.1, 600, 3, 60, rate_of_numbers=0.001)
_RULES = {
    "cnn": _Rule(0.01, 0.01, 400, 10, 40, rate_of_numbers=0.005),
    "resnet8": _Rule(0.01, 0.01, 400, 10, 40, rate_of_numbers=0.005),
    "resnet18": _Rule(0.005, 0.01, 400, 10, 40, rate_of_numbers=0.003),
    "mobilenet": _Rule(0.01, 0.01, 400, 15, 60, rate_of_numbers=0.005),
    "mlp": _TABLE,
    "linear": _Rule(0.01, 0.1, 600, 3, 60),
    "lstm": _RECURRENT,
    "gru": _RECURRENT,
    "transformer": _Rule(0.002, 0.01, 1500, 10, 60),
}


def _by(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"
