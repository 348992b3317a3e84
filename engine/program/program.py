"""Program > Block > Operator, Variable."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from engine.core import names
from engine.core.dtype import DType
from engine.core.errors import ConversionError, EngineError, ProgramError
from engine.core.operator import Operator
from engine.core.spec import Spec
from engine.ops import index as index_ops
from engine.ops import math as math_ops
from engine.ops import reduce as reduce_ops
from engine.ops import shape as shape_ops
from engine.program.unknown import Unknown

_serial = itertools.count()


class Variable:
    """A named place in a Block: shape (-1 where unknown) and dtype, no data.

    ``tensor`` is the eager Tensor that a parameter or buffer shares its storage with, None for all others.
    Operators and methods are those of Tensor, attached by the same table; they append to the Block.
    """

    _symbolic = True

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
        tensor: Any = None,
    ) -> None:
        self.block = block
        self.name = name
        self.spec = spec
        self.persistable = persistable
        self.stop_gradient = stop_gradient
        self.is_parameter = is_parameter
        self.is_data = is_data
        self.tensor = tensor

    @property
    def shape(self) -> tuple[Any, ...]:
        """The dimensions; one that is not known is -1, and a Variable where it is computed with."""
        if self.spec.known:
            return self.spec.shape
        return tuple([self._unknown(n) if d < 0 else d for n, d in enumerate(self.spec.shape)])

    def _unknown(self, axis: int) -> Unknown:
        return Unknown(lambda: index_ops.slice_view(self._sizes(), index=(axis,)), self, axis)

    @property
    def dtype(self) -> DType:
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        return self.spec.ndim

    @property
    def size(self) -> Any:
        """Number of elements; where it is not known -1, and a Variable where it is computed with."""
        if self.spec.known:
            return self.spec.size
        return Unknown(lambda: reduce_ops.prod(self._sizes(), reduce_all=True))

    def _sizes(self) -> Any:
        return math_ops.cast(shape_ops.shape(self), out_dtype="int64")

    @property
    def trainable(self) -> bool:
        return self.is_parameter and not self.stop_gradient

    def __len__(self) -> int:
        if not self.spec.shape or self.spec.shape[0] < 0:
            raise ConversionError(
                f"len: the first dimension of {self.name!r} {self.spec} is not known before running; "
                "use shape(x)[0]"
            )
        return self.spec.shape[0]

    def _no_value(self, what: str) -> EngineError:
        from engine.program.builder import located, user_frame

        error = ConversionError(
            f"{what}: {self.name!r} {self.spec} is a static Variable, its value is known only when the "
            "Program runs; write the condition in code that to_static converts (if, while, and, or, not), or "
            "move it out of the graph"
        )
        return located(error, user_frame())

    def __bool__(self) -> bool:
        raise self._no_value("bool()")

    def __int__(self) -> int:
        raise self._no_value("int()")

    def __float__(self) -> float:
        raise self._no_value("float()")

    def __index__(self) -> int:
        raise self._no_value("index")

    def numpy(self) -> Any:
        """Raises: a Variable holds no data. Fetch it with an Executor."""
        raise self._no_value("numpy()")

    item = tolist = numpy

    def backward(self, *_: Any, **__: Any) -> None:
        """Raises: gradients of a Program come from append_backward."""
        raise self._no_value("backward()")

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        from engine.program.text import variable_text

        return variable_text(self)


class Block:
    """Operators in order, with the Variables they define. A sub-block also sees those of its parents."""

    def __init__(self, program: Program, idx: int, parent_idx: int) -> None:
        self.program = program
        self.idx = idx
        self.parent_idx = parent_idx
        self.ops: list[Operator] = []
        self.vars: dict[str, Variable] = {}

    @property
    def parent(self) -> Block | None:
        return None if self.parent_idx < 0 else self.program.blocks[self.parent_idx]

    def lineage(self) -> Iterator[Block]:
        """This block, its parent, and so on to block 0."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def find(self, name: str) -> Variable | None:
        """The Variable of that name here or in a parent."""
        for block in self.lineage():
            if name in block.vars:
                return block.vars[name]
        return None

    def var(self, name: str) -> Variable:
        """The Variable of that name here or in a parent; raises ProgramError if there is none."""
        found = self.find(name)
        if found is None:
            close = ", ".join(sorted(self.vars)[:8])
            raise ProgramError(
                f"block {self.idx}: no variable {name!r}; it has "
                f"{close}{' ...' if len(self.vars) > 8 else ''}"
            )
        return found

    def has_var(self, name: str) -> bool:
        return name in self.vars

    def create_var(self, name: str | None, spec: Spec, **fields: Any) -> Variable:
        """A new Variable; raises ProgramError if the name is taken in this block."""
        if name is None:
            name = self.program.unique_name("tmp")
        if name in self.vars:
            raise ProgramError(
                f"block {self.idx}: variable {name!r} exists already as {self.vars[name].spec}; "
                "choose another name"
            )
        made = self.vars[name] = Variable(self, name, spec, **fields)
        return made

    def all_parameters(self) -> list[Variable]:
        return [v for v in self.vars.values() if v.is_parameter]

    def append(self, operator: Operator) -> Operator:
        self.ops.append(operator)
        self.program.changed()
        return operator

    def __repr__(self) -> str:
        from engine.program.text import block_text

        return block_text(self)


