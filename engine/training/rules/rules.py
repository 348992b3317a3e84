"""Makes the optimizer and the learning rate schedule that the settings of a run choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engine import optimizer as optimizers_of_engine
from engine.core.errors import ArgumentError, EngineError
from engine.nn.clip import ClipGradByGlobalNorm
from engine.optimizer import Optimizer, lr
from resources.settings import Rule, Setting, Settings, moves_each, optimizers, schedules

if TYPE_CHECKING:
    from engine.eager.tensor import Tensor

# How many times a schedule moves on in a run whose length is not known yet.
SOME_STEPS = 1000


@dataclass(frozen=True)
class Schedule:
    """A schedule at work: what moves on, when, and what it looks at.

    ``metric`` is the measured value that it follows; empty where it counts.
    """

    scheduler: Any
    each: Literal["batch", "epoch"]
    metric: str = ""

    def after_batch(self) -> None:
        """A batch was learned from."""
        if self.each == "batch":
            self.scheduler.step()

    def after_epoch(self, measured: Mapping[str, float]) -> None:
        """An epoch is over; ``measured`` has validation_loss, train_loss and the metric of the task."""
        if self.metric:
            # Numbers have no accuracy, and classes no R²: each stands for the metric of the task.
            of_task = "validation_r2" if "validation_r2" in measured else "validation_accuracy"
            self.scheduler.step(measured[self.metric if self.metric in measured else of_task])
        elif self.each == "epoch":
            self.scheduler.step()


def make_schedule(settings: Settings, steps_per_epoch: int) -> Schedule | None:
    """The schedule that ``settings`` choose for a run of so many steps an epoch; None where it is constant.

    Raises:
        ArgumentError: its parameters don't fit each other, or it ends before the run does.
    """
    rule = schedules()[settings.schedule]
    if not rule.class_name:
        return None
    each = moves_each(settings.schedule, settings.schedule_each)
    length = settings.epochs * (steps_per_epoch if each == "batch" else 1)
    metric = str(_value(rule, "metric", settings.schedule_params)) if rule.measures else ""
    if not metric:
        _require_reach(rule, settings, length)
    return Schedule(_scheduler(rule, settings.schedule_params, settings.learning_rate, length), each, metric)


def make_optimizer(settings: Settings, schedule: Schedule | None, parameters: Iterable[Tensor]) -> Optimizer:
    """The optimizer that ``settings`` choose over ``parameters``.

    Its learning rate follows ``schedule`` where there is one.
    """
    rule = optimizers()[settings.optimizer]
    given = _arguments(rule, settings.optimizer_params, settings.learning_rate, 0)
    if settings.clip_norm:
        given["grad_clip"] = ClipGradByGlobalNorm(settings.clip_norm)
    rate = settings.learning_rate if schedule is None else schedule.scheduler
    made: Optimizer = getattr(optimizers_of_engine, rule.class_name)(
        learning_rate=rate, parameters=parameters, **given
    )
    return made


def trial_problem(values: Mapping[str, Any]) -> str:
    """Why the chosen schedule can't be made with its parameters; empty where it can."""
    rule = schedules()[values["schedule"]]
    if not rule.class_name:
        return ""
    try:
        _scheduler(rule, values.get("schedule_params", {}), values["learning_rate"], SOME_STEPS)
    except (EngineError, ArithmeticError) as error:
        return f"{error}; give {values['schedule']} parameters that fit each other"
    return ""


def _scheduler(rule: Rule, given: Mapping[str, Any], rate: float, length: int) -> Any:
    arguments = _arguments(rule, given, rate, length)
    if rule.rate:
        arguments[rule.rate] = rate
    if rule.measures:
        # A loss is to fall, an accuracy and R² are to rise.
        arguments["mode"] = "min" if arguments.pop("metric").endswith("loss") else "max"
    return getattr(lr, rule.class_name)(**arguments)


def _arguments(rule: Rule, given: Mapping[str, Any], rate: float, length: int) -> dict[str, Any]:
    """The parameters of ``rule`` as its constructor takes them, defaults included."""
    return {
        setting.name: _argument(setting, _value(rule, setting.name, given), rate, length)
        for setting in rule.parameters
    }


def _value(rule: Rule, name: str, given: Mapping[str, Any]) -> Any:
    setting = rule.parameter(name)
    assert setting is not None
    return given.get(name, setting.default)


def _argument(setting: Setting, value: Any, rate: float, length: int) -> Any:
    if setting.zero and value in (0, "none"):
        return {"run": length, "rate": rate}.get(setting.zero)
    if setting.kind == "float":
        return float(value)
    return list(value) if isinstance(value, list | tuple) else value


def _require_reach(rule: Rule, settings: Settings, length: int) -> None:
    """Refuse a schedule that ends before the run: better before it than in its middle."""
    try:
        _scheduler(rule, settings.schedule_params, settings.learning_rate, length).step(length)
    except (EngineError, ArithmeticError) as error:
        raise ArgumentError(
            f"schedule: {settings.schedule} can't continue to the end of the run: {error}; the "
            f"run has {length} "
            "such steps: give it at least as many, or 0 for the whole run"
        ) from error
