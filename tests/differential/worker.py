"""Makes described calls with Paddle or with the engine, and writes down what each gives.

    python tests/differential/worker.py paddle|engine CALLS RESULTS START

It runs under both interpreters, so it imports neither at the top. Each call writes two lines: its number
before it begins, so that the number of one that ends the process is known, and its result.
"""

from __future__ import annotations

import faulthandler
import gzip  # noqa: F401 - importing it after paddle crashes paddle 2.6.2
import importlib
import json
import operator
import random
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = 0.6180339887498949
LONGEST = 20.0  # seconds for one call
# "(InvalidArgument) text", or "InvalidArgumentError: text" where Paddle adds its stack.
KINDS_OF_ERRORS = re.compile(
    r"(?:\(|^ *)(InvalidArgument|NotFound|OutOfRange|AlreadyExists|ResourceExhausted|PreconditionNotMet|"
    r"PermissionDenied|ExecutionTimeout|Unimplemented|Unavailable|Fatal|External)(?:\)|Error: )",
    re.MULTILINE,
)


def array(made: dict[str, Any]) -> Any:
    """The values of a described tensor."""
    shape, dtype, values = made["t"], made["d"], made["v"]
    count = int(np.prod(shape))
    fractions = ((np.arange(count) + 1) * GOLDEN + made["s"] * 0.377) % 1.0
    unit = np.round(fractions * 2 - 1, 3)
    if values == "just":
        found = np.asarray(made["data"]).reshape(-1)
    elif values == "ints":
        low, high = made.get("lo", 0), made["hi"]
        found = np.floor(fractions * max(high - low, 1)) + low
    elif values == "bool":
        found = fractions > 0.5
    elif values == "pos":
        found = np.round(fractions + 0.1, 3)
    elif values == "prob":
        found = np.round(fractions, 3)
    elif values == "sorted":
        found = np.sort(unit.reshape(shape), -1).reshape(-1) if count and shape else unit
    elif values == "wide":
        found = np.round(unit * 6) / 2
    elif values == "special":
        odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 3.0])
        found = np.where(fractions < 0.5, unit, odd[(fractions * 97).astype(int) % 7])
        if np.dtype("float32" if dtype == "bfloat16" else dtype).kind in "iub":
            found = np.round(unit * 3)
    elif values == "spd":
        n = shape[-1]
        base = unit.reshape(shape)
        found = (base @ np.swapaxes(base, -1, -2) + np.eye(n) * (n or 1)).reshape(-1)
    else:
        found = unit
    kind = np.dtype("float32" if dtype == "bfloat16" else dtype).kind
    if kind == "c" and values not in ("just", "ints", "bool"):
        found = found + 1j * np.roll(found, 1)
    if kind in "iu" and values in ("unit", "pos", "prob", "sorted"):
        found = np.round(found * 5)
    if kind == "u":
        found = np.abs(found)
    if kind == "b" and values != "bool":
        found = found > 0
    return found.astype("float32" if dtype == "bfloat16" else dtype).reshape(shape)


def _subscripted(x: Any, index: Any) -> Any:
    return x[index]


def _assigned(x: Any, index: Any, value: Any) -> Any:
    x[index] = value
    return x


