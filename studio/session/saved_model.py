"""Saved models for the window and the command line: what is known of one, what it says of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from studio.session.information import checked_information

if TYPE_CHECKING:
    from engine.core.model_limits import ModelLimits

MOST_CLASSES = 100_000


@dataclass(frozen=True)
class ModelInfo:
    """What the files say about a model. ``sizes`` are bytes by file name; ``own`` models have no limits."""

    prefix: str
    name: str
    inputs: tuple[dict[str, Any], ...]
    classes: tuple[str, ...]
    scaling: dict[str, Any]
    sizes: dict[str, int]
    save_id: str
    info: dict[str, Any]
    own: bool = True

    @property
    def total_size(self) -> int:
        return sum(self.sizes.values())


def model_info(prefix: Path, info: object, save_id: str, own: bool) -> ModelInfo:
    """What is known of a model, from the content of its file of information, which is checked.

    Raises:
        FormatError: it says other things than a saved model does.
    """
    from engine.files.inference import INFO, inference_paths

    paths = inference_paths(prefix)
    found, added = checked_information(info, paths[INFO])
    return ModelInfo(
        prefix=str(prefix), name=prefix.name, inputs=tuple(dict(spec) for spec in found.get("inputs", [])),
        classes=tuple(str(name) for name in added.get("classes", [])),
        scaling=dict(added.get("scaling", {})),
        sizes={path.name: path.stat().st_size for path in paths.values()},
        save_id=save_id, info=added, own=own,
    )  # fmt: skip


def batch_of(info: ModelInfo, picture: NDArray[Any]) -> NDArray[np.float32]:
    """What the model is fed for one picture (28x28, 0 to 1), scaled and shaped as its files say.

    Raises:
        ArgumentError: the model takes other shapes.
    """
    values = np.asarray(picture, np.float32)
    scaling = info.scaling
    with np.errstate(all="ignore"):
        if "mean" in scaling and "std" in scaling:
            values = (values - np.float32(scaling["mean"])) / np.float32(scaling["std"])
    shape = info.inputs[0]["shape"] if info.inputs else [-1, 1, 28, 28]
    wanted = [-1 if size is None else size for size in shape[1:]]
    try:
        return values.reshape([1, *wanted])
    except ValueError as error:
        from engine.core.errors import ArgumentError

        raise ArgumentError(
            f"{info.prefix}: the model takes inputs of {shape}: a picture of a digit has {values.size} "
            "values; choose a model for digits"
        ) from error


def scores_of(info: ModelInfo, outputs: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """The scores in a model's outputs, one for each class.

    Raises:
        FormatError: the first output is no list of scores.
    """
    from engine.core.errors import FormatError

    first = outputs[0] if outputs else np.zeros(0)
    if first.dtype.kind not in "fiub" or not 0 < first.size <= MOST_CLASSES:
        raise FormatError(
            f"{info.prefix}: the model gives no scores of classes: {first.dtype} of shape "
            f"{list(first.shape)}; choose a model that classifies"
        )
    return first.astype(np.float64).reshape(-1)


Scores = Callable[[NDArray[Any]], NDArray[np.float64]]


@contextmanager
def opened(prefix: str, limits: ModelLimits) -> Iterator[tuple[ModelInfo, Scores]]:
    """A model and a function that gives its scores of one picture. No user code is run.

    A model that this installation did not write runs in a process of its own within ``limits``.

    Raises:
        DataError, FormatError: a file is absent, damaged, or of another save than the others.
        LimitError, ProgramError: a stranger's model takes too much, or crashes.
    """
    from engine.files.inference import inference_prefix, is_own_inference

    path = inference_prefix(prefix)
    if is_own_inference(path):
        yield _in_this_process(path)
        return
    from engine.inference.process import ModelProcess

    with ModelProcess(path, limits) as apart:
        described = apart.load()
        info = model_info(path, described.info, described.save_id, described.own)
        yield info, lambda picture: scores_of(info, apart.run([batch_of(info, picture)]))


def _in_this_process(prefix: Path) -> tuple[ModelInfo, Scores]:
    import engine
    from engine.files.inference import read_inference
    from engine.jit.export import layer_of

    files = read_inference(prefix)
    info = model_info(prefix, files.info, files.save_id, own=True)
    layer = layer_of(files)
    layer.eval()

    def scores(picture: NDArray[Any]) -> NDArray[np.float64]:
        with engine.no_grad():
            found = layer(engine.to_tensor(batch_of(info, picture)))
        outputs = found if isinstance(found, list | tuple) else [found]
        return scores_of(info, [output.numpy() for output in outputs])

    return info, scores
