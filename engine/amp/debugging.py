"""``paddle.amp.debugging``: counts of operators by dtype, and checks for nan and infinity."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import numpy as np

from engine.amp.casting import require_dynamic
from engine.core.errors import ArgumentError, ConditionError, ModeError
from engine.core.random.generator import default_generator
from engine.eager import counting
from engine.eager.checks import check_values
from engine.eager.tensor import Tensor
from engine.framework.flags import get_flags, set_flags
from engine.ops.control.check_numerics import check_numerics as look_at
from engine.tensor.tensor_like import AnyTensor

__all__ = [
    "DebugMode",
    "TensorCheckerConfig",
    "check_layer_numerics",
    "check_numerics",
    "collect_operator_stats",
    "disable_operator_stats_collection",
    "disable_tensor_checker",
    "enable_operator_stats_collection",
    "enable_tensor_checker",
]

_COUNTING = "FLAGS_low_precision_op_list"


class DebugMode(Enum):
    """What a check does: raise at nan or infinity, report them, report overflow, report every tensor."""

    CHECK_NAN_INF_AND_ABORT = 0
    CHECK_NAN_INF = 1
    CHECK_ALL_FOR_OVERFLOW = 2
    CHECK_ALL = 3


# -- counts --------------------------------------------------------------------------------------------------
def enable_operator_stats_collection() -> None:
    """Count the operators that are applied from here on, by name and dtype."""
    require_dynamic("enable_operator_stats_collection")
    counting.clear()
    set_flags({_COUNTING: 1})


def disable_operator_stats_collection() -> None:
    """Print the table of counts and stop counting; nothing happens where nothing is counted."""
    require_dynamic("disable_operator_stats_collection")
    if not get_flags(_COUNTING)[_COUNTING]:
        return
    print_operator_stats(counting.counts())
    set_flags({_COUNTING: 0})


@contextmanager
def collect_operator_stats() -> Iterator[None]:
    """Count the operators of the block and print the table at its end."""
    enable_operator_stats_collection()
    yield
    disable_operator_stats_collection()


def print_operator_stats(counts: dict[str, list[int]]) -> None:
    """Print calls by operator in four columns: float16, bfloat16, float32 and other dtypes."""
    print(f"<{' op list ':-^120}>")
    columns = (
        f"{' FP16 Calls ':-^17}",
        f"{' BF16 Calls ':-^17}",
        f"{' FP32 Calls':-^17}",
        f"{' Other Calls ':-^17}>",
    )
    print(" | ".join((f"<{' Op Name ':-^40}", *columns)))
    for name in sorted(counts):
        print("  " + "|  ".join((f"{name:<40}", *(f"{n:<17}" for n in counts[name]))))
    print(f"<{f' op count: {len(counts)} ':-^120}>\n")


# -- checks --------------------------------------------------------------------------------------------------
def check_numerics(
    tensor: AnyTensor, op_type: str, var_name: str, debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT
) -> tuple[Any, Any]:
    """How many elements are nan, infinite and zero (int64 [3]), and maximum, minimum and mean (float32 [3]).

    A line is printed where there is nan or infinity, and always in mode ``CHECK_ALL``; it contains
    ``op_type`` and ``var_name``. Raises NotFiniteError in mode ``CHECK_NAN_INF_AND_ABORT``.
    """
    stats, values = look_at(
        tensor, op_type=op_type, var_name=var_name, check_nan_inf_level=DebugMode(debug_mode).value
    )
    return stats, values


def check_layer_numerics(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a Layer's ``forward``: nan and infinity within it raise NotFiniteError.

    Raises ModeError where the first argument is not a Tensor.
    """

    @functools.wraps(func)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args:
            raise ModeError(f"{func.__qualname__}: No elements found in args.: pass the input by position")
        if not isinstance(args[0], Tensor):
            raise ModeError(
                f"{func.__qualname__}: First input of this layer must be tensor.: got {args[0]!r}"
            )
        flags = get_flags(["FLAGS_check_nan_inf", "FLAGS_check_nan_inf_level"])
        set_flags({"FLAGS_check_nan_inf": True, "FLAGS_check_nan_inf_level": 0})
        try:
            return func(self, *args, **kwargs)
        finally:
            set_flags(flags)

    return wrapper