class Side:
    """One implementation of Paddle's API."""

    def __init__(self, paddle: Any) -> None:
        self.paddle = paddle

    # ----- arguments -----

    def value(self, made: Any, tensor: Callable[[dict[str, Any]], Any]) -> Any:
        """A described argument; ``tensor`` makes the tensors in it."""
        if "t" in made:
            return tensor(made)
        if "v" in made:
            return made["v"]
        if "list" in made:
            return [self.value(each, tensor) for each in made["list"]]
        if "tuple" in made:
            return tuple(self.value(each, tensor) for each in made["tuple"])
        if "dtype" in made:
            return getattr(self.paddle, made["dtype"])
        if "npdtype" in made:
            return np.dtype(made["npdtype"])
        if "np" in made:
            found = array(made["np"])
            return found if found.ndim else found[()]
        if "slice" in made:
            return slice(*made["slice"])
        if "complex" in made:
            return complex(*made["complex"])
        if "ellipsis" in made:
            return ...
        raise TypeError(f"not described: {made}")

    def function(self, name: str) -> Callable[..., Any]:
        """What a call names: a public function, a method of its first argument, an operator."""
        owner, _, last = name.rpartition(".")
        if owner == "operator":
            special = {"getitem": _subscripted, "setitem": _assigned}
            return special[last] if last in special else getattr(operator, last)
        if owner == "paddle.Tensor":
            return lambda x, *arguments, **named: getattr(x, last)(*arguments, **named)
        found = self.paddle
        parts = name.split(".")[1:]
        for n, part in enumerate(parts):
            try:
                found = getattr(found, part)
            except AttributeError:
                if n == len(parts) - 1:
                    raise
                found = importlib.import_module(".".join([self.paddle.__name__, *parts[: n + 1]]))
        return found

    # ----- the two ways to call -----

    def eager(self, call: dict[str, Any]) -> dict[str, Any]:
        paddle, leaves = self.paddle, []
        changes = call["name"].endswith("_") or call["name"] == "operator.setitem"

        def tensor(made: dict[str, Any]) -> Any:
            found = paddle.to_tensor(array(made))
            if made["d"] == "bfloat16":
                found = found.astype("bfloat16")
            if call["grad"] and made["d"][0] in "fcb" and made["d"] != "bool" and made["v"] != "just":
                found.stop_gradient = False
                leaves.append(found)
                if changes and len(leaves) == 1:
                    found = paddle.assign(found)
            return found

        arguments = [self.value(each, tensor) for each in call["args"]]
        named = {key: self.value(each, tensor) for key, each in call["named"].items()}
        result = self.function(call["name"])(*arguments, **named)
        found = {"result": self.encode(result)}
        if changes and arguments:
            found["changed"] = self.encode(arguments[0])
        outputs = [each for each in _flat(result) if self._differentiable(each)]
        if leaves and outputs:
            weights = [
                paddle.to_tensor(_weights(each.shape, each.dtype, n)) for n, each in enumerate(outputs)
            ]
            weights = [w.astype(each.dtype) for w, each in zip(weights, outputs, strict=True)]
            try:
                gradients = paddle.grad(outputs, leaves, weights, allow_unused=True)
                found["gradients"] = [self.encode(each) for each in gradients]
            except Exception as error:
                found["gradients"] = raised(error)
        return found

    def _differentiable(self, each: Any) -> bool:
        return (
            isinstance(each, self.paddle.Tensor)
            and not each.stop_gradient
            and "sparse" not in str(type(each))
        )

    def static(self, call: dict[str, Any], eager: dict[str, Any]) -> dict[str, Any]:
        """The call in a Program; gradients where the eager call has them."""
        paddle, static = self.paddle, self.paddle.static
        paddle.enable_static()
        try:
            main, start = static.Program(), static.Program()
            guards = static.program_guard(main, start), static.scope_guard(static.Scope())
            with paddle.utils.unique_name.guard(), guards[0], guards[1]:
                return self._static(call, eager, main, start)
        finally:
            paddle.disable_static()

    def _static(self, call: dict[str, Any], eager: dict[str, Any], main: Any, start: Any) -> dict[str, Any]:
        paddle, static = self.paddle, self.paddle.static
        feed: dict[str, Any] = {}
        leaves = []
        unknown = random.Random(call["number"])

        def tensor(made: dict[str, Any]) -> Any:
            name, shape = f"in{len(feed)}", list(made["t"])
            if call["unknown"]:
                shape = [-1 if unknown.random() < 0.5 else n for n in shape]
            found = static.data(name, shape, made["d"])
            feed[name] = _fed(array(made), made["d"])
            if call["grad"] and made["d"][0] in "fcb" and made["d"] != "bool" and made["v"] != "just":
                found.stop_gradient = False
                leaves.append(found)
            return found

        arguments = [self.value(each, tensor) for each in call["args"]]
        named = {key: self.value(each, tensor) for key, each in call["named"].items()}
        result = self.function(call["name"])(*arguments, **named)
        Variable = static.Variable
        outputs = [each for each in _flat(result) if isinstance(each, Variable)]
        plain = [self.encode(each) for each in _flat(result) if not isinstance(each, Variable)]
        fetched = list(outputs)
        gradients: Any = None
        targets = [each for each in outputs if not each.stop_gradient]
        done = eager.get("gradients")
        shapes = [each for each in _encoded(eager.get("result")) if each.get("stop_gradient") is False]
        dtypes = [str(each.dtype).rpartition(".")[2].lower() for each in targets]
        if leaves and targets and isinstance(done, list) and dtypes == [each["tensor"] for each in shapes]:
            weights = []
            for n, each in enumerate(shapes):
                dtype = each["tensor"]
                weight = static.data(f"w{n}", list(targets[n].shape), dtype)
                feed[f"w{n}"] = _fed(_weights(each["shape"], dtype, n), dtype)
                weights.append(weight)
            try:
                gradients = static.gradients(targets, leaves, weights)
                fetched += [each for each in gradients if each is not None]
            except Exception as error:
                gradients = raised(error)
        exe = static.Executor(paddle.CPUPlace())
        exe.run(start)
        values = exe.run(main, feed=feed, fetch_list=fetched) if fetched else []
        found: dict[str, Any] = {"result": [self.encode(np.asarray(each)) for each in values[: len(outputs)]]}
        found["plain"] = plain
        found["declared"] = [str(each.dtype).rpartition(".")[2].lower() for each in outputs]
        found["sizes"] = [[n if type(n) is int and n >= 0 else -1 for n in each.shape] for each in outputs]
        if isinstance(gradients, list):
            rest = iter(values[len(outputs) :])
            found["gradients"] = [
                None if g is None else self.encode(np.asarray(next(rest))) for g in gradients
            ]
        elif gradients:
            found["gradients"] = gradients
        return found

    # ----- writing down -----

    def encode(self, value: Any) -> Any:
        paddle = self.paddle
        if isinstance(value, paddle.Tensor):
            if value.is_sparse():
                parts = [value.indices()] if value.is_sparse_coo() else [value.crows(), value.cols()]
                return {"sparse": [self.encode(each) for each in [*parts, value.values()]], "of": value.shape}
            dtype = str(value.dtype).rpartition(".")[2]
            numbers = value.astype("float32").numpy() if dtype == "bfloat16" else value.numpy()
            return {
                "tensor": dtype,
                "shape": list(value.shape),
                "data": _data(numbers),
                "stop_gradient": bool(value.stop_gradient),
            }
        if isinstance(value, np.ndarray):
            return {"tensor": str(value.dtype), "shape": list(value.shape), "data": _data(value)}
        if isinstance(value, np.generic):
            return {"scalar": str(value.dtype), "shape": [], "data": _data(np.asarray(value))}
        if isinstance(value, paddle.dtype):
            return {"dtype": str(value).rpartition(".")[2]}
        if isinstance(value, (list, tuple)):
            return {"several": [self.encode(each) for each in value], "in": type(value).__name__}
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"value": value}
        return {"type": type(value).__name__}

    def made(self, call: dict[str, Any]) -> dict[str, Any]:
        """What the call gives eagerly and in a Program."""
        self.paddle.disable_static()
        found: dict[str, Any] = {}
        for mode in ("eager", "static"):
            if mode == "static" and not call["static"]:
                continue
            self.paddle.seed(1)
            try:
                done = self.eager(call) if mode == "eager" else self.static(call, found["eager"])
            except Exception as error:
                done = raised(error)
            found[mode] = done
        return found