class Program:
    """A static graph: blocks of operators. Block 0 is the global one; control flow has sub-blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = [Block(self, 0, -1)]
        self.random_seed = 0
        self.inputs: list[str] = []  # names fed, in order, where the Program stands for a function
        self.outputs: list[str] = []  # names it gives back
        self._names = names.NameGenerator()
        self._captured: dict[int, Variable] = {}
        self._version = next(_serial)
        self.plans: dict[Any, Any] = {}  # compiled plans, dropped when the Program changes

    def changed(self) -> None:
        """Note that the Program changed: plans compiled before are no longer valid."""
        self._version = next(_serial)
        self.plans.clear()

    @property
    def version(self) -> int:
        """A number that no earlier state of any Program had."""
        return self._version

    def unique_name(self, key: str) -> str:
        return self._names(key)

    def reserve_names(self) -> None:
        """Let new names go on after those that the Program has, for one that was read or copied."""
        for variable in self.list_vars():
            base = variable.name.partition(".tmp_")[0]
            key, _, number = base.rpartition("_")
            if key and number.isdigit():
                self._names.skip_to(key, int(number) + 1)

    def global_block(self) -> Block:
        return self.blocks[0]

    def block(self, index: int) -> Block:
        return self.blocks[index]

    @property
    def num_blocks(self) -> int:
        return len(self.blocks)

    def create_block(self, parent: Block) -> Block:
        block = Block(self, len(self.blocks), parent.idx)
        self.blocks.append(block)
        return block

    def capture(self, tensor: Any) -> Variable:
        """The persistable Variable that stands for an eager Tensor, sharing its storage."""
        found = self._captured.get(id(tensor))
        if found is not None and found.tensor is tensor:
            return found
        block = self.global_block()
        is_parameter = getattr(tensor, "optimize_attr", None) is not None
        name = tensor.name
        if name in block.vars:
            name = self.unique_name(f"{name}_captured")
        spec = Spec(tensor.shape, tensor.dtype)
        made = block.create_var(
            name,
            spec,
            persistable=True,
            stop_gradient=tensor.stop_gradient,
            is_parameter=is_parameter,
            tensor=tensor,
        )
        self._captured[id(tensor)] = made
        return made

    def bind(self, variable: Variable, tensor: Any) -> None:
        """Let a persistable Variable share its storage with an eager Tensor."""
        variable.tensor = tensor
        self._captured[id(tensor)] = variable

    def list_vars(self) -> Iterator[Variable]:
        for block in self.blocks:
            yield from block.vars.values()

    def all_parameters(self) -> list[Variable]:
        return self.global_block().all_parameters()

    def bound(self) -> list[Variable]:
        """Variables that share their storage with an eager Tensor."""
        return [v for v in self.global_block().vars.values() if v.tensor is not None]

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        from engine.program.text import program_text

        return program_text(self)

    def __str__(self) -> str:
        return self.to_string()


def variables_of(value: Any) -> Iterator[Variable]:
    """The Variables in an operator's input or output: one, a list, or none."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from variables_of(each)
    elif isinstance(value, Variable):
        yield value


def reads(operator: Operator) -> Iterator[Variable]:
    """The Variables that an operator reads."""
    return variables_of(operator.inputs)


def writes(operator: Operator) -> Iterator[Variable]:
    """The Variables that an operator writes."""
    return variables_of(operator.outputs)
