"""What a batch does in the layers of a network: dead units, and the parameters that the output depends on."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.eager.grad_mode import no_grad
from engine.eager.mode import unwatch, watch
from engine.jit.switch import Switch
from engine.nn.layer.norm import BatchNorm, SyncBatchNorm, _BatchNormBase
from engine.training.randomness import measuring
from engine.training.sources.several_inputs import Samples
from resources.training_events import UnitState

if TYPE_CHECKING:
    from engine.nn import Layer

_RELU = ("relu", "relu6")


@dataclass
class ForwardLook:
    """``units``: for each ReLU how many of its units are zero for the whole batch. ``used``: the names of the
    trained parameters whose values reach the output."""

    units: list[UnitState] = field(default_factory=list)
    used: list[str] = field(default_factory=list)


def look_forward(network: Layer, images: Samples, called: Callable[[Any], Any] | None = None) -> ForwardLook:
    """Run the network once, eagerly, in evaluation mode, and look at what each operator gives.

    A unit is a channel of an image, or a number of a vector. A ReLU is called after the layer with
    parameters that ran before it. Batch norms use the statistics of the batch, as the step did: at the
    beginning their running ones are far off. Modes, running statistics and random numbers are restored.

    Args:
        called: takes ``images`` where the network itself takes its inputs as arguments of their own.
    """
    units = _DeadUnits()
    reach = _Reach({name: value for name, value in network.named_parameters() if not value.stop_gradient})

    def look(opdef: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], made: list[Any]) -> None:
        results = [None if each is None else each._array for each in made]
        units.look(opdef, results)
        reach.look(inputs, results)

    norms = [layer for layer in network.sublayers(include_self=True) if _uses_batch(layer)]
    recording = _recording_layers(network, units.passed)
    with measuring(network), no_grad(), Switch.as_written(), _batch_statistics(norms), recording:
        watch(look)
        try:
            output = (called or network)(images)
        finally:
            unwatch(look)
    return ForwardLook(units.found, reach.names_behind(output))


class _DeadUnits:
    """Counts the units of each ReLU that are zero for all samples."""

    def __init__(self) -> None:
        self.found: list[UnitState] = []
        self.passed: list[
            str
        ] = []  # the layers with parameters of their own, in the order in which they ended
        self._counts: dict[str, int] = {}

    def look(self, opdef: Any, results: list[Any]) -> None:
        if opdef.name not in _RELU or results[0].ndim < 2:
            return
        array, counts = results[0], self._counts
        alive = (array > 0).any(axis=tuple(axis for axis in range(array.ndim) if axis != 1))
        name = self.passed[-1] if self.passed else opdef.name
        counts[name] = counts.get(name, 0) + 1
        self.found.append(
            UnitState(
                name=name if counts[name] == 1 else f"{name} #{counts[name]}",
                operator=opdef.name,
                units=int(alive.size),
                dead=int(alive.size) - int(alive.sum()),
            )
        )


class _Reach:
    """Follows which parameters each array depends on, as bits; arrays are known by weak references."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self._names = list(parameters)
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        for bit, parameter in enumerate(parameters.values()):
            self._set(parameter._array, 1 << bit)

    def look(self, inputs: tuple[Any, ...], results: list[Any]) -> None:
        bits = 0
        for value in inputs:
            bits |= self._bits(value)
        if bits:
            for result in results:
                if result is not None:
                    self._set(result, bits | self._of_array(result))

    def names_behind(self, output: Any) -> list[str]:
        """The parameters that ``output``, a Tensor or a nest of them, depends on."""
        bits = self._bits(output)
        return [name for bit, name in enumerate(self._names) if bits >> bit & 1]

    def _bits(self, value: Any) -> int:
        if isinstance(value, list | tuple):
            bits = 0
            for each in value:
                bits |= self._bits(each)
            return bits
        return self._of_array(getattr(value, "_array", None))

    def _of_array(self, array: Any) -> int:
        found = self._known.get(id(array))
        return 0 if found is None or found[0]() is not array else found[1]

    def _set(self, array: Any, bits: int) -> None:
        self._known[id(array)] = (weakref.ref(array), bits)


def _uses_batch(layer: Any) -> bool:
    """Whether it is a batch norm in training mode; not one that waits for other processes."""
    is_norm = isinstance(layer, _BatchNormBase | BatchNorm) and not isinstance(layer, SyncBatchNorm)
    return is_norm and bool(layer.training)


@contextmanager
def _batch_statistics(norms: list[Any]) -> Iterator[None]:
    """Let batch norms use the statistics of the batch within the block; restores their running ones."""
    running = [tensor for norm in norms for tensor in (norm._mean, norm._variance)]
    values = [tensor._array.copy() for tensor in running]
    for norm in norms:
        norm.training = True
    try:
        yield
    finally:
        for tensor, value in zip(running, values, strict=True):
            tensor.set_value(value)


@contextmanager
def _recording_layers(network: Any, passed: list[str]) -> Iterator[None]:
    """Within the block layers that have parameters of their own add their names when their forward ends."""
    with ExitStack() as hooks:
        for name, layer in network.named_sublayers():
            if layer.parameters(include_sublayers=False):

                def note(*_: Any, name: str = name) -> None:
                    passed.append(name)

                hooks.callback(layer.register_forward_post_hook(note).remove)
        yield
