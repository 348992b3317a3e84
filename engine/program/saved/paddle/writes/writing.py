"""Writing: one block of a ProgramDesc while it is filled with operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from engine.core.operators.operator import Operator
from engine.core.program_desc import Attr, AttrType, BlockDesc, OpDesc, ProgramDesc, VarDesc
from engine.core.values.dtype import DType, as_dtype
from engine.core.values.spec import Spec
from engine.core.values.var_type import Kind, VarType
from engine.program.graph.program import Variable, variables_of
from engine.program.saved.paddle.writes.signatures import Signature, attribute, signature

Names: TypeAlias = "str | Variable | Sequence[str | Variable]"
ROLES = {"op_role": Attr(AttrType.INT, 0)}
# Attributes outside of the protos that the makers of Paddle's gradients read.
_EXTRA = {"cast": {"use_mkldnn": Attr(AttrType.BOOLEAN, False)}}
_FIELDS = {
    "bool": "bool_values",
    "int32": "int32_values",
    "int64": "int64_values",
    "float32": "fp32_values",
    "float64": "fp64_values",
}


class UnwritableError(Exception):
    """An operator that Paddle 2.6.2 does not have; the message is the reason."""


class Naming:
    """The names of a file: a Variable has the same one wherever it is read."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._of: dict[int, str] = {}
        self._held: list[Variable] = []  # ids are only those of Variables that live

    def free(self, wish: str) -> str:
        """``wish``, or the same with a number where it is taken."""
        name, n = wish, 0
        while name in self._taken:
            n += 1
            name = f"{wish}_{n}"
        self._taken.add(name)
        return name

    def of(self, variable: Variable) -> str | None:
        return self._of.get(id(variable))

    def set(self, variable: Variable, name: str) -> None:
        self._of[id(variable)] = name
        self._held.append(variable)


