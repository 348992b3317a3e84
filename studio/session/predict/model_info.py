"""Models for the window and the command line: what is known of one, what it says of what it is fed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from studio.session.predict.info_file_check import checked_information
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_input import array_of, inputs_of

if TYPE_CHECKING:
    from engine.core.models.limits import ModelLimits
    from engine.training.exporting.raw_inputs import RawInputs

MOST_CLASSES = 100_000
# What a person gives: the array of the only input, or one for each of several.
Values = NDArray[Any] | tuple[NDArray[Any], ...]


@dataclass(frozen=True)
class ModelInfo:
    """What the files say about a model. ``sizes`` are bytes by file name; ``own`` models have no limits.

    ``prefix`` is the folder of a run where ``choice`` is one. ``raw`` turns rows, sequences and the model's
    numbers into what people read, where the files say what the data was.
    """

    choice: ModelChoice
    prefix: str
    name: str
    inputs: tuple[dict[str, Any], ...]
    classes: tuple[str, ...]
    scaling: dict[str, Any]
    sizes: dict[str, int]
    save_id: str
    info: dict[str, Any]
    own: bool = True
    raw: RawInputs | None = None

    @property
    def predicts_numbers(self) -> bool:
        """Whether the model predicts numbers with names, and no classes."""
        return self.raw is not None and self.raw.spec.task == "numbers"

    @property
    def total_size(self) -> int:
        return sum(self.sizes.values())


def model_info(choice: ModelChoice, info: object, save_id: str, own: bool) -> ModelInfo:
    """What is known of a model, from the content of its file of information, which is checked.

    Raises:
        FormatError: it says other things than a saved model does.
    """
    from engine.jit.saved.model_files import model_paths, model_prefix

    if choice.of_run:
        path = Path(choice.path)
        described, files = Path(choice.checkpoint), [Path(choice.checkpoint)]
    else:
        path, files = model_prefix(choice.path), model_paths(choice.path)
        described = files[-1]
    found, added = checked_information(info, described)
    raw = None
    if "data_spec" in added:
        from engine.training.exporting.raw_inputs import RawInputs

        raw = RawInputs.of(added)
    return ModelInfo(
        choice=choice,
        prefix=str(path),
        name=path.name,
        inputs=tuple(_spec(place, spec) for place, spec in enumerate(found.get("inputs", []))),
        classes=tuple(str(name) for name in added.get("classes", [])),
        scaling=dict(added.get("scaling", {})),
        sizes={file.name: file.stat().st_size for file in files},
        save_id=save_id,
        info=added,
        own=own,
        raw=raw,
    )


def _spec(place: int, spec: dict[str, Any]) -> dict[str, Any]:
    """The name, shape (-1 for any size) and dtype of an input, whatever its file leaves out."""
    return {
        "name": str(spec.get("name") or f"input {place}"),
        "shape": [-1 if size is None else size for size in spec["shape"]],
        "dtype": str(spec.get("dtype", "float32")),
    }


def arrays_of(info: ModelInfo, values: Values | Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """What the model is fed for values of a person, one for each input, scaled and shaped as its files say.

    Raises:
        ArgumentError: the model takes other shapes, or another number of inputs.
    """
    from engine.core.errors import ArgumentError

    asked = inputs_of(info)
    if isinstance(values, np.ndarray):
        values = [values]
    if len(values) != len(asked):
        names = ", ".join(each.name for each in asked)
        raise ArgumentError(
            f"{info.prefix}: the model takes {len(asked)} inputs ({names}): got {len(values)}; "
            "give each of them"
        )
    return [
        array_of(each, value, info.scaling, info.prefix) for each, value in zip(asked, values, strict=True)
    ]


def scores_of(info: ModelInfo, outputs: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """The scores in a model's outputs, one for each class.

    Raises:
        FormatError: the first output is not a list of scores.
    """
    from engine.core.errors import FormatError

    first = outputs[0] if outputs else np.zeros(0)
    if first.dtype.kind not in "fiub" or not 0 < first.size <= MOST_CLASSES:
        raise FormatError(
            f"{info.prefix}: the model gives no scores of classes: {first.dtype} of shape "
            f"{list(first.shape)}; choose a model that classifies"
        )
    found = first.astype(np.float64).reshape(-1)
    if info.raw is not None and info.predicts_numbers:
        info.raw.numbers(found)  # refuses another number of them
    return found


Scores = Callable[[Values], NDArray[np.float64]]


@contextmanager
def opened(prefix: str, limits: ModelLimits) -> Iterator[tuple[ModelInfo, Scores]]:
    """A model and a function that gives its scores of one sample. No user code is run.

    A model that this installation did not write runs in a process of its own within ``limits``.

    Raises:
        DataError, FormatError: a file is absent, damaged, or of another save than the others.
        DeviceError: the model is untrusted and a GPU computes, where no limits apply.
        LimitError, ProgramError: an untrusted model exceeds its limits, or crashes.
    """
    from engine.core.errors import DeviceError
    from engine.core.place import current_place
    from engine.jit.saved.model_files import is_own_model, model_prefix

    path = model_prefix(prefix)
    if is_own_model(path):
        yield _in_this_process(path)
        return
    from engine.inference.process import ModelProcess

    if current_place().is_gpu_place():
        raise DeviceError(
            f"{prefix}: a model from elsewhere runs within limits, which a GPU does not keep: got "
            f"{current_place().device}; predict with --device cpu"
        )
    with ModelProcess(path, limits) as apart:
        described = apart.load()
        info = model_info(ModelChoice(str(path)), described.info, described.save_id, described.own)
        yield info, lambda values: scores_of(info, apart.run(arrays_of(info, values)))


def _in_this_process(prefix: Path) -> tuple[ModelInfo, Scores]:
    import engine
    from engine.jit.export import prediction_layer
    from engine.jit.saved.model_files import read_model_files

    files = read_model_files(prefix)
    info = model_info(ModelChoice(str(prefix)), files.info, files.save_id, own=True)
    layer = prediction_layer(files)
    layer.eval()

    def scores(values: Values) -> NDArray[np.float64]:
        with engine.no_grad():
            found = layer(*[engine.to_tensor(array) for array in arrays_of(info, values)])
        outputs = found if isinstance(found, list | tuple) else [found]
        return scores_of(info, [output.numpy() for output in outputs])

    return info, scores
