"""The base of the learning rate schedules."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from engine.core.errors import ArgumentError, ConditionError, DTypeError, ModeError


class LRScheduler:
    """Base of the schedules: a subclass computes the rate of ``self.last_epoch`` in ``get_lr()``.

    ``last_epoch`` counts calls of ``step()`` from 0 (creation makes the first). A call of the schedule
    returns the current rate. With ``verbose`` each change is printed.
    """

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (float, int)):
            raise DTypeError(
                f"{type(self).__name__}: learning_rate is a number: got {type(learning_rate).__name__}; pass "
                "e.g. 0.1"
            )
        require(type(self).__name__, "learning_rate must not be negative", learning_rate >= 0, learning_rate)
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self.step()

    def __call__(self) -> float:
        """The current rate."""
        return self.last_lr

    def get_lr(self) -> float:
        """The rate of ``self.last_epoch``."""
        raise ModeError(
            f"{type(self).__name__}: has no get_lr; define get_lr(self) in the class, it gives the rate of "
            "last_epoch"
        )

    def step(self, epoch: int | None = None) -> None:
        """Move to the next epoch, or to ``epoch``."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        self.last_lr = self.get_lr() if epoch is None or closed is None else closed()
        self._report()

    def _report(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def state_keys(self) -> None:
        """Name the fields that the state dict holds in ``self.keys``."""
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        """The fields that ``set_state_dict`` needs to continue."""
        self.state_keys()
        fields = vars(self)
        return {
            key: float(fields[key]) if hasattr(fields[key], "item") else fields[key]
            for key in self.keys
            if key in fields
        }

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from ``state_dict``. Raises ArgumentError where a field is missing."""
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise ArgumentError(
                    f"{type(self).__name__}: the state has no {key!r}: got {sorted(state_dict)}; load the "
                    "state of the same kind of schedule"
                )
            vars(self)[key] = state_dict[key]
        if len(state_dict) > len(self.keys) + len(self._more_keys()):
            warnings.warn(
                f"{type(self).__name__}: the state has more than {self.keys}: got {sorted(state_dict)}; it "
                "may be that of another kind of schedule",
                stacklevel=2,
            )

    def _more_keys(self) -> tuple[str, ...]:
        """The keys that the state dict may hold beyond plain fields."""
        return ()

    set_dict = set_state_dict


def require(where: str, what: str, holds: bool, got: object) -> None:
    """Raise ConditionError where a condition on an argument does not hold."""
    if not holds:
        raise ConditionError(f"{where}: {what}: got {got!r}")


def require_number(where: str, name: str, value: object) -> None:
    """Raise DTypeError unless ``value`` is a number."""
    if isinstance(value, bool) or not isinstance(value, (float, int)):
        raise DTypeError(f"{where}: {name} is a number: got {value!r}")


def require_whole(where: str, name: str, value: object) -> None:
    """Raise DTypeError or ConditionError unless ``value`` is an integer above 0."""
    if type(value) is not int:
        raise DTypeError(f"{where}: {name} is an integer above 0: got {value!r}")
    require(where, f"{name} is an integer above 0", value > 0, value)
