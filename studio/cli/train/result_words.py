"""The figures of a training in words: of an epoch, and of its end next to what simple models reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resources.metrics import balanced_accuracy
from resources.quantities import loss, percent

if TYPE_CHECKING:
    from engine.training.result import RunResult
    from resources.training_events import Baseline, Epoch


def epoch_words(event: Epoch, started: Mapping[str, Any]) -> str:
    """An epoch in one line; ``started`` is the first event of the run."""
    split = _split(started)
    words = f"epoch {event['epoch']}: loss {loss(event['train_loss'])}, "
    words += f"{split} loss {loss(event['validation_loss'])}"
    if "validation_accuracy" in event:
        words += f", {split} accuracy {percent(event['validation_accuracy'])}"
    if "validation_top5" in event:
        words += f", top-5 {percent(event['validation_top5'])}"
    if "validation_r2" in event:
        words += f", {split} {numbers_words(event['validation_r2'], event['validation_mae'], started)}"
    return words


def result_words(
    result: RunResult,
    started: Mapping[str, Any],
    baseline: Baseline | None,
    confusion: Sequence[Sequence[int]] = (),
) -> str:
    """What a run has reached, what the simple models reach, and the figures of the test where the best
    checkpoint was chosen on other data.

    Args:
        confusion: of the last epoch: where classes differ in size, their balanced accuracy is said too.
    """
    split = _split(started)
    if result.task == "numbers":
        measured = result.validation_metric == result.validation_metric
        reached = numbers_words(result.validation_metric, result.validation_mae, started)
        words = f"{split} {reached} (best R² {loss(result.best_metric)})" if measured else "nothing measured"
    else:
        words = (
            f"{split} accuracy {percent(result.validation_accuracy)} (best {percent(result.best_accuracy)})"
        )
        balanced = balanced_accuracy(confusion) if _is_unequal(confusion) else None
        words += f", balanced {percent(balanced)}" if balanced is not None else ""
    if baseline is not None:
        words += f"; {baseline_words(baseline, started)}"
    tested = result.tested
    if "test_accuracy" in tested:
        words += f"; test accuracy of the best {percent(tested['test_accuracy'])}"
    elif "test_r2" in tested:
        words += f"; of the best, test {numbers_words(tested['test_r2'], tested['test_mae'], started)}"
    return words


def baseline_words(baseline: Baseline, started: Mapping[str, Any]) -> str:
    """What the most frequent class, or the mean, and a linear model reach."""
    constant, linear = baseline["constant"], baseline.get("linear")
    if "accuracy" in constant:
        words = f"majority class {percent(constant['accuracy'])}"
        return f"{words}, linear model {percent(linear['accuracy'])}" if linear is not None else words
    words = f"mean {numbers_words(constant['r2'], constant['mae'], started)}"
    if linear is None:
        return words
    return f"{words}, linear model {numbers_words(linear['r2'], linear['mae'], started)}"


def numbers_words(r2: float, mae: float, started: Mapping[str, Any]) -> str:
    """R², and the mean absolute error with the unit that all targets share."""
    units = {str(unit) for unit in started.get("units", ())}
    unit = units.pop() if len(units) == 1 else ""
    return f"R² {loss(r2)}, MAE {loss(mae, unit)}"


def _is_unequal(confusion: Sequence[Sequence[int]]) -> bool:
    """Whether the largest class has more than one and a half times as many samples as the smallest."""
    sizes = [sum(row) for row in confusion]
    return bool(sizes) and 2 * max(sizes) > 3 * min(sizes)


def _split(started: Mapping[str, Any]) -> str:
    return "validation" if started.get("chosen_on") == "validation" else "test"
