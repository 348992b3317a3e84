"""A client of the explaining process whose replies the test gives."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from engine.explain import Attribution
from studio.session.explain.explain_client import AttributionReply, ExplainLoaded
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import ModelInfo


class FakeClient:
    """Records what is asked; the test puts replies in."""

    made: ClassVar[list[FakeClient]] = []

    def __init__(self, choice: ModelChoice, limits: Any, tell: Any, tasks: Any) -> None:
        self.choice, self.limits, self._tell = choice, limits, tell
        self.asked: list[Any] = []
        self.cancels = 0
        self.closed = False
        FakeClient.made.append(self)

    def ask(self, request: Any) -> None:
        self.asked.append(request)

    def cancel(self) -> None:
        self.cancels += 1

    def close(self) -> None:
        self.closed = True

    def use(self, limits: Any) -> None:
        self.limits = limits

    def note(self, reply: Any) -> None: ...
    def join(self, timeout: float) -> None: ...

    def alive(self) -> bool:
        return not self.closed

    def tell(self, reply: Any) -> None:
        self._tell(self, reply)

    def load(self, **reasons: str) -> None:
        self.tell(ExplainLoaded((), (), {(0, 0): reasons, (1, 0): {}}))

    def answer(self, **more: Any) -> None:
        request = self.asked[-1]
        values = np.ones(request.arrays[request.input].shape, np.float32)
        values = more.pop("values", values)
        self.tell(AttributionReply(request, Attribution(request.method, values, 3, 7.5, 0.01, **more)))


def info(scaling: dict[str, float] | None = None, inputs: int = 1) -> ModelInfo:
    spec = {"name": "x", "shape": [-1, 1, 28, 28], "dtype": "float32"}
    classes = tuple(map(str, range(10)))
    return ModelInfo(
        ModelChoice("model"), "model", "model", (spec,) * inputs, classes, scaling or {}, {}, "", {}
    )
