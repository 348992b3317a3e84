"""Updates of parameters on a GPU: one launch for all parameters of a group, one more for the betas' powers.

The rules are those that the CPU's compiled updates have (``engine/kernels/steps/updates.py``), so the bits
are NumPy's. Rate, powers and ``skip_update`` are read on the device. Addresses and sizes are parameters of
the kernel itself: no table is copied, a captured graph holds them, and arrays stay where they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from engine.core.operators.opdef import OPS
from engine.kernels.cupy.defaults import default
from engine.kernels.cupy.source import Kernel
from engine.kernels.cupy.training.parts import (
    EACH,
    THREADS,
    arguments,
    chosen,
    grid,
    kernel,
    stretches,
    written_for,
)
from engine.kernels.cupy.writer import CudaWriter, Value
from engine.kernels.steps.updates import UPDATES, Update

Array = Any
_TYPES = {np.dtype(np.float32): ("float32", "float"), np.dtype(np.float64): ("float64", "double")}


class _Number:
    """A number in double precision that is computed on the device; others are Python's."""

    def __init__(self, w: CudaWriter, value: Value) -> None:
        self.w, self.value = w, value

    def _of(self, other: Any) -> Value:
        return other.value if isinstance(other, _Number) else self.w.given(self.value, other)

    def __add__(self, other: Any) -> _Number:
        return _Number(self.w, self.w.add(self.value, self._of(other)))

    def __sub__(self, other: Any) -> _Number:
        return _Number(self.w, self.w.sub(self.value, self._of(other)))

    def __rsub__(self, other: Any) -> _Number:
        return _Number(self.w, self.w.sub(self._of(other), self.value))

    def __mul__(self, other: Any) -> _Number:
        return _Number(self.w, self.w.mul(self.value, self._of(other)))

    def __rmul__(self, other: Any) -> _Number:
        return _Number(self.w, self.w.mul(self._of(other), self.value))

    def __truediv__(self, other: Any) -> _Number:
        return _Number(self.w, self.w.div(self.value, self._of(other)))

    def __rtruediv__(self, other: Any) -> _Number:
        return _Number(self.w, self.w.div(self._of(other), self.value))

    def root(self) -> _Number:
        return _Number(self.w, self.w.root(self.value))


class _Written:
    """The kernels of one update for parameters of a dtype, without how many there are.

    ``numbers`` are the arguments that follow those of the parameters.
    """

    def __init__(self, of: Update, dtype: Any, power: Any, rate: Any, skips: bool) -> None:
        self.of, self.skips = of, skips
        kind, self.type = _TYPES[dtype]
        self.power = _TYPES[power][1] if of.powers else "float"
        self.rate = _TYPES[rate][1]
        shared = CudaWriter()
        scalars = [_Number(shared, Value("float64", name)) for name in ("rate", "power0", "power1")]
        found = of.numbers(
            scalars[0],
            scalars[1 : 1 + len(of.powers)],
            lambda x: x.root() if isinstance(x, _Number) else math.sqrt(x),
        )
        values = [x.value if isinstance(x, _Number) else shared.given(scalars[0].value, x) for x in found]
        self._shared = shared
        self._numbers = values
        self._rule = CudaWriter()
        state = [Value(kind, f"x{n}") for n in range(len(of.arrays))]
        self._made = of.rule(
            self._rule,
            Value(kind, "gradient"),
            state,
            [Value(kind, f"numbers[{n}]") for n in range(len(values))],
        )
        assert not self._rule.given_numbers
        self.given = shared.given_numbers
        self.factors = [np.float64(factor) for factor in of.powers.values()]

    @property
    def columns(self) -> int:
        """Addresses and sizes of one parameter."""
        return len(self.of.arrays) + 2 + len(self.of.powers)

    def update(self, parts: int) -> Kernel:
        """The kernel for a number of parameters."""
        kind, names = self.type, [f"a{n}" for n in range(len(self.of.arrays))]
        powers = [f"w{n}" for n in range(len(self.of.powers))]
        columns = [(f"{kind} *", name) for name in names] + [(f"const {kind} *", "g"), ("i64", "size")]
        columns += [(f"const {self.power} *", name) for name in powers]
        parameters, body = chosen(columns, parts)
        parameters.append(f"const {self.rate} *rate_at")
        skip = "false"
        if self.skips:
            parameters.append("const bool *skip")
            skip = "*skip"
        parameters += self._shared.parameters()
        body += [
            f"__shared__ {kind} numbers[{len(self._numbers)}];",
            "__shared__ bool skipped;",
            "if (threadIdx.x == 0) {",
            f"skipped = {skip};",
            "const double rate = (double)*rate_at;",
            *[f"const double power{n} = (double)*{name};" for n, name in enumerate(powers)],
            *self._shared.statements(self._numbers),
            *[f"numbers[{n}] = ({kind}){value.text};" for n, value in enumerate(self._numbers)],
            "}",
            "__syncthreads();",
            "if (skipped) size = 0;",
            *EACH,
            f"const {kind} gradient = g[i];",
            *[f"const {kind} x{n} = {name}[i];" for n, name in enumerate(names)],
            *self._rule.statements(self._made),
            *[f"{name}[i] = {value.text};" for name, value in zip(names, self._made, strict=True)],
            "}",
        ]
        return kernel("update_parameters", parameters, body)

    def advance(self, parts: int) -> Kernel:
        """The kernel that multiplies the powers of a number of parameters, one a thread."""
        parameters, body = [], [f"if ({'!*skip' if self.skips else 'true'}) switch (threadIdx.x) {{"]
        for n in range(parts):
            for k in range(len(self.of.powers)):
                parameters.append(f"{self.power} *w{k}_{n}")
                body.append(f"case {n * len(self.of.powers) + k}: *w{k}_{n} *= ({self.power})k{k}; break;")
        if self.skips:
            parameters.append("const bool *skip")
        parameters += [f"double k{k}" for k in range(len(self.of.powers))]
        return kernel("advance_powers", parameters, [*body, "}"])


