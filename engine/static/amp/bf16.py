"""``paddle.static.amp.bf16``: static Programs that compute in bfloat16 on the CPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.amp.amp_lists import BF16_WHITE_LIST
from engine.core.errors import ArgumentError, UnreadyError
from engine.core.operators.opdef import OPS
from engine.core.place import PlaceLike
from engine.core.values import bfloat
from engine.ops.elementwise import arithmetic
from engine.optimizer import Optimizer
from engine.program.build.annotate import name_scope
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.run.executor import default_startup_program, program_guard
from engine.program.run.scope import Scope
from engine.static.amp import fp16_lists
from engine.static.amp.fp16_utils import Caster, cast_parameters_to_fp16
from engine.tensor.tensor_like import AnyTensor, TensorLike

_GUARD = "__use_bf16__"
_OTHERS = (fp16_lists.black_list | fp16_lists.white_list) - BF16_WHITE_LIST - fp16_lists.gray_list


class AutoMixedPrecisionListsBF16:
    """Operators by name: ``bf16_list`` in bfloat16, ``fp32_list`` in float32, gray ones as those before them.

    ``custom_fp32_varnames`` keeps the operators of these Variables in float32. Raises ArgumentError for a
    name in both custom lists.
    """

    def __init__(
        self,
        custom_bf16_list: Iterable[str] | None = None,
        custom_fp32_list: Iterable[str] | None = None,
        custom_fp32_varnames: Iterable[str] | None = None,
    ) -> None:
        more, less = set(custom_bf16_list or ()), set(custom_fp32_list or ())
        if both := sorted(more & less):
            raise ArgumentError(
                f"AutoMixedPrecisionListsBF16: Custom bf16 list overlap custom fp32 list: got {both} in both"
            )
        self.bf16_list = (BF16_WHITE_LIST | more) - less
        self.fp32_list = (_OTHERS - more) | less
        self.gray_list = fp16_lists.gray_list - more - less
        self.bf16_initializer_list = {"fill_constant", "uniform_random"}
        self.unsupported_list = (set(OPS) - BF16_WHITE_LIST - fp16_lists.gray_list) | less
        self.fp32_varnames = None if custom_fp32_varnames is None else set(custom_fp32_varnames)
        # The names that casting goes by.
        self.white_list, self.black_list, self.black_varnames = (
            self.bf16_list,
            self.fp32_list,
            self.fp32_varnames,
        )


class _Caster(Caster):
    """At level O1 the fp32_list alone decides, and what no list holds computes in float32."""

    def _is_unsupported(self, operator: Any) -> bool:
        if self.level == "O1":
            return False
        name = operator.opdef.name
        scope = (operator.notes or {}).get("attrs", {}).get("op_namescope", "")
        return name in self.lists.unsupported_list or (self.guarded and _GUARD not in scope)


@contextmanager
def bf16_guard() -> Iterator[None]:
    """Mark the operators of the block: with ``use_bf16_guard`` they alone compute in bfloat16."""
    with name_scope(_GUARD):
        yield


def convert_float_to_uint16(in_list: TensorLike) -> np.ndarray[Any, Any]:
    """The bits of numbers as bfloat16, the lower half of their float32 cut off."""
    found: np.ndarray[Any, Any] = bfloat.plain(bfloat.narrow(np, np.asarray(in_list, np.float32)))
    return found


def rewrite_program_bf16(main_prog: Program, amp_lists: AutoMixedPrecisionListsBF16 | None = None) -> None:
    """Insert casts so that the operators of the lists compute in bfloat16; parameters stay float32."""
    lists = AutoMixedPrecisionListsBF16() if amp_lists is None else amp_lists
    _Caster(main_prog, lists, "bfloat16", "O1", False, False).cast()


def cast_model_to_bf16(
    program: Program,
    startup_prog: Program | None = None,
    amp_lists: AutoMixedPrecisionListsBF16 | None = None,
    use_bf16_guard: bool = True,
) -> set[str]:
    """Let the operators that the lists allow compute in bfloat16; with ``use_bf16_guard`` those of guards.

    Returns the names to give to ``cast_parameters_to_bf16``.
    """
    lists = AutoMixedPrecisionListsBF16() if amp_lists is None else amp_lists
    return _Caster(program, lists, "bfloat16", "O2", use_bf16_guard, False).cast()


def cast_parameters_to_bf16(
    place: PlaceLike | None,
    program: Program,
    scope: Scope | None = None,
    to_bf16_var_names: Iterable[str] | None = None,
) -> None:
    """Convert the values of these parameters to bfloat16."""
    cast_parameters_to_fp16(place, program, scope, to_bf16_var_names, "bfloat16")


class OptimizerWithMixedPrecision:
    """An optimizer whose ``minimize`` first makes the Program compute in bfloat16.

    Unknown attributes are those of the optimizer.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        amp_lists: AutoMixedPrecisionListsBF16,
        use_pure_bf16: bool,
        use_bf16_guard: bool,
    ) -> None:
        self._optimizer, self._amp_lists = optimizer, amp_lists
        self._use_pure_bf16, self._use_bf16_guard = use_pure_bf16, use_bf16_guard
        self._train_program: Program | None = None
        self._low_names: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name == "_optimizer":
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
        callbacks: object = None,
    ) -> list[tuple[Any, Any]]:
        """Insert casts and append the gradients."""
        program = self._train_program = loss.block.program
        with program_guard(program, startup_program or default_startup_program()):
            if self._use_pure_bf16:
                self._low_names = cast_model_to_bf16(
                    program, startup_program, self._amp_lists, self._use_bf16_guard
                )
            else:
                rewrite_program_bf16(program, self._amp_lists)
            if loss.dtype.name != "float32":
                loss = arithmetic.cast(loss, out_dtype="float32")
            pairs: list[tuple[Any, Any]] = self._optimizer.backward(
                loss, startup_program, parameter_list, no_grad_set, callbacks
            )
        return pairs

    def apply_gradients(self, params_grads: list[tuple[Any, Any]]) -> Any:
        """Append the step."""
        return self._optimizer.apply_gradients(params_grads)

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Append gradients and one step on ``loss``; returns the operators and the pairs."""
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        return self._optimizer._static.apply(loss.block.program, pairs, startup_program), pairs

    def amp_init(
        self,
        place: PlaceLike | None,
        scope: Scope | None = None,
        test_program: Program | None = None,
        use_bf16_test: bool = False,
    ) -> None:
        """After the startup Program ran: convert the parameters that are stored in bfloat16.

        ``test_program`` gets the same casts. Raises UnreadyError before ``minimize``.
        """
        if self._train_program is None:
            raise UnreadyError("amp_init: Please call the minimize method first.: got no Program")
        if self._use_pure_bf16:
            cast_parameters_to_bf16(place, self._train_program, scope, self._low_names)
        if test_program is not None:
            if self._use_pure_bf16:
                cast_model_to_bf16(test_program, None, self._amp_lists, self._use_bf16_guard)
            elif use_bf16_test:
                rewrite_program_bf16(test_program, self._amp_lists)


def decorate_bf16(
    optimizer: Optimizer,
    amp_lists: AutoMixedPrecisionListsBF16 | None = None,
    use_pure_bf16: bool = False,
    use_bf16_guard: bool | None = None,
) -> OptimizerWithMixedPrecision:
    """An optimizer that trains a Program in bfloat16: by lists, or with ``use_pure_bf16`` all that can."""
    lists = AutoMixedPrecisionListsBF16() if amp_lists is None else amp_lists
    guard = use_pure_bf16 if use_bf16_guard is None else use_bf16_guard
    return OptimizerWithMixedPrecision(optimizer, lists, use_pure_bf16, guard)
