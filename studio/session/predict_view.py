"""PredictViewModel: a saved model loaded from its files, the picture it is fed, and what it answers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from psygnal import SignalGroupDescriptor

from studio.session.information import checked_information
from studio.session.problems import ProblemView, problem_from_message


@dataclass(frozen=True)
class ModelInfo:
    """What the files say about a model. ``sizes`` are bytes by file name."""

    prefix: str
    name: str
    inputs: tuple[dict[str, Any], ...]
    classes: tuple[str, ...]
    scaling: dict[str, Any]
    sizes: dict[str, int]
    save_id: str
    info: dict[str, Any]
    program: dict[str, Any] = field(default_factory=dict)

    @property
    def total_size(self) -> int:
        return sum(self.sizes.values())

    def text(self) -> str:
        """The Program as Paddle prints it."""
        from engine.program.saved.serialize import from_plain

        return str(from_plain(self.program, self.prefix))


@dataclass(frozen=True)
class LoadedModel:
    """A model that can be asked. Made off the window's thread, since reading a stranger's file takes its
    time."""

    info: ModelInfo
    layer: Any

    def scores(self, picture: NDArray[Any]) -> NDArray[np.float64]:
        """The model's scores for one picture (28x28, 0 to 1), scaled as its files say."""
        import engine

        values = np.asarray(picture, np.float32)
        scaling = self.info.scaling
        if "mean" in scaling and "std" in scaling:
            values = (values - np.float32(scaling["mean"])) / np.float32(scaling["std"])
        shape = self.info.inputs[0]["shape"] if self.info.inputs else [-1, 1, 28, 28]
        batch = values.reshape([1, *shape[1:]])
        with engine.no_grad():
            output = self.layer(engine.to_tensor(batch))
        first = output[0] if isinstance(output, list | tuple) else output
        return np.asarray(first.numpy(), np.float64).reshape(-1)


def load_model(prefix: str) -> LoadedModel:
    """Read the three files of ``prefix`` and make the model callable. No user code is run.

    Raises:
        DataError, FormatError: a file is absent, damaged, foreign, or of another save than the others.
    """
    import engine
    from engine.files.inference import INFO, describe_inference, inference_paths

    described = describe_inference(prefix)
    layer = engine.jit.load(str(described.prefix))
    layer.eval()
    paths = inference_paths(described.prefix)
    info, extra = checked_information(described.info, paths[INFO])
    return LoadedModel(
        ModelInfo(
            prefix=str(described.prefix), name=Path(described.prefix).name,
            inputs=tuple(dict(spec) for spec in info.get("inputs", [])),
            classes=tuple(str(name) for name in extra.get("classes", [])),
            scaling=dict(extra.get("scaling", {})),
            sizes={paths[suffix].name: size for suffix, size in described.sizes.items()},
            save_id=described.save_id, info=extra, program=described.program,
        ),
        layer,
    )  # fmt: skip


@dataclass
class PredictViewModel:
    """What the page Predict shows. ``ranking`` has (class, probability), the most probable first.

    ``picture`` is the 28x28 picture (float32, 0 to 1) that the model was fed; ``seconds`` is the model's time
    for it.
    """

    model: ModelInfo | None = None
    loading: bool = False
    ranking: list[tuple[str, float]] = field(default_factory=list)
    picture: Any = None
    seconds: float = math.nan
    why_not: str = "Load a model first."
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def __post_init__(self) -> None:
        self._loaded: LoadedModel | None = None

    def begin(self) -> None:
        """A model is being loaded."""
        self.loading, self.last_problem = True, None

    def loaded(self, model: LoadedModel) -> None:
        """The model is there; a picture that waits is answered at once."""
        self._loaded = model
        self.loading, self.model, self.why_not = False, model.info, ""
        if self.picture is not None:
            self.predict(self.picture)

    def load_failed(self, message: str) -> None:
        """The model could not be loaded; the one before stays."""
        self.loading = False
        self.last_problem = problem_from_message(message, "The model could not be loaded")

    def clear(self) -> None:
        """Nothing is drawn any more."""
        self.picture, self.ranking, self.seconds = None, [], math.nan

    def predict(self, picture: NDArray[Any]) -> list[tuple[str, float]]:
        """Ask the model about a picture (28x28, 0 to 1); returns and shows all classes, the most probable
        first.

        Without a model the picture is kept until one is loaded, and the answer is empty.
        """
        self.picture = np.array(picture, np.float32)
        if self._loaded is None:
            return []
        begin = time.perf_counter()
        try:
            scores = self._loaded.scores(self.picture)
        except (ValueError, TypeError, RuntimeError) as error:
            self.last_problem = problem_from_message(str(error), "The model could not be asked")
            self.ranking = []
            return []
        self.seconds = time.perf_counter() - begin
        self.ranking = rank(scores, self._loaded.info.classes)
        return self.ranking


def rank(scores: NDArray[np.float64], classes: tuple[str, ...]) -> list[tuple[str, float]]:
    """Softmax of ``scores`` as (class, probability), the most probable first; equal ones in order of the
    classes."""
    names = classes if len(classes) == len(scores) else tuple(str(i) for i in range(len(scores)))
    powers = np.exp(scores - scores.max())
    probabilities = powers / powers.sum()
    order = np.argsort(-probabilities, kind="stable")
    return [(names[i], float(probabilities[i])) for i in order]