@lru_cache(maxsize=256)
def _written(
    name: str, attrs: tuple[tuple[str, Any], ...], dtype: Any, power: Any, rate: Any, skips: bool
) -> _Written:
    of = UPDATES[name](dict(attrs), lambda value: value if power is None else float(power.type(value)))
    return _Written(of, dtype, power, rate, skips)


def together(
    name: str,
    columns: Mapping[str, Sequence[Array]],
    gradients: Sequence[Array],
    shared: Mapping[str, Array | None],
    attrs: Mapping[str, Any],
) -> bool:
    """Update all these parameters by the operator ``name`` in place; False, and nothing is changed, where
    the operator has to do it one by one.

    ``columns`` has the parameters and their state by slot, ``shared`` the learning rate and ``skip_update``.
    """
    rate, skip = shared["learning_rate"], shared.get("skip_update")
    powers = columns.get("beta1_pow")
    dtype = columns["param"][0].dtype
    if dtype not in _TYPES or rate.dtype not in _TYPES or rate.size != 1:
        return False
    if skip is not None and (skip.dtype != bool or skip.size != 1):
        return False
    power = None if powers is None else powers[0].dtype
    full = tuple(OPS[name].with_defaults(attrs).items())
    written = _written(name, full, dtype, power, rate.dtype, skip is not None)
    arrays = [columns[slot] for slot in written.of.arrays]
    own = [columns[slot] for slot in written.of.powers]
    if not _fit(arrays, gradients, own, dtype, power):
        return False
    contiguous = [cupy.ascontiguousarray(g) for g in gradients]
    flags = [] if skip is None else [skip]
    for part in stretches(len(contiguous), written.columns):
        _launch(written, [c[part] for c in arrays], contiguous[part], [c[part] for c in own], [rate, *flags])
    return True


def _fit(
    arrays: Sequence[Sequence[Array]],
    gradients: Sequence[Array],
    powers: Sequence[Sequence[Array]],
    dtype: Any,
    power: Any,
) -> bool:
    for n, gradient in enumerate(gradients):
        shape = arrays[0][n].shape
        if gradient.dtype != dtype or gradient.shape != shape:
            return False
        for column in arrays:
            x = column[n]
            if x.dtype != dtype or x.shape != shape or not x.flags.c_contiguous:
                return False
        if any(column[n].dtype != power or column[n].size != 1 for column in powers):
            return False
    return power is None or power in _TYPES


def _launch(
    written: _Written,
    arrays: Sequence[Sequence[Array]],
    gradients: Sequence[Array],
    powers: Sequence[Sequence[Array]],
    shared: Sequence[Array],
) -> None:
    count = len(gradients)
    parts = written_for(count)
    rows = [
        [*[c[n] for c in arrays], gradients[n], np.int64(gradients[n].size), *[c[n] for c in powers]]
        for n in range(count)
    ]
    blocks = grid([g.size for g in gradients])
    written.update(parts)(blocks, (THREADS,), [*arguments(rows), *shared, *written.given])
    if powers:
        single = arguments([[c[n] for c in powers] for n in range(count)])
        threads = count * len(powers)
        written.advance(parts)((1,), (threads,), [*single, *shared[1:], *written.factors])


def alone(name: str) -> Callable[..., Any]:
    """The override of the operator for one parameter."""
    opdef = OPS[name]
    outputs = [str(output.writes) for output in opdef.outputs]

    def update(xp: Any, *values: Array, **attrs: Any) -> Any:
        given = dict(zip(opdef.input_names, values, strict=False))
        columns = {slot: [x] for slot, x in given.items() if slot not in _OTHERS}
        if not together(name, columns, [given["grad"]], given, attrs):
            return default(name)(xp, *values, **attrs)
        return given[outputs[0]] if opdef.single else tuple([given[slot] for slot in outputs])

    return update


_OTHERS = ("grad", "learning_rate", "skip_update")
adam, adamw, momentum, sgd = alone("adam"), alone("adamw"), alone("momentum"), alone("sgd")
adagrad, rmsprop = alone("adagrad"), alone("rmsprop")
adadelta, adamax = alone("adadelta"), alone("adamax")
