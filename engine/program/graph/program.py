"""Program > Block > Operator, Variable."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core import names
from engine.core.containers.lru import LRU
from engine.core.errors import ArgumentError, ProgramError
from engine.core.operators.operator import Operator
from engine.core.values.dtype import DTypeLike, as_dtype
from engine.core.values.spec import Spec
from engine.program.graph import delegates
from engine.program.graph.variable import Parameter, Variable

if TYPE_CHECKING:
    from engine.eager.tensor import Tensor

BACKWARD, OPTIMIZE, LR_SCHEDULE = 1, 2, 16  # roles of operators in training: bits of Paddle's op_role

_serial = itertools.count()


class Block:
    """Operators in order, with the Variables they define. A sub-block also sees those of its parents."""

    loops = False  # whether it holds the values of a loop that is being built; the body is a child

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

    def num_ops(self) -> int:
        """The number of operators of this block; a name of Paddle 3."""
        return len(self.ops)

    def has_var(self, name: str) -> bool:
        return name in self.vars

    def create_var(
        self,
        name: str | None = None,
        spec: Spec | None = None,
        *,
        shape: Sequence[int | None] | None = None,
        dtype: DTypeLike = "float32",
        type: object = None,
        lod_level: int = 0,
        **fields: Any,
    ) -> Variable:
        """A new Variable of ``shape`` and ``dtype``; raises ProgramError if the name is taken here.

        Without a shape it has that of the operator that is appended with it as a result.
        """
        name = self._free("_generated_var" if name is None else name, name is None)
        if spec is None:  # Paddle's way, where a Variable has gradients by default
            spec = Spec([-1 if d is None else d for d in shape or ()], as_dtype(dtype))
            fields = {"stop_gradient": False, **fields}
            waits = shape is None
        else:
            waits = False
        fields.pop("need_check_feed", None)
        made = self.vars[name] = Variable(self, name, spec, **fields)
        if waits:
            made.waits = True
        return made

    def create_parameter(
        self,
        shape: Sequence[int],
        dtype: DTypeLike,
        name: str,
        trainable: bool = True,
        tensor: Tensor | None = None,
        **fields: Any,
    ) -> Parameter:
        """A new Parameter of the global block; raises ProgramError if the name is taken."""
        block = self.program.global_block()
        made = Parameter(
            block, block._free(name, False), Spec(shape, as_dtype(dtype)), trainable=trainable, tensor=tensor
        )
        for field, value in fields.items():
            setattr(made, field, value)
        block.vars[made.name] = made
        return made

    def _free(self, name: str, generated: bool) -> str:
        if generated:
            return self.program.unique_name(name)
        if name in self.vars:
            raise ProgramError(
                f"block {self.idx}: variable {name!r} exists already as {self.vars[name].spec}; "
                "choose another name"
            )
        return name

    def iter_parameters(self) -> Iterator[Variable]:
        return (v for v in self.vars.values() if v.is_parameter)

    def all_parameters(self) -> list[Variable]:
        return list(self.iter_parameters())

    def append_op(
        self,
        type: str,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> Operator:
        """Append the operator of Paddle's name ``type``, its Variables given by slot.

        ``outputs`` are Variables of this block that it writes. Raises ProgramError for an unknown operator or
        slot, ShapeError or DTypeError where the inputs do not fit.
        """
        return delegates.append_by_slot(self, type, inputs or {}, outputs or {}, attrs or {})

    def append(self, operator: Operator) -> Operator:
        self.ops.append(operator)
        self.program.changed()
        return operator

    def __repr__(self) -> str:
        return delegates.block_text(self)


class ProgramDesc:
    """The value of ``Program.desc``."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def serialize_to_string(self) -> bytes:
        """The Program as bytes, for ``Program.parse_from_string``."""
        return delegates.program_bytes(self._program)


