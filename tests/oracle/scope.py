"""What a recorded call sees and how its result is written down: shared by the recorder and the test.

It runs under both interpreters: it imports neither Paddle nor the engine, and uses nothing new in NumPy 2.
"""

from __future__ import annotations

import ast
import inspect
import random
from typing import Any

import numpy as np

GOLDEN = 0.6180339887498949


def _fractions(shape: Any, seed: int) -> Any:
    """Distinct values in (-1, 1) in scattered order, three decimals (for up to 400 elements)."""
    size = int(np.prod(shape))
    return np.round(((np.arange(size) + 1) * GOLDEN + seed * 0.377) % 1.0 * 2 - 1, 3).reshape(shape)


class Scope:
    """The names of a call, over one implementation of Paddle's API."""

    def __init__(self, paddle: Any, raised: list[BaseException] | None = None) -> None:
        self.paddle = paddle
        self.raised = raised if raised is not None else []  # what the call raised is put here

    def _make(self, array: Any, dtype: str) -> Any:
        if dtype == "bfloat16":
            return self.paddle.to_tensor(array.astype("float32")).astype("bfloat16")
        return self.paddle.to_tensor(array.astype(dtype))

    def t(self, shape: Any, dtype: str = "float32", seed: int = 0) -> Any:
        """A tensor of values in (-1, 1), none of them equal; another ``seed`` gives other values."""
        values = _fractions(shape, seed)
        if dtype.startswith("complex"):
            values = values + 1j * _fractions(shape, seed + 5)
        return self._make(values, dtype)

    def pos(self, shape: Any, dtype: str = "float32", seed: int = 0) -> Any:
        """A tensor of values in (0.1, 1.1)."""
        return self._make(_fractions(shape, seed) / 2 + 0.6, dtype)

    def ints(self, shape: Any, high: int, dtype: str = "int64", seed: int = 0) -> Any:
        """A tensor of whole numbers in [0, high)."""
        return self._make(np.floor((_fractions(shape, seed) / 2 + 0.5) * high), dtype)

    def bools(self, shape: Any, seed: int = 0) -> Any:
        """A tensor of truth values, about half of them True."""
        return self._make(_fractions(shape, seed) > 0, "bool")

    def weighted(self, result: Any) -> Any:
        """The sum of one or several results, each weighted by a formula."""
        results = result if isinstance(result, (list, tuple)) else [result]
        total = 0.0
        for n, r in enumerate(results):
            total = total + (r * self.t(list(r.shape), str(r.dtype).rpartition(".")[2], seed=11 + n)).sum()
        return total

    def grad(self, function: Any, *tensors: Any) -> list[Any]:
        """The gradients of ``weighted(function(*tensors))``; None where there is none."""
        leaves = []
        for tensor in tensors:
            leaf = tensor.detach().clone()
            leaf.stop_gradient = False
            leaves.append(leaf)
        found = self.paddle.grad(self.weighted(function(*leaves)), leaves, allow_unused=True)
        return list(found)

    def formula(self, layer: Any) -> Any:
        """``layer`` with its parameters set by a formula: it draws differently here and there."""
        for n, parameter in enumerate(layer.parameters()):
            fan = int(np.prod(parameter.shape[1:])) or 1
            parameter.set_value(self.t(parameter.shape, seed=20 + n) / float(fan) ** 0.5)
        return layer

    def program(self, build: Any, shapes: Any = None, **feed: Any) -> Any:
        """What ``build`` gives, a value or several, in a new Program that is fed ``feed``.

        ``shapes`` has declared shapes that are not those of the values.
        """
        static = self.paddle.static
        self.paddle.enable_static()
        try:
            main, start = static.Program(), static.Program()
            with static.program_guard(main, start), static.scope_guard(static.Scope()):
                declared = {name: list(value.shape) for name, value in feed.items()}
                declared.update(shapes or {})
                data = [static.data(name, declared[name], str(value.dtype)) for name, value in feed.items()]
                made = build(*data)
                exe = static.Executor()
                exe.run(start)
                several = list(made) if isinstance(made, (list, tuple)) else [made]
                return exe.run(main, feed=feed, fetch_list=several)
        finally:
            self.paddle.disable_static()

    def refusal(self, function: Any, error: Any, kind: str = "InvalidArgument") -> list[bool]:
        """Whether ``function`` raises ``error``, with Paddle's word for its kind in text and argument."""
        try:
            made = function()
        except error as found:
            said = f"({kind})" if kind else ""
            return [said in str(found), said in str(found.args[0] if found.args else "")]
        raise AssertionError(f"does not raise {error.__name__}: {made}")

    def signature(self, function: Any, method: bool = False) -> str:
        return written_signature(function, method)

    def names(self) -> dict[str, Any]:
        helpers = (
            "t",
            "pos",
            "ints",
            "bools",
            "grad",
            "weighted",
            "formula",
            "signature",
            "program",
            "refusal",
        )
        shortcuts = {"paddle": self.paddle, "nn": self.paddle.nn, "F": self.paddle.nn.functional, "np": np}
        return {**shortcuts, **{name: getattr(self, name) for name in helpers}}

    def run(self, code: str) -> Any:
        """The value of the code's last line, encoded; an exception is encoded too."""
        paddle = self.paddle
        paddle.disable_static()
        paddle.set_default_dtype("float32")
        paddle.set_printoptions(precision=8, threshold=1000, edgeitems=3, sci_mode=False, linewidth=80)
        paddle.seed(0)
        np.random.seed(0)
        random.seed(0)
        try:
            value = self.value(code, self.names())
        except Exception as error:
            self.raised.append(error)
            return {"raises": _builtin(error)}
        return self.encode(value)

    def value(self, code: str, names: dict[str, Any]) -> Any:
        """The value of the code's last line, which sees ``names``."""
        tree = ast.parse(code)
        last = tree.body.pop()
        assert isinstance(last, ast.Expr), f"the last line of a case is an expression: {code!r}"
        names = dict(names)
        exec(compile(tree, "<case>", "exec"), names)
        return eval(compile(ast.Expression(last.value), "<case>", "eval"), names)

    # -- writing down ----------------------------------------------------------------------------------------
    def encode(self, value: Any) -> Any:
        """``value`` as what JSON can hold; other values are refused."""
        paddle = self.paddle
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, paddle.Tensor) and value.is_sparse():
            positions = [value.indices()] if value.is_sparse_coo() else [value.crows(), value.cols()]
            parts = [self.encode(part) for part in positions]
            return {"sparse": parts, "shape": list(value.shape), "values": self.encode(value.values())}
        if isinstance(value, paddle.Tensor):
            dtype = str(value.dtype).rpartition(".")[2]
            array = value.astype("float32").numpy() if dtype == "bfloat16" else value.numpy()
            found = {"tensor": dtype, "shape": list(value.shape), "data": _data(array)}
            return found if value.stop_gradient else {**found, "stop_gradient": False}
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in "biufc":
                raise TypeError(f"an array of {value.dtype} is not recorded: {value!r}")
            return {"array": str(value.dtype), "shape": list(value.shape), "data": _data(value)}
        if isinstance(value, np.generic):
            return {"scalar": str(value.dtype), "shape": [], "data": _data(np.asarray(value))}
        if isinstance(value, paddle.dtype):
            return {"dtype": str(value).rpartition(".")[2]}
        if isinstance(value, list):
            return [self.encode(v) for v in value]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(v) for v in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, type):
            return {"type": value.__name__}
        raise TypeError(f"write what of it is to be compared, e.g. str(): {type(value)} is not recorded")


