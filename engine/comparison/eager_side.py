"""Records a step that runs eagerly: each operator with its layer call, values and gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from engine.autodiff.edges import end
from engine.autodiff.tape import observer
from engine.comparison.recorded import Applied
from engine.comparison.values import Value, ValueStore
from engine.core.containers.nest import flatten
from engine.core.frames import line_of, user_frame
from engine.core.layer_calls import layer_call, noting_layer_calls
from engine.core.operators.opdef import OpDef
from engine.eager.mode import unwatch, watch
from engine.eager.tensor import Tensor
from engine.jit.switch import Switch


class EagerRecorder:
    """Records the operators that are applied in ``forward()``, and their gradients in ``backward()``.

    ``names`` are those of Layers, by id; ``weights`` the names of parameters and buffers, by id of Tensor.
    """

    def __init__(self, store: ValueStore, names: Mapping[int, str], weights: Mapping[int, str]) -> None:
        self.operators: list[Applied] = []
        self._store, self._names, self._weights = store, names, weights
        self._orders: Counter[tuple[str, str]] = Counter()
        self._nodes: dict[int, tuple[Any, Applied]] = {}

    @contextmanager
    def forward(self) -> Iterator[None]:
        """Record what is applied within the block."""
        note = self._note
        with Switch.as_written(), noting_layer_calls(self._names):
            watch(note)
            try:
                yield
            finally:
                unwatch(note)

    @contextmanager
    def backward(self) -> Iterator[None]:
        """Record the gradients of recorded operators within the block."""
        token = observer.set(self._note_gradients)
        try:
            yield
        finally:
            observer.reset(token)
            self._nodes.clear()

    def _note(
        self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any], results: list[Tensor | None]
    ) -> None:
        written = {output.writes for output, r in zip(opdef.outputs, results, strict=False) if r is not None}
        made = Applied(opdef.name, layer_call(), attrs=opdef.with_defaults(attrs), random=opdef.random)
        frame = user_frame()
        if frame is not None:
            made.file, made.line = frame.f_code.co_filename, line_of(frame.f_code, frame.f_lasti)
        for declared, value in opdef.named_inputs(inputs):
            if value is None or declared.name in written:
                continue
            for tensor in value if isinstance(value, list | tuple) else (value,):
                name = self._weights.get(id(tensor))
                kept = self._store.put(name or declared.name, tensor._array)
                (made.inputs if name is None else made.weights).append(kept)
        made.order = self._orders[made.layer, made.type]
        self._orders[made.layer, made.type] += 1
        names = opdef.output_names
        for n, result in enumerate(results):
            if result is not None:
                made.outputs.append(self._store.put(names[min(n, len(names) - 1)], result._array))
        self.operators.append(made)
        for result in results:
            if result is not None and result._edge is not None:
                node, _ = end(result._edge)
                self._nodes[id(node)] = (node, made)
                break

    def _note_gradients(self, node: Any, grads: list[Any], results: list[Any]) -> None:
        found = self._nodes.get(id(node))
        if found is None:
            return  # of another graph, or of what recompute runs again
        made = found[1]
        made.given = [None if each is None else self._kept("gradient", each) for each in grads]
        for declared, edge, result in zip(node.opdef.inputs, node.edges, results, strict=False):
            pairs = zip(edge, result or (), strict=False) if isinstance(edge, list) else ((edge, result),)
            for n, (leads, gradient) in enumerate(pairs):
                if leads is not None and gradient is not None:
                    name = f"{declared.name}[{n}]" if isinstance(edge, list) else declared.name
                    made.made.append(self._kept(name, gradient))

    def _kept(self, name: str, gradient: Any) -> Value:
        return self._store.put(name, gradient._array)


def record_eager(
    call: Callable[[], Any],
    store: ValueStore,
    names: Mapping[int, str],
    weights: Mapping[int, str],
    gradients: bool = True,
) -> tuple[list[Applied], list[Value]]:
    """Run ``call`` eagerly, then ``backward()`` of the first Tensor that it gives; the operators, and its
    results.

    ``names`` and ``weights`` are as :class:`EagerRecorder` takes them.
    """
    recorder = EagerRecorder(store, names, weights)
    with recorder.forward():
        found = call()
    results = [each for each in flatten(found) if isinstance(each, Tensor)]
    values = [store.put(f"result {n}", each._array) for n, each in enumerate(results)]
    if gradients and results and results[0]._edge is not None:
        with Switch.as_written(), recorder.backward():
            results[0].backward()
    return recorder.operators, values
