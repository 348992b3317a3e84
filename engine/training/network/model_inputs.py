"""The inputs that a model of one's own takes, compared with those that the data has."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.core.errors import ArgumentError
from engine.jit.input_spec import InputSpec
from engine.jit.static_function import StaticFunction
from engine.training.sources.several_inputs import Feed

if TYPE_CHECKING:
    from engine.nn import Layer
    from engine.training.data import DataSplits


def with_names_of(splits: DataSplits, network: Layer) -> DataSplits:
    """The same data, its inputs called as the parameters of the network's forward. Raises as ``named``."""
    feeds = named(splits.spec.feeds, network)
    return splits if feeds == splits.spec.feeds else replace(splits, spec=replace(splits.spec, feeds=feeds))


def named(feeds: Sequence[Feed], network: Layer) -> tuple[Feed, ...]:
    """The inputs of the data, called as the parameters of the network's forward; none for one input.

    Raises:
        ArgumentError: the forward takes another number of inputs, or the same names in another order.
    """
    known = _parameters_of(network)
    if known is None:
        return tuple(feeds)
    names, least = known
    count = max(1, len(feeds))
    arrays = [feed.array for feed in feeds]
    if not least <= count <= len(names):
        takes = f"{least}" if least == len(names) else f"{least} to {len(names)}"
        has = f"{count} ({', '.join(arrays)})" if feeds else "one"
        remedy = "name one array as input_name"
        if len(names) > 1:
            remedy = (
                "give an NPZ or HDF5 file with an array for each, and name them in this order: input_name "
                f"(--input-name) {','.join(names)}"
            )
        raise ArgumentError(
            f"model: forward takes {takes} input{'s' * (takes != '1')} ({', '.join(names)}), and the data "
            f"has {has}; {remedy}"
        )
    if not feeds:
        return ()
    names = names[:count]
    if sorted(names) == sorted(arrays) and names != arrays:
        raise ArgumentError(
            f"model: forward takes {', '.join(names)} in this order, and the data gives {', '.join(arrays)}; "
            f"give {','.join(names)} as input_name (--input-name)"
        )
    return tuple(replace(feed, name=name) for feed, name in zip(feeds, names, strict=True))


def input_specs(feeds: Sequence[Feed]) -> list[InputSpec]:
    """The InputSpec of each of several inputs, for a batch of any size."""
    return [InputSpec([None, *feed.shape], feed.dtype, feed.name) for feed in feeds]


def _parameters_of(network: Any) -> tuple[list[str], int] | None:
    """The names of the inputs of the forward, and how many have no default; None where that is not known."""
    forward = network.forward
    if isinstance(forward, StaticFunction):
        forward = forward.dygraph_function
    try:
        parameters = list(inspect.signature(forward).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return None
    given = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return [each.name for each in given], sum(each.default is each.empty for each in given)