class Writing:
    """A block that is written. Operators are appended by :meth:`put`, or by :meth:`emit` where they have one
    result; rows of ``ROWS`` are called with it."""

    def __init__(self, program: ProgramDesc, naming: Naming, parent: Writing | None = None) -> None:
        self.program, self.naming, self.parent = program, naming, parent
        self.desc: BlockDesc = BlockDesc(len(program.blocks), -1 if parent is None else parent.desc.idx)
        program.blocks.append(self.desc)
        self.specs: dict[str, Spec] = {} if parent is None else parent.specs
        # Operators that are refused, with the reason, and their lines.
        self.faults: dict[tuple[str, str], list[str]] = {} if parent is None else parent.faults
        # By id: operators that are written together with others, and how.
        self.joined: dict[int, Callable[[Writing], None]] = {} if parent is None else parent.joined

    # -- Variables ------------------------------------------------------------------------------------------
    def name(self, variable: Variable) -> str:
        """The name of a Variable that is read."""
        found = self.naming.of(variable)
        return self.declare(variable) if found is None else found

    def names(self, value: object) -> list[str]:
        """The names of all Variables in a value."""
        return [self.name(v) for v in variables_of([value])]

    def declare(self, variable: Variable, name: str = "") -> str:
        """The name of a Variable that an operator of this block writes, which is declared in it."""
        name = self.naming.free(name or variable.name)
        self.naming.set(variable, name)
        return self._declared(
            VarDesc(name, stop_gradient=variable.stop_gradient), variable.shown_spec or variable.spec
        )

    def new(self, spec: Spec, wish: str = "value") -> str:
        """A new Variable that no Variable of ours stands for."""
        return self._declared(VarDesc(self.naming.free(f"{wish}.tmp")), spec)

    def raw(self, wish: str, kind: Kind) -> str:
        """A new Variable that holds no tensor."""
        name = self.naming.free(wish)
        self.desc.vars.append(VarDesc(name, kind.value))
        return name

    def _declared(self, desc: VarDesc, spec: Spec) -> str:
        desc.dtype, desc.shape = spec.dtype.number, list(spec.shape)
        self.desc.vars.append(desc)
        self.specs[desc.name] = spec
        return desc.name

    def alias(self, variable: Variable, name: str) -> None:
        """Let ``name`` stand for a Variable."""
        self.naming.set(variable, name)

    # -- operators ------------------------------------------------------------------------------------------
    def put(
        self, type: str, inputs: Mapping[str, Names], outputs: Mapping[str, Names], **attrs: Any
    ) -> OpDesc:
        """Append an operator. Outputs that Paddle demands are added.

        Raises UnwritableError where it has no such operator, slot or attribute.
        """
        known = signature(type)
        if known is None:
            raise UnwritableError(f"Paddle 2.6.2 has no operator {type}")
        desc = OpDesc(type, self._slots(inputs), self._slots(outputs))
        _require_slots(type, known, desc)
        for slot in known.inputs:  # gradients that Paddle appends look for absent ones, too
            desc.inputs.setdefault(slot, [])
        for slot, optional in known.outputs.items():
            if not desc.outputs.get(slot) and not optional:
                desc.outputs[slot] = [self.new(Spec((), "float32"), slot.lower())]
        for name, value in attrs.items():
            kind = known.attrs.get(name)
            if kind is None:
                raise UnwritableError(f"Paddle's {type} has no attribute {name}")
            try:
                desc.attrs[name] = attribute(kind, value)
            except (TypeError, ValueError, OverflowError) as error:
                raise UnwritableError(
                    f"attribute {name} of Paddle's {type} is a {kind.name}: {error}"
                ) from error
        desc.attrs |= ROLES | _EXTRA.get(type, {})
        self.desc.ops.append(desc)
        return desc

    def emit(
        self, type: str, inputs: Mapping[str, Names], like: Spec, slot: str = "Out", **attrs: Any
    ) -> str:
        """Append an operator and give the name of its result, which has the Spec ``like``."""
        out = self.new(like, type)
        self.put(type, inputs, {slot: out}, **attrs)
        return out

    def _slots(self, slots: Mapping[str, Names]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for slot, value in slots.items():
            given = [value] if isinstance(value, (str, Variable)) else list(value)
            found[slot] = [self.name(v) if isinstance(v, Variable) else v for v in given]
        return found

    # -- small operators of which rows consist --------------------------------------------------------------
    def spec(self, value: str | Variable) -> Spec:
        return value.spec if isinstance(value, Variable) else self.specs[value]

    def constant(
        self, values: np.ndarray[Any, Any] | np.generic | complex | Sequence[Any], dtype: DType | str
    ) -> str:
        """A constant tensor."""
        array = np.asarray(values, as_dtype(dtype).np)
        field = _FIELDS.get(array.dtype.name)
        spec = Spec(array.shape or (1,), as_dtype(dtype))
        if field is None or not array.size:
            value = float(array.reshape(-1)[0]) if array.size else 0.0
            if array.size and (array != array.reshape(-1)[0]).any():
                raise UnwritableError(f"Paddle has no constants of {array.dtype}")
            return self.full(spec.shape, value, dtype)
        flat = [each.item() for each in array.reshape(-1)]
        out = self.new(spec, "constant")
        attrs = {name: flat if name == field else [] for name in _FIELDS.values()}
        self.put("assign_value", {}, {"Out": out}, shape=list(spec.shape), dtype=spec.dtype.number, **attrs)
        return out

    def full(self, shape: Iterable[int], value: float, dtype: DType | str) -> str:
        spec = Spec(tuple(shape), as_dtype(dtype))
        text = repr(float(value)) if spec.dtype.is_floating_point else str(int(value))
        return self.emit(
            "fill_constant",
            {},
            spec,
            shape=list(spec.shape),
            value=float(value),
            str_value=text,
            dtype=spec.dtype.number,
        )

    def cast(self, x: str | Variable, dtype: DType | str) -> str:
        """x in a dtype; itself where it has it."""
        spec, to = self.spec(x), as_dtype(dtype)
        if spec.dtype is to:
            return self.name(x) if isinstance(x, Variable) else x
        made = spec.with_dtype(to)
        return self.emit("cast", {"X": x}, made, in_dtype=spec.dtype.number, out_dtype=to.number)

    def binary(self, kind: str, x: str | Variable, y: str | Variable, like: Spec | None = None) -> str:
        """``elementwise_KIND`` of x and y, with NumPy's broadcasting."""
        return self.emit(f"elementwise_{kind}", {"X": x, "Y": y}, like or self.spec(x), axis=-1)

    def scale(self, x: str | Variable, scale: float = 1.0, bias: float = 0.0) -> str:
        """x * scale + bias."""
        return self.emit("scale", {"X": x}, self.spec(x), scale=scale, bias=bias, bias_after_scale=True)

    def unary(self, kind: str, x: str | Variable, **attrs: Any) -> str:
        return self.emit(kind, {"X": x}, self.spec(x), **attrs)

    def reshape(self, x: str | Variable, shape: Sequence[int], like: Spec | None = None) -> str:
        spec = self.spec(x)
        made = self.new(like or spec.with_shape(list(shape)), "reshape")
        shadow = self.new(Spec((0, *spec.shape), spec.dtype), "xshape")
        self.put("reshape2", {"X": x}, {"Out": made, "XShape": shadow}, shape=list(shape))
        return made

    def unsqueeze(self, x: str | Variable, axes: Sequence[int]) -> str:
        spec = self.spec(x)
        shape = list(spec.shape)
        for axis in sorted(axes):
            shape.insert(axis, 1)
        return self.emit("unsqueeze2", {"X": x}, spec.with_shape(shape), axes=list(axes))

    def squeeze(self, x: str | Variable, axes: Sequence[int]) -> str:
        spec = self.spec(x)
        shape = [d for n, d in enumerate(spec.shape) if n not in axes]
        return self.emit("squeeze2", {"X": x}, spec.with_shape(shape), axes=list(axes))

    def transpose(self, x: str | Variable, axes: Sequence[int]) -> str:
        spec = self.spec(x)
        made = spec.with_shape([spec.shape[a] for a in axes])
        return self.emit("transpose2", {"X": x}, made, axis=list(axes))

    def concat(self, xs: Sequence[str | Variable], axis: int, like: Spec) -> str:
        return self.emit("concat", {"X": xs}, like, axis=axis) if len(xs) > 1 else self.same(xs[0])

    def same(self, x: str | Variable) -> str:
        return self.name(x) if isinstance(x, Variable) else x

    def cut(self, x: str | Variable, axis: int, start: int, end: int, drop: bool = False) -> str:
        """x[start:end] along an axis, which is dropped with ``drop``."""
        spec = self.spec(x)
        shape = list(spec.shape)
        shape[axis : axis + 1] = [] if drop else [end - start]
        return self.emit(
            "slice",
            {"Input": x},
            spec.with_shape(shape),
            axes=[axis],
            starts=[start],
            ends=[end],
            infer_flags=[1],
            decrease_axis=[axis] if drop else [],
        )

    def shape_of(self, x: str | Variable) -> str:
        """The shape of x as int32."""
        return self.emit("shape", {"Input": x}, Spec((self.spec(x).ndim,), "int32"))

    def give(self, variable: Variable, name: str) -> None:
        """Copy ``name`` into the Variable that an operator of ours writes."""
        self.put("assign", {"X": name}, {"Out": self.declare(variable)})

    def step_scope(self) -> str:
        return self.raw("step_scopes", VarType.STEP_SCOPES)


def _require_slots(type: str, known: Signature, desc: OpDesc) -> None:
    for slots, names in ((known.inputs, desc.inputs), (known.outputs, desc.outputs)):
        for slot in names:
            if slot not in slots:
                raise UnwritableError(f"Paddle's {type} has no slot {slot}")
    for slot, optional in known.inputs.items():
        if not optional and slot not in desc.inputs:
            raise UnwritableError(f"Paddle's {type} needs the input {slot}")


def only(operator: Operator, number: int = 0) -> Variable:
    """A result of an operator."""
    found = operator.outputs[number]
    assert isinstance(found, Variable)
    return found
