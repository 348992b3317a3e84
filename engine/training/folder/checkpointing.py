"""What a checkpoint contains, and how a training resumes from it bit for bit."""

from __future__ import annotations

from typing import Any

from engine.core.errors import EngineError, FormatError
from engine.training.config import TrainingConfig
from engine.training.environment import computing
from engine.training.folder.retained_events import RetainedEvents
from engine.training.kernel_swap import KernelSwap
from engine.training.randomness import random_state, set_random_state
from engine.training.reporting.progress import History, Progress
from engine.training.setup import Parts
from engine.training.stepper import arrays_of


def checkpoint_tree(
    config: TrainingConfig, progress: Progress, history: History, parts: Parts, kernels: KernelSwap
) -> dict[str, Any]:
    """The training as plain values and arrays.

    ``model`` and ``optimizer`` (state dicts), ``random`` (all generators), ``loader`` (the place in the epoch
    and its order), ``progress`` (counters, best value), ``history`` (the newest points, all epochs), ``data``
    (classes, the shape of a sample, how it is prepared), ``kernels`` (since when compiled ones),
    ``computing`` (what else the last bits of sums depend on) and ``config``.
    """
    return {
        "config": config.as_dict(),
        "computing": computing(),
        "progress": progress.state(),
        "random": random_state(),
        "loader": parts.batches.state_dict(),
        "history": history.state(),
        "data": {
            "classes": list(parts.classes),
            "shape": list(parts.shape),
            "prepare": parts.prepare,
            **({} if parts.spec is None else {"spec": parts.spec.as_plain()}),
        },
        "kernels": kernels.state(),
        **arrays_of(parts.stepper.state_dict()),
    }


def restore(tree: dict[str, Any], progress: Progress, history: History, parts: Parts) -> RetainedEvents:
    """Restore the state that ``checkpoint_tree`` saved, and return its extent.

    Random numbers are the last, since restoring the rest may draw some.

    Raises:
        FormatError: the tree is not a checkpoint of such a training. ArgumentError: it is one of another
            model or other data.
    """
    try:
        parts.stepper.set_state_dict(tree)
        progress.set_state(tree["progress"])
        if not progress.epoch_trained:  # else the next epoch draws an order of its own
            parts.batches.set_state_dict(tree["loader"])
        history.set_state(tree["history"])
        set_random_state(tree["random"])
        return RetainedEvents(
            progress.step, frozenset((int(done["epoch"]), int(done["step"])) for done in history.epochs)
        )
    except EngineError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise FormatError(
            f"resume: the checkpoint does not fit this training: {type(error).__name__} at {error}; "
            "resume from another checkpoint or start a new run"
        ) from error