def raised(error: BaseException) -> dict[str, Any]:
    """An exception: its built-in classes, the word in brackets, its text, and whether it is meant."""
    classes = type(error).__mro__
    text = str(error)
    kinds = KINDS_OF_ERRORS.findall(text)
    return {
        "raises": [c.__name__ for c in classes if c.__module__ == "builtins" and c is not object],
        "kind": kinds[-1] if kinds else "",
        "own": any(c.__module__.startswith("engine.") for c in classes),
        "text": text[-600:],
    }


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _flat(each)]
    return [value]


def _encoded(value: Any) -> list[Any]:
    if isinstance(value, dict) and "several" in value:
        return [leaf for each in value["several"] for leaf in _encoded(each)]
    return [value] if value else []


def _weights(shape: Any, dtype: Any, number: int) -> Any:
    """What the gradient of an output is multiplied with."""
    name = str(dtype).rpartition(".")[2]
    made = {"t": list(shape), "d": name, "s": 11 + number, "v": "unit"}
    return array(made)


def _fed(values: Any, dtype: str) -> Any:
    """What an Executor is fed: numbers of bfloat16 as their bits."""
    return (values.view("uint32") >> 16).astype("uint16") if dtype == "bfloat16" else values


def _data(numbers: Any) -> list[Any]:
    flat = numbers.reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view("float32" if flat.dtype.itemsize == 8 else "float64")
    return flat.tolist()


def each_call(
    made: Callable[[dict[str, Any]], dict[str, Any]],
    calls: str,
    results: str,
    start: int,
    longest: float = LONGEST,
) -> None:
    """Write down what ``made`` gives for each line of the file ``calls``, from ``start`` on."""
    lines = Path(calls).read_text(encoding="utf-8").splitlines()
    with open(results, "a", encoding="utf-8") as written:
        for number in range(start, len(lines)):
            written.write(f"{json.dumps({'begun': number})}\n")
            written.flush()
            faulthandler.dump_traceback_later(longest, exit=True)
            try:
                done = made(json.loads(lines[number]))
            finally:
                faulthandler.cancel_dump_traceback_later()
            written.write(f"{json.dumps({'number': number, **done})}\n")
            written.flush()


def main() -> None:
    which, calls, results, start = sys.argv[1:5]
    warnings.simplefilter("ignore")
    paddle = importlib.import_module(which)
    if which == "paddle":
        paddle.disable_signal_handler()
    paddle.set_device("cpu")
    each_call(Side(paddle).made, calls, results, int(start))


if __name__ == "__main__":
    main()