class Program:
    """A static graph: blocks of operators. Block 0 is the global one; control flow has sub-blocks."""

    _global_seed = 0  # the value of ``global_seed``: the seed of Programs that are created later

    def __init__(self) -> None:
        self.blocks: list[Block] = [Block(self, 0, -1)]
        self._random_seed = Program._global_seed
        self.inputs: list[str] = []  # names fed, in order, if the Program represents a function
        self.outputs: list[str] = []  # names of its results
        self._names: names.NameGenerator | None = None  # its own; None: the process's
        self._captured: dict[int, Variable] = {}
        self._version = next(_serial)
        # Plans that an Executor compiled for it, dropped when the Program changes: the fed and fetched
        # Variables of each kind of call, and the plan for each of those with the shapes that were fed.
        self.calls: LRU[Any, Any] = LRU("calls")
        self.plans: LRU[Any, Any] = LRU("plans")
        self.liveness: Any = None  # see engine/program/graph/liveness.py
        # Variables that were changed in place in static mode, by id: the Variable, and the one that has its
        # value.
        self.rebound: dict[int, tuple[Any, Variable]] = {}
        # Whether it or a part of it is from a file of another installation: its runs are metered.
        self.foreign = False
        # Values that an Executor brings into its scope before a run: learning rates, values of another
        # process.
        self.rates: list[Any] = []
        self.gradients: list[
            tuple[str, str]
        ] = []  # names of parameters and of their gradients from append_backward
        self.readers: list[Any] = []  # sources of a batch for an Executor at each run, besides the feed

    @property
    def random_seed(self) -> int:
        """The seed that dropout and initializers built from now on get as their own; 0: they draw from the
        process's generator.

        Initializers take the seed of the startup Program. Raises ArgumentError for a value that is not an
        integer.
        """
        return self._random_seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise ArgumentError(f"random_seed: must be an integer: got {type(seed).__name__}; pass e.g. 2026")
        self._random_seed = int(seed)
        self.changed()

    def global_seed(self, seed: int = 0) -> None:
        """Set the ``random_seed`` of this Program and of all that are created later; 0 resets it."""
        self.random_seed = seed
        Program._global_seed = self._random_seed

    @property
    def desc(self) -> ProgramDesc:
        """The Program as Paddle's C++ sees it, of which only ``serialize_to_string`` exists."""
        return ProgramDesc(self)

    def latest(self, variable: Variable) -> Variable:
        """The Variable with the last value of ``variable``: another one where it was changed in place."""
        found = self.rebound.get(id(variable))
        return variable if found is None else found[1]

    def changed(self) -> None:
        """Record that the Program changed: plans compiled before are no longer valid."""
        self._version = next(_serial)
        self.liveness = None
        if self.calls or self.plans:
            self.calls.clear()
            self.plans.clear()

    @property
    def version(self) -> int:
        """A number that no earlier state of any Program had."""
        return self._version

    def unique_name(self, key: str) -> str:
        """A name that no Variable of the Program has: ``key_0``, ``key_1`` ..."""
        generate = self._names or names.generate
        name = generate(key)
        while any(name in block.vars for block in self.blocks):
            name = generate(key)
        return name

    def reserve_names(self) -> None:
        """Let new names continue after those that the Program has; for a Program that was read or copied."""
        self._names = names.NameGenerator()
        for variable in self.list_vars():
            base = variable.name.partition(".tmp_")[0]
            key, _, number = base.rpartition("_")
            if key and number.isdigit():
                self._names.skip_to(key, int(number) + 1)

    def global_block(self) -> Block:
        return self.blocks[0]

    def block(self, index: int) -> Block:
        return self.blocks[index]

    def current_block(self) -> Block:
        """The block that operators are appended to now, where this Program is being built; else block 0."""
        return delegates.building_block(self) or self.blocks[0]

    @property
    def num_blocks(self) -> int:
        return len(self.blocks)

    def create_block(self, parent: Block) -> Block:
        block = Block(self, len(self.blocks), parent.idx)
        self.blocks.append(block)
        return block

    def capture(self, tensor: Tensor) -> Variable:
        """The persistable Variable of an eager Tensor, sharing its storage."""
        found = self._captured.get(id(tensor))
        if found is not None and found.tensor is tensor:
            return found
        block = self.global_block()
        name = tensor.name
        if name in block.vars or ".tmp_" in name:  # a result of another converted function has such a name
            name = self.unique_name(f"{name}_captured")
        if getattr(tensor, "optimize_attr", None) is not None:
            trains = not tensor.stop_gradient
            parameter = block.create_parameter(tensor.shape, tensor.dtype, name, trains, tensor)
            parameter.copy_fields(tensor)
            made: Variable = parameter
        else:
            made = block.create_var(
                name,
                Spec(tensor.shape, tensor.dtype),
                persistable=True,
                stop_gradient=tensor.stop_gradient,
                tensor=tensor,
            )
        self._captured[id(tensor)] = made
        return made

    def bind(self, variable: Variable, tensor: Tensor) -> None:
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

    # -- values --------------------------------------------------------------------------------------------
    def state_dict(self, mode: str = "all", scope: delegates.ScopeValues | None = None) -> dict[str, Any]:
        """The values of its persistable Variables in ``scope`` (the global one by default), by name.

        ``mode``: 'param' gives the parameters, 'opt' the state of optimizers, 'all' both. Raises ProgramError
        where a Variable has no value yet.
        """
        return delegates.program_state(self, mode, scope)

    def set_state_dict(
        self, state_dict: Mapping[str, Any], scope: delegates.ScopeValues | None = None
    ) -> None:
        """Give persistable Variables the values of ``state_dict``; warns of entries that belong to none."""
        delegates.set_program_state(self, state_dict, scope)

    # -- roles of operators --------------------------------------------------------------------------------
    def _lr_schedule_guard(self, is_with_opt: bool = False) -> AbstractContextManager[None]:
        """Operators appended within the block compute the learning rate: copies for tests omit them."""
        return delegates.of_role(LR_SCHEDULE | OPTIMIZE if is_with_opt else LR_SCHEDULE)

    def _optimized_guard(self, param_and_grads: object) -> AbstractContextManager[None]:
        """Operators appended within the block update parameters: copies for tests omit them."""
        return delegates.of_role(OPTIMIZE)

    # -- copies and text -----------------------------------------------------------------------------------
    def clone(self, for_test: bool = False) -> Program:
        """A copy, which shares the values of parameters.

        ``for_test`` omits gradients and updates, and lets dropout and batch norm behave as in
        inference."""
        return delegates.clone(self, for_test)

    @staticmethod
    def parse_from_string(binary_str: bytes) -> Program:
        """The Program in the bytes of ``static.serialize_program`` or of a ``.pdmodel``.

        Raises DTypeError for a value that is not bytes, FormatError for damaged or foreign bytes.
        """
        return delegates.parse_from_string(binary_str)

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The text that ``print`` shows; ``with_details`` adds all fields of every Variable."""
        return delegates.program_text(self, with_details)

    def __repr__(self) -> str:
        return self.to_string()


def variables_of(value: object) -> Iterator[Variable]:
    """The Variables in an operator's input or output: one, a list, or none."""
    if isinstance(value, (list, tuple)):
        for each in value:
            if isinstance(each, Variable):  # most inputs are one Variable: create no generator for each
                yield each
            else:
                yield from variables_of(each)
    elif isinstance(value, Variable):
        yield value


def reads(operator: Operator) -> Iterator[Variable]:
    """The Variables that an operator reads."""
    return variables_of(operator.inputs)


def writes(operator: Operator) -> Iterator[Variable]:
    """The Variables that an operator writes."""
    return variables_of(operator.outputs)