class TensorCheckerConfig:
    """What ``enable_tensor_checker`` checks.

    ``checked_op_list`` and ``skipped_op_list`` hold names of operators; by default all are checked.
    ``debug_step`` is a pair: calls of ``enable_tensor_checker`` from the first number on, before the second,
    check. An enabled config seeds the generators of Paddle, NumPy and Python with Paddle's own seed. Raises
    ArgumentError for other kinds of values.
    """

    current_step_id = 0

    def __init__(
        self,
        enable: bool,
        debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir: str | None = None,
        checked_op_list: Sequence[str] | None = None,
        skipped_op_list: Sequence[str] | None = None,
        debug_step: Sequence[int] | None = None,
        stack_height_limit: int = 1,
    ) -> None:
        self.enable, self.debug_mode, self.output_dir = enable, DebugMode(debug_mode), output_dir
        self.checked_op_list = _names("checked_op_list", checked_op_list)
        self.skipped_op_list = _names("skipped_op_list", skipped_op_list)
        if not isinstance(stack_height_limit, int):
            raise ArgumentError(
                f"TensorCheckerConfig: stack_height_limit must be int: got {stack_height_limit!r}"
            )
        self.stack_height_limit = stack_height_limit
        self.debug_step, self.start_step, self.end_step = debug_step, None, None
        if debug_step is not None:
            if not isinstance(debug_step, (list, tuple)):
                raise ArgumentError(
                    f"TensorCheckerConfig: debug_step must be list or tuple: got {type(debug_step).__name__}"
                )
            if len(debug_step) != 2 or not debug_step[1] > debug_step[0]:
                raise ConditionError(
                    f"TensorCheckerConfig: debug_step must be a pair of growing numbers: got {debug_step}"
                )
            self.start_step, self.end_step = max(debug_step[0], 0), debug_step[1]
        self.initial_seed = default_generator().initial_seed()
        self.seed = 123
        if enable:
            self._set_seed()

    def _set_seed(self) -> None:
        self.seed = self.initial_seed
        if not 0 <= self.seed <= np.iinfo(np.uint32).max:
            print("[Warnning: Seed must be between 0 and 2**32 - 1")
            self.seed = 123
        default_generator().manual_seed(self.seed)
        np.random.seed(self.seed)
        random.seed(self.seed)
        print("AMP Debugging TensorCheckerConfig: seed ", self.seed)
        set_flags({"FLAGS_cpu_deterministic": True})
        print("AMP Debugging TensorCheckerConfig: FLAGS_cpu_deterministic is ", True)

    def update_and_check_step_id(self) -> bool:
        """Whether this step is checked; counts the steps that are."""
        if not self.enable:
            return False
        if self.start_step is not None and self.end_step is not None:
            if not self.start_step <= TensorCheckerConfig.current_step_id < self.end_step:
                return False
            TensorCheckerConfig.current_step_id += 1
        return True

    def start_check_nan_inf(self) -> None:
        """Check the results of operators from here on, where the config is enabled."""
        if self.enable:
            level = self.debug_mode.value
            set_flags({"FLAGS_check_nan_inf": True, "FLAGS_check_nan_inf_level": level})
            check_values(True, level, self._looks_at)

    def stop_check_nan_inf(self) -> None:
        """Check no more."""
        set_flags({"FLAGS_check_nan_inf": False})

    def _looks_at(self, name: str) -> bool:
        checked, skipped = self.checked_op_list, self.skipped_op_list
        return (not checked or name in checked) and name not in (skipped or ())


def _names(where: str, names: Sequence[str] | None) -> list[str] | None:
    if names is not None and not isinstance(names, (list, tuple)):
        raise ArgumentError(f"TensorCheckerConfig: {where} must be list or tuple: got {type(names).__name__}")
    return None if names is None else list(names)


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Check results from here on as ``checker_config`` says, or no more where its steps are over."""
    if checker_config.update_and_check_step_id():
        checker_config.start_check_nan_inf()
    else:
        checker_config.stop_check_nan_inf()


def disable_tensor_checker() -> None:
    """Check no more."""
    set_flags({"FLAGS_check_nan_inf": False})
