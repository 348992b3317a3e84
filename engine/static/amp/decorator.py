"""``static.amp.decorate``: an optimizer that trains a Program in mixed precision, with loss scaling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core import mode as modes
from engine.core import names
from engine.core.errors import ArgumentError, ModeError, UnreadyError
from engine.core.place import PlaceLike
from engine.core.strictness import warn_at_user
from engine.ops.elementwise import arithmetic
from engine.ops.training import loss_scaling
from engine.optimizer import Optimizer
from engine.program.build.annotate import marked
from engine.program.build.builder import Builder
from engine.program.graph.program import OPTIMIZE, Program
from engine.program.graph.variable import Variable
from engine.program.run.executor import default_startup_program, program_guard
from engine.program.run.scope import Scope
from engine.static.amp.fp16_lists import AutoMixedPrecisionLists, check_amp_dtype
from engine.static.amp.fp16_utils import cast_model_to_fp16, cast_parameters_to_fp16
from engine.static.parameters import create_global_var
from engine.tensor.tensor_like import AnyTensor

_ONLY_OLD = {"use_pure_fp16", "use_fp16_guard", "use_bf16"}
_OLD = (
    "optimizer",
    "amp_lists",
    "init_loss_scaling",
    "incr_every_n_steps",
    "decr_every_n_nan_or_inf",
    "incr_ratio",
    "decr_ratio",
    "use_dynamic_loss_scaling",
    "use_pure_fp16",
    "use_fp16_guard",
    "use_bf16",
    "use_promote",
)
_NEW = (
    "optimizer",
    "amp_lists",
    "level",
    "dtype",
    "master_weight",
    "master_grad",
    "init_loss_scaling",
    "incr_every_n_steps",
    "decr_every_n_nan_or_inf",
    "incr_ratio",
    "decr_ratio",
    "use_dynamic_loss_scaling",
    "use_amp_guard",
    "use_promote",
)


class OptimizerWithMixedPrecision:
    """An optimizer whose ``minimize`` inserts casts, scales the loss and skips steps with nan or inf.

    Unknown attributes are those of the optimizer. Without dynamic scaling the scale is a constant; bfloat16
    needs none.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        amp_lists: AutoMixedPrecisionLists,
        level: str,
        dtype: str,
        init_loss_scaling: float,
        use_dynamic_loss_scaling: bool,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int,
        incr_ratio: float,
        decr_ratio: float,
        use_amp_guard: bool = False,
        use_master_grad: bool = False,
        use_promote: bool = False,
    ) -> None:
        self._optimizer, self._amp_lists, self._amp_level, self._dtype = optimizer, amp_lists, level, dtype
        if dtype == "bfloat16" and use_dynamic_loss_scaling:
            use_dynamic_loss_scaling, init_loss_scaling = False, 1.0
            warn_at_user(
                "Dynamic loss scaling for bfloat16 amp training is disabled, and the init_loss_scaling is "
                "changed to 1.0 automatically by PaddlePaddle.",
                UserWarning,
            )
        self._use_dynamic_loss_scaling = use_dynamic_loss_scaling
        self._init_loss_scaling = init_loss_scaling
        self._steps = {
            "incr_every_n_steps": int(incr_every_n_steps),
            "decr_every_n_nan_or_inf": int(decr_every_n_nan_or_inf),
            "incr_ratio": float(incr_ratio),
            "decr_ratio": float(decr_ratio),
        }
        self._use_fp16_guard, self._use_promote = bool(use_amp_guard), use_promote
        self._use_master_grad = use_master_grad and level == "O2"
        self._train_program: Program | None = None
        self._startup: Program | None = None
        self._low_names: set[str] = set()
        self._loss_scaling: Variable | None = None
        self._scaled_loss: Variable | None = None
        self._counts: tuple[Variable, Variable] | None = None

    def __getattr__(self, name: str) -> Any:
        if name == "_optimizer":
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def get_loss_scaling(self) -> Variable:
        """The Variable that holds the scale. Raises UnreadyError before ``minimize``."""
        if self._loss_scaling is None:
            raise UnreadyError(
                "get_loss_scaling: Please call minimize() before calling get_loss_scaling().: got no Program"
            )
        return self._loss_scaling

    def get_scaled_loss(self) -> Variable | None:
        """The loss times the scale; None before ``minimize``."""
        return self._scaled_loss

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
        callbacks: object = None,
    ) -> list[tuple[Any, Any]]:
        """Insert casts and the scaled loss, and append the gradients; returns pairs with scaled gradients."""
        program = self._train_program = loss.block.program
        self._startup = startup_program or default_startup_program()
        with program_guard(program, self._startup):
            self._loss_scaling = _global("loss_scaling", self._init_loss_scaling, "float32")
            if self._use_dynamic_loss_scaling:
                self._counts = _global("num_good_steps", 0, "int32"), _global("num_bad_steps", 0, "int32")
            self._low_names = self._cast_program(program)
            if loss.dtype.name != "float32":
                loss = arithmetic.cast(loss, out_dtype="float32")
            scaled = loss
            if self._use_dynamic_loss_scaling or self._init_loss_scaling != 1.0:
                scaled = loss * self._loss_scaling
            self._scaled_loss = scaled
            pairs: list[tuple[Any, Any]] = self._optimizer.backward(
                scaled, startup_program, parameter_list, no_grad_set, callbacks
            )
        return pairs

    def _cast_program(self, program: Program) -> set[str]:
        pure = self._amp_level == "O2"
        return cast_model_to_fp16(
            program,
            self._amp_lists,
            pure and self._use_fp16_guard,
            self._dtype,
            self._amp_level,
            self._use_promote,
        )

    def apply_gradients(self, params_grads: list[tuple[Any, Any]]) -> list[Any]:
        """Append the step for gradients of the scaled loss."""
        program, startup, scale = self._train_program, self._startup, self._loss_scaling
        if program is None or scale is None:
            raise UnreadyError("apply_gradients: got no Program; call backward() first")
        found = None
        with modes.use(Builder(program, startup=startup)), marked(op_role=OPTIMIZE):
            if self._use_master_grad:
                params_grads = [
                    (p, g if g.dtype.itemsize >= 4 else arithmetic.cast(g, out_dtype="float32"))
                    for p, g in params_grads
                ]
            if self._use_dynamic_loss_scaling or self._init_loss_scaling != 1.0:
                *made, found = loss_scaling.check_finite_and_unscale([g for _, g in params_grads], scale)
                for (_, gradient), value in zip(params_grads, made, strict=True):
                    value.shown_name = gradient.shown_name or gradient.name
                params_grads = [(p, value) for (p, _), value in zip(params_grads, made, strict=True)]
            if self._counts is not None:
                loss_scaling.update_loss_scaling(found, scale, *self._counts, **self._steps)
        self._optimizer._skip_update = found
        try:
            return self._optimizer._static.apply(program, params_grads, startup)
        finally:
            self._optimizer._skip_update = None

    def apply_optimize(
        self, loss: Variable, startup_program: Program | None, params_grads: list[tuple[Any, Any]]
    ) -> list[Any]:
        """Append the step; see ``apply_gradients``."""
        return self.apply_gradients(params_grads)

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Append gradients and one step on ``loss``; returns the operators and the pairs."""
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        return self.apply_optimize(loss, startup_program, pairs), pairs

    def amp_init(
        self,
        place: PlaceLike | None,
        scope: Scope | None = None,
        test_program: Program | None = None,
        use_fp16_test: bool = False,
        rewrite_master_weight: bool = False,
    ) -> None:
        """After the startup Program ran: convert the parameters that level O2 keeps in the low dtype.

        ``test_program`` gets the same casts, at O1 with ``use_fp16_test``. Raises UnreadyError before
        ``minimize``.
        """
        if self._train_program is None:
            raise UnreadyError("amp_init: Please call the minimize method first.: got no Program")
        if self._amp_level == "O2":
            masters = self._optimizer._static.masters
            cast_parameters_to_fp16(
                place,
                self._train_program,
                scope,
                self._low_names,
                self._dtype,
                rewrite_master_weight,
                masters,
            )
        if test_program is not None and (self._amp_level == "O2" or use_fp16_test):
            self._cast_program(test_program)


def _global(name: str, value: float, dtype: str) -> Variable:
    made: Variable = create_global_var([1], value, dtype, persistable=True, name=names.generate(name))
    made.stop_gradient = True
    return made


def decorate(*args: Any, **kwargs: Any) -> OptimizerWithMixedPrecision:
    """An optimizer that trains a Program in mixed precision.

    ``decorate(optimizer, amp_lists=None, level='O1', dtype='float16', master_weight=None, master_grad=False,
    init_loss_scaling=2**16, incr_every_n_steps=2000, decr_every_n_nan_or_inf=1, incr_ratio=2.0,
    decr_ratio=0.5, use_dynamic_loss_scaling=None, use_amp_guard=False, use_promote=False)``: levels as in
    ``amp.auto_cast``; ``master_weight`` other than False keeps float32 copies of low parameters at O2. The
    form of older scripts is ``decorate(optimizer, amp_lists=None, init_loss_scaling=2**15,
    incr_every_n_steps=1000, decr_every_n_nan_or_inf=2, incr_ratio=2.0, decr_ratio=0.8,
    use_dynamic_loss_scaling=True, use_pure_fp16=False, use_fp16_guard=None, use_bf16=False,
    use_promote=False)``.

    As in Paddle, Programs keep float32 on the CPU, with a warning, and the loss is scaled. Raises
    ArgumentError for another level, dtype or name of an argument, ModeError for another kind of optimizer.
    """
    old = bool(_ONLY_OLD & kwargs.keys()) or (len(args) >= 3 and isinstance(args[2], float))
    known = _OLD if old else _NEW
    given = dict(zip(known, args, strict=False))
    if len(args) > len(known) or kwargs.keys() - set(known) or kwargs.keys() & given.keys():
        raise ArgumentError(f"decorate: got {len(args)} values and {sorted(kwargs)}; it takes {list(known)}")
    given.update(kwargs)
    return _of_old_form(**given) if old else _of_new_form(**given)


def _of_old_form(
    optimizer: Any,
    amp_lists: AutoMixedPrecisionLists | None = None,
    init_loss_scaling: float = 2**15,
    incr_every_n_steps: int = 1000,
    decr_every_n_nan_or_inf: int = 2,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.8,
    use_dynamic_loss_scaling: bool = True,
    use_pure_fp16: bool = False,
    use_fp16_guard: bool | None = None,
    use_bf16: bool = False,
    use_promote: bool = False,
) -> OptimizerWithMixedPrecision:
    dtype = "bfloat16" if use_bf16 else "float16"
    return OptimizerWithMixedPrecision(
        optimizer,
        AutoMixedPrecisionLists(dtype=dtype) if amp_lists is None else amp_lists,
        "O2" if use_pure_fp16 else "O1",
        dtype,
        init_loss_scaling,
        use_dynamic_loss_scaling,
        incr_every_n_steps,
        decr_every_n_nan_or_inf,
        incr_ratio,
        decr_ratio,
        use_pure_fp16 if use_fp16_guard is None else use_fp16_guard,
        use_promote=use_promote,
    )


def _of_new_form(
    optimizer: Any,
    amp_lists: AutoMixedPrecisionLists | None = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    master_grad: bool = False,
    init_loss_scaling: float = 2**16,
    incr_every_n_steps: int = 2000,
    decr_every_n_nan_or_inf: int = 1,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.5,
    use_dynamic_loss_scaling: bool | None = None,
    use_amp_guard: bool = False,
    use_promote: bool = False,
) -> OptimizerWithMixedPrecision:
    level, dtype = level.upper(), check_amp_dtype(dtype)
    if level not in ("O0", "OD", "O1", "O2"):
        raise ArgumentError(f"decorate: level should be O0, OD, O1 or O2.: got {level!r}")
    if amp_lists is not None and level == "OD":
        warn_at_user("If the Amp level is set to OD, the amp list will not be used.", UserWarning)
        amp_lists = None
    if not isinstance(optimizer, Optimizer):
        raise ModeError(f"decorate: takes a paddle.optimizer.Optimizer: got {type(optimizer).__name__}")
    if level == "O2" and master_weight is not False:
        optimizer._multi_precision = True
    return OptimizerWithMixedPrecision(
        optimizer,
        AutoMixedPrecisionLists(dtype=dtype) if amp_lists is None else amp_lists,
        level,
        dtype,
        init_loss_scaling,
        dtype == "float16" if use_dynamic_loss_scaling is None else use_dynamic_loss_scaling,
        incr_every_n_steps,
        decr_every_n_nan_or_inf,
        incr_ratio,
        decr_ratio,
        use_amp_guard,
        master_grad,
        use_promote,
    )