def written_signature(function: Any, method: bool = False) -> str:
    """``(x, axis=None, *, name=None)``: names, order and defaults, without types and a method's self."""
    shown, before = [], None
    for p in list(inspect.signature(function).parameters.values())[int(method) :]:
        if p.kind is p.KEYWORD_ONLY and before not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            shown.append("*")
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        shown.append(stars + p.name + ("" if p.default is p.empty else f"={_shown(p.default)}"))
        before = p.kind
    return f"({', '.join(shown)})"


def _shown(default: Any) -> str:
    """A default value as text: 1.0 like 1, a tuple like a list, of an object its class."""
    if isinstance(default, (list, tuple)):
        return f"[{', '.join(_shown(v) for v in default)}]"
    if isinstance(default, float) and default.is_integer():
        return repr(int(default))
    if default is None or isinstance(default, (bool, int, float, str)):
        return repr(default)
    return f"<{default.__name__ if isinstance(default, type) else type(default).__name__}>"


def _builtin(error: BaseException) -> str:
    """The name of the nearest built-in class of an exception."""
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


def _data(array: Any) -> list[Any]:
    flat = array.reshape(-1)
    if array.dtype.kind == "c":
        parts = flat.view("float32" if array.dtype.itemsize == 8 else "float64")
        return [float(str(x)) for x in parts]
    if array.dtype.kind == "f":  # the shortest text that reads back as the same float16 or float32
        return [float(str(x)) for x in flat]
    return flat.tolist()
