"""Variable and Parameter: named places in a Block."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core import mode as modes
from engine.core.attached import Attached
from engine.core.containers.nest import flatten
from engine.core.errors import BranchError, ConversionError, EngineError, NoValueError
from engine.core.frames import located, of_paddle_1, user_frame
from engine.core.operators.operator import Operator
from engine.core.values.dtype import DType
from engine.core.values.spec import Spec
from engine.core.values.var_type import VarType
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import shape as shape_ops
from engine.ops.elementwise import arithmetic as arithmetic_ops
from engine.ops.reductions import reduce as reduce_ops
from engine.program.graph import delegates
from engine.program.graph.unknown import Unknown

if TYPE_CHECKING:
    from engine.eager.tensor import Tensor
    from engine.program.graph.program import Block


CONDITION = (
    "write the condition in code that to_static converts (if, while, and, or, not), or move it out of the "
    "graph"
)


class Count(int):
    """A number of elements; called it is a Variable."""

    variable: Variable

    def __call__(self) -> Any:
        return self.variable.count()


def kind_error(where: str, kinds: tuple[Spec, Spec]) -> BranchError:
    """The error of a use of a value whose rank or dtype a Tensor decides."""
    same = kinds[0].dtype is kinds[1].dtype
    how = "returned or computed with element by element" if same else "returned"
    what = "rank" if same else "dtype"
    return BranchError(
        f"{where}: a Tensor decides whether the value is {kinds[0]} or {kinds[1]}; it can only be {how}; "
        f"make both sides of the branch of one {what}"
    )


class Variable(Attached):
    """A named place in a Block: shape (-1 where unknown) and dtype, no data.

    ``tensor`` is the eager Tensor that a parameter or buffer shares its storage with; a persistable Variable
    without one has its value in the Scope that an Executor runs in. Operators and methods are those of
    Tensor, attached by the same table; they append to the Block.
    """

    _symbolic = True
    __array_ufunc__ = None  # NumPy's numbers and arrays leave arithmetic to the Variable's methods
    lod_level = 0
    waits = False  # whether its shape is that of what is appended to compute it
    need_check_feed = True  # whether what is fed must have its shape
    grows = False  # whether its first dimension is the length of a tensor array
    kinds: tuple[Spec, Spec] | None = None  # of two sides of a branch with different ranks or dtypes
    number: float | None = None  # 0, 0.0 or False where eager code has an int, float or bool
    decided: bool | None = None  # of a comparison with an unknown dimension: that with -1
    type = VarType.LOD_TENSOR

    def __init__(
        self,
        block: Block,
        name: str,
        spec: Spec,
        *,
        persistable: bool = False,
        stop_gradient: bool = True,
        is_parameter: bool = False,
        is_data: bool = False,
        tensor: Tensor | None = None,
    ) -> None:
        self.block = block
        self.name = name
        self.spec = spec
        self.persistable = persistable
        self.stop_gradient = stop_gradient
        self.is_parameter = is_parameter
        self.is_data = is_data
        self.tensor: Any = tensor
        # Paddle's flag, if it differs: it lets integers computed from trained values have gradients.
        self.shown_stop_gradient: bool | None = None
        self.shown_name: str | None = None
        self.shown_spec: Spec | None = None

    @property
    def shape(self) -> tuple[Any, ...]:
        """The dimensions; an unknown one equals -1 and becomes a Variable in arithmetic."""
        self._require_rank("shape")
        if self.spec.known:
            return self.spec.shape
        return tuple([self._unknown(n) if d < 0 else d for n, d in enumerate(self.spec.shape)])

    def _require_rank(self, where: str) -> None:
        if self.kinds is not None and modes.current().training is not None:
            raise located(kind_error(where, self.kinds), user_frame())

    def _unknown(self, axis: int) -> Unknown:
        return Unknown(lambda: index_ops.slice_view(self._sizes(), index=(axis,)), self, axis)

    @property
    def dtype(self) -> DType:
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        self._require_rank("ndim")
        return self.spec.ndim

    rank = dim = ndimension = lambda self: self.ndim

    @property
    def size(self) -> Any:
        """Number of elements; where it is unknown it equals -1 and becomes a Variable in arithmetic.

        Called, as in Paddle's static mode, it gives the number as a Variable.
        """
        if self.spec.known:
            made = Count(self.spec.size)
            made.variable = self
            return made
        return Unknown(self.count)

    def count(self) -> Any:
        """The number of elements as an int64 Variable."""
        return reduce_ops.prod(self._sizes(), reduce_all=True)

    def _sizes(self) -> Any:
        return arithmetic_ops.cast(shape_ops.shape(self), out_dtype="int64")

    @property
    def trainable(self) -> bool:
        return self.is_parameter and not self.stop_gradient

    @property
    def grad_name(self) -> str:
        """The name that ``append_backward`` gives to its gradient."""
        return f"{self.name}@GRAD"

    @property
    def op(self) -> Operator | None:
        """The operator that writes it last; None for fed Variables and for the main Program's parameters."""
        for operator in reversed(self.block.ops):
            if any(written is self for written in flatten(operator.outputs or ())):
                return operator
        return None

    def __len__(self) -> int:
        if not self.spec.shape or self.spec.shape[0] < 0:
            error = ConversionError(
                f"len: the first dimension of {self.name!r} {self.spec} is not known before running; "
                "use shape(x)[0]"
            )
            raise located(error, user_frame())
        return self.spec.shape[0]

    # -- values --------------------------------------------------------------------------------------------
    def get_value(self, scope: delegates.ScopeValues | None = None) -> Tensor:
        """The value that a persistable Variable has in ``scope`` (the global one by default), as a Tensor.

        Raises ProgramError for a Variable that is not persistable or has no value yet.
        """
        return delegates.value_of(self, scope)

    def set_value(self, value: delegates.ValueLike, scope: delegates.ScopeValues | None = None) -> None:
        """Give a persistable Variable a value in ``scope``. Raises ShapeError or DTypeError if it can't."""
        delegates.give_value(self, np.asarray(value), scope)

    def _no_value(self, what: str, remedy: str = "") -> EngineError:
        error = NoValueError(
            f"{what}: {self.name!r} {self.spec} is a static Variable, its value is known only when the "
            f"Program runs; {remedy or CONDITION}"
        )
        return located(error, user_frame())

    def __bool__(self) -> bool:
        # Before 2.0 always true: scripts ask by ``if mask:`` whether there is one. A comparison's result is
        # meant otherwise.
        if self.spec.dtype.name != "bool" and of_paddle_1(user_frame()):
            return True
        if self.decided is not None:
            return self.decided
        raise self._no_value("bool()")

    def __int__(self) -> int:
        raise self._no_value("int()")

    def __float__(self) -> float:
        raise self._no_value("float()")

    def __index__(self) -> int:
        raise self._no_value("index")

    def __round__(self, ndigits: int | None = None) -> Any:
        raise self._no_value("round()", "use paddle.round")

    def __format__(self, spec: str) -> str:
        if spec:
            raise self._no_value(f"a text of the form {spec!r}", "print the Tensor itself")
        return str(self)

    def numpy(self) -> Any:
        """Raises: a Variable holds no data. Fetch it with an Executor."""
        raise self._no_value("numpy()", "fetch it with an Executor, or compute with the Variable itself")

    def item(self, *_: Any) -> Any:
        """The Variable itself where it has one element; raises otherwise: it holds no data."""
        if self.spec.known and self.spec.size == 1:
            return self
        raise self._no_value("item()", "fetch it with an Executor, or compute with the Variable itself")

    def tolist(self) -> Any:
        """Raises: a Variable holds no data."""
        raise self._no_value("tolist()", "fetch it with an Executor, or compute with the Variable itself")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self._no_value("a NumPy array", "compute with functions of this package in place of NumPy's")

    def backward(self, grad_tensor: Tensor | Variable | None = None, retain_graph: bool = False) -> None:
        """In a function that is being traced, add the gradients of this value to those of the leaves.

        Raises ConversionError in static mode, where gradients come from append_backward.
        """
        training = modes.current().training
        if training is None:
            raise self._no_value(
                "backward()", "use append_backward, minimize() of an optimizer, or paddle.grad"
            )
        training.backward(self, grad_tensor)

    @property
    def grad(self) -> Any:
        """In a function that is being traced, the gradient of an input, or of a value after
        ``retain_grads()``, as far as ``backward()`` was called; else None.
        """
        training = modes.current().training
        if training is None:
            raise AttributeError(
                f"grad: {self.name!r} is a static Variable; its gradient is a result of append_backward"
            )
        return training.gradient(self)

    def retain_grads(self) -> None:
        """In a function that is being traced, let ``grad`` show the gradient of this value."""
        training = modes.current().training
        if training is not None:
            training.retain(self)

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        if modes.is_static():  # in a function that is being traced, a Tensor is copied
            memo[id(self)] = made = shape_ops.assign(self)
            return made  # type: ignore[no-any-return]
        made = object.__new__(type(self))
        memo[id(self)] = made
        made.__dict__.update(copy.deepcopy(vars(self), memo))
        return made

    # -- text ----------------------------------------------------------------------------------------------
    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """Its line in the text of the Program; ``with_details`` adds all its fields."""
        return delegates.variable_details(self) if with_details else delegates.variable_text(self)

    def __repr__(self) -> str:
        return self.to_string()


class Parameter(Variable):
    """A persistable Variable that is trained: created by Layers and ``create_parameter`` in static mode."""

    def __init__(self, block: Block, name: str, spec: Spec, *, trainable: bool = True, **fields: Any) -> None:
        super().__init__(
            block, name, spec, persistable=True, stop_gradient=not trainable, is_parameter=True, **fields
        )
        self.optimize_attr: dict[str, float] = {"learning_rate": 1.0}
        self.regularizer: Any = None
        self.do_model_average = True
        self.need_clip = True
        self.is_distributed = False

    @property
    def trainable(self) -> bool:
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value

    def copy_fields(self, source: Tensor | Variable) -> None:
        """Copy the fields that optimizers read from another parameter."""
        for field in ("optimize_attr", "regularizer", "do_model_average", "need_clip", "is_distributed"):
            if hasattr(source, field):
                setattr(self, field, getattr(source, field))
