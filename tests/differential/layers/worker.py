"""Builds layers with Paddle or with the engine, applies them in each mode, and writes down what each gives.

    python tests/differential/layers/worker.py paddle|engine CASES RESULTS START

It runs under both interpreters, as ``tests/differential/worker.py``, whose encoding it shares.
"""

from __future__ import annotations

import gzip  # noqa: F401 - importing it after paddle crashes paddle 2.6.2
import importlib
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[3])]

from tests.differential.layers.networks import networks  # noqa: E402 - found from the line above
from tests.differential.worker import Side, each_call, raised  # noqa: E402
from tests.oracle.scope import Scope  # noqa: E402

LONGEST = 120.0  # seconds for one case
MOST = 500
UNUSED = "_dropout_state"  # a buffer that Paddle's recurrent layers have for cuDNN
MODES = ("eager", "to_static", "saved", "saved with unknown sizes")


class Layers:
    """One implementation of Paddle's API, and what its layers give."""

    def __init__(self, paddle: Any, folder: Path) -> None:
        self.paddle = paddle
        self.scope = Scope(paddle)
        self.side = Side(paddle)
        self.names = {**self.scope.names(), **networks(paddle), "init": paddle.nn.initializer}
        self.folder = folder

    def encode(self, value: Any) -> Any:
        """As JSON can hold it; of a large tensor about 500 values."""
        return _thinned(self.side.encode(value))

    def made(self, case: dict[str, Any]) -> dict[str, Any]:
        """What the layer is, and what it gives in each mode."""
        paddle = self.paddle
        paddle.disable_static()
        found: dict[str, Any] = {}
        for mode, done in {"layer": self.described, **dict.fromkeys(MODES, self.applied)}.items():
            paddle.set_default_dtype("float32")
            with paddle.utils.unique_name.guard():
                try:
                    found[mode] = done(case, mode)
                except Exception as error:
                    found[mode] = raised(error)
        paddle.set_default_dtype("float32")
        return found

    def layer(self, case: dict[str, Any]) -> Any:
        self.paddle.seed(1)
        return self.scope.value(case["make"], self.names)

    def described(self, case: dict[str, Any], mode: str) -> dict[str, Any]:
        """Printed form, names, shapes and initial values of the layer's state."""
        layer = self.layer(case)
        state = layer.state_dict()
        return {
            "printed": str(layer),
            "training": layer.training,
            "names": list(state),
            "tensors": [[each.name, each.stop_gradient] for each in state.values()],
            "parameters": [name for name, _ in layer.named_parameters()],
            "buffers": [name for name, _ in self.buffers(layer)],
            "result": [self.encode(each) for each in state.values()],
        }

    def ready(self, case: dict[str, Any]) -> Any:
        """The layer with its parameters set by a formula: the same on both sides."""
        layer = self.layer(case)
        if not case["initial"]:
            for number, (name, parameter) in enumerate(layer.named_parameters()):
                fan = int(np.prod(parameter.shape[1:])) or 1
                values = self.scope.t(parameter.shape, seed=20 + number).numpy() / float(fan) ** 0.5
                values = abs(values) + 0.1 if "variance" in name else values
                parameter.set_value(values.astype(str(parameter.dtype).rpartition(".")[2]))
        return layer

    def applied(self, case: dict[str, Any], mode: str) -> dict[str, Any]:
        layer = self.ready(case)
        arguments, named = self.scope.value(
            f"_arguments({case['call']})", {**self.names, "_arguments": _arguments}
        )
        leaves = [each for each in _flat([arguments, named]) if self._floating(each)]
        for leaf in leaves:
            leaf.stop_gradient = False
        self.paddle.seed(2)
        if mode == "eager":
            return self.trained(layer, layer, arguments, named, leaves)
        if mode == "to_static":
            return self.trained(layer, self.paddle.jit.to_static(layer), arguments, named, leaves)
        tensors = [each for each in _flat([arguments, named]) if isinstance(each, self.paddle.Tensor)]
        path = str(self.folder / "net")
        shutil.rmtree(self.folder, ignore_errors=True)
        if mode == "saved":
            converted = self.paddle.jit.to_static(layer, full_graph=True)
            converted(*arguments, **named)
            self.paddle.seed(2)
            self.paddle.jit.save(converted, path)
        elif named or len(tensors) != len(arguments):
            return {"result": {"value": None}}
        else:
            spec = [
                self.paddle.static.InputSpec([None, *each.shape[1:]] if each.shape else [], each.dtype)
                for each in tensors
            ]
            self.paddle.jit.save(layer, path, input_spec=spec)
        loaded = self.paddle.jit.load(path)
        found = {"result": self.encode(loaded(*tensors))}
        found["state"] = sorted([each.name, list(each.shape)] for each in loaded.state_dict().values())
        loaded.train()
        return {**found, **self.trained(loaded, loaded, tensors, {}, leaves, "trained")}

    def buffers(self, layer: Any) -> list[tuple[str, Any]]:
        return [(name, each) for name, each in layer.named_buffers() if not name.endswith(UNUSED)]

    def trained(
        self,
        layer: Any,
        function: Callable[..., Any],
        arguments: Any,
        named: Any,
        leaves: list[Any],
        key: str = "result",
    ) -> dict[str, Any]:
        """One step of training: results, gradients of inputs and parameters, buffers after it."""
        result = function(*arguments, **named)
        found: dict[str, Any] = {key: self.encode(result)}
        outputs = [each for each in _flat(result) if self._floating(each) and not each.stop_gradient]
        parameters = sorted(
            layer.parameters(), key=lambda each: str(each.name)
        )  # a loaded layer has its order
        if outputs:
            try:
                self._weighted(outputs).backward()
                found["gradients"] = [self.encode(each.grad) for each in [*leaves, *parameters]]
            except Exception as error:
                found["gradients"] = raised(error)
        found["after"] = [self.encode(each) for _, each in self.buffers(layer)]
        return found

    def _weighted(self, outputs: list[Any]) -> Any:
        """The sum of results, each weighted by a formula."""
        total: Any = None
        for number, each in enumerate(outputs):
            weight = self.scope.t(list(each.shape), seed=11 + number).astype(each.dtype)
            part = (each * weight).sum().astype("float64")
            total = part if total is None else total + part
        return total

    def _floating(self, each: Any) -> bool:
        return isinstance(each, self.paddle.Tensor) and "float" in str(each.dtype)


def _arguments(*arguments: Any, **named: Any) -> Any:
    return list(arguments), named


def _thinned(encoded: Any) -> Any:
    if isinstance(encoded, list):
        return [_thinned(each) for each in encoded]
    if isinstance(encoded, dict) and "several" in encoded:
        return {**encoded, "several": _thinned(encoded["several"])}
    if isinstance(encoded, dict) and len(encoded.get("data", ())) > MOST:
        return {**encoded, "data": encoded["data"][:: len(encoded["data"]) // MOST]}
    return encoded


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _flat(each)]
    return [value]


def main() -> None:
    which, cases, results, start = sys.argv[1:5]
    warnings.simplefilter("ignore")
    paddle = importlib.import_module(which)
    if which == "paddle":
        paddle.disable_signal_handler()
    paddle.set_device("cpu")
    with tempfile.TemporaryDirectory() as folder:
        each_call(Layers(paddle, Path(folder) / "saved").made, cases, results, int(start), LONGEST)


if __name__ == "__main__":
    main()
