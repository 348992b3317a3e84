"""What the child process of a comparison does: load both models, compare them, answer in plain values."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

import numpy as np

from engine.comparison.saved_models import SavedRequest
from engine.inference import serve as serving
from engine.inference.serve import Arrays, Server
from engine.inference.wire import Message
from resources.typed_values import build


class CompareServer(Server):
    """A model that is compared with another one, or with itself after passes."""

    def answer(self, message: Message) -> tuple[dict[str, Any], Arrays]:
        said = message.said
        if said["do"] != "compare" or self._layer is None:
            return super().answer(message)
        self._allow_time()
        found = build(SavedRequest, said["request"], "compare").carry_out()
        plain = json.dumps(found.as_dict()).encode()
        return {}, [np.frombuffer(plain, np.uint8)]


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """As ``engine.inference.serve.serve``, for a comparison."""
    serving.serve(requests, answers, CompareServer())
