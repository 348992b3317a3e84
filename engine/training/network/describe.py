"""A model's Program and sources as plain data, for a window that must not import the model's code."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.training.config import TrainingConfig
from engine.training.data import BUILT_IN, load_data
from engine.training.events import now
from engine.training.network.model_inputs import input_specs, named
from engine.training.randomness import measuring
from engine.training.resolve import fitted, with_kind
from engine.training.sources.options import DataOptions
from engine.training.sources.several_inputs import Feed
from engine.training.sources.spec import DataSpec
from resources.regular_files import read_regular_text
from resources.training_events import ProgramShown

if TYPE_CHECKING:
    from engine.nn import Layer

DIGIT_SHAPE = (1, 28, 28)


def program_event(
    network: Layer, config: TrainingConfig, shape: Sequence[int] = (), feeds: Sequence[Feed] = ()
) -> ProgramShown:
    """The inference Program of ``network``, its file and its converted source, as plain data.

    The network's modes and all random numbers are afterwards as they were.

    Args:
        shape: that of a sample; by default that of the config's data, which is read for it.
        feeds: the inputs of a model that takes several; by default as ``shape``.

    Raises:
        ConversionError: the forward can't be converted. Errors of the forward itself are raised unchanged.
    """
    from engine import jit
    from engine.jit.input_spec import InputSpec
    from engine.program.saved.serialize import to_plain

    if not shape and not feeds:
        spec = data_spec(config)
        shape, feeds = spec.shape, named(spec.feeds, network)
    specs = input_specs(feeds) or [InputSpec(shape=[None, *shape], dtype="float32", name="x")]
    with measuring(network):
        forward = jit.to_static(network.forward, input_spec=specs, full_graph=True)
        program = forward.concrete_program.main_program
        converted = forward.code
    return with_sources(network, config, to_plain(program), str(program), converted)


def with_sources(
    network: Layer, config: TrainingConfig, program: Mapping[str, Any], text: str, converted: str
) -> ProgramShown:
    """The event of a plain Program, with the file of the network."""
    file, line = _place(network)
    return ProgramShown(
        event="program",
        time=now(),
        model=config.model,
        program=dict(program),
        text=text,
        source=read_regular_text(file) if file else "",
        source_file=file,
        source_line=line,
        converted=converted,
    )


def data_spec(config: TrainingConfig) -> DataSpec:
    """What the config's data is; the built-in data need not be read for it."""
    if config.data in BUILT_IN and not config.resize and config.color != "rgb":
        return DataSpec("images", "classes", DIGIT_SHAPE, tuple(map(str, range(10))))
    return load_data(config.data, options=DataOptions.of(with_kind(config))).spec


def fitted_to_data(config: TrainingConfig) -> TrainingConfig:
    """``config`` fitted to its data, which is read unless it is built in.

    Raises as ``resolve.fitted``, and as ``load_data`` does.
    """
    return fitted(config, data_spec(with_kind(config)))


def fed_inputs(config: TrainingConfig, network: Layer) -> list[tuple[tuple[int | None, ...], str]]:
    """Shape and dtype of each input of ``network`` as the config's data feeds it.

    Raises:
        ArgumentError: the network takes another number of inputs. As ``data_spec``.
    """
    spec = data_spec(config)
    feeds = named(spec.feeds, network) if spec.feeds else ()
    return [((None, *feed.shape), feed.dtype) for feed in feeds] or [((None, *spec.shape), "float32")]


def _place(network: Layer) -> tuple[str, int]:
    """File of the network's class and first line of its forward; empty and 1 where there is no file."""
    try:
        file = inspect.getsourcefile(type(network)) or ""
        _, line = inspect.getsourcelines(type(network).forward)
    except (OSError, TypeError):
        return "", 1
    return file, line
