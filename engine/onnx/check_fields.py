"""Walks over the fields of an ONNX file before protobuf parses it.

protobuf takes 50 times the size of a file of empty nodes, and follows messages as deep as they nest. The walk
skips what has a length and is not a message, so that it takes no time for weights.
"""

from __future__ import annotations

from engine.core.errors import FormatError
from engine.files.paddle.fields import BYTES, Budget, MalformedError, fields

MOST_MESSAGES = 250_000  # nodes, attributes, tensors, declared values; a network of 10,000 nodes has 50,000
MOST_FIELDS = 4_000_000
MOST_NUMBERS = 64 << 20  # bytes of numbers that grow when they are parsed
DEEPEST = 90  # messages within one another; protobuf itself ends at 100
MODEL, GRAPH, NODE, ATTRIBUTE, TENSOR, SPARSE = "model", "graph", "node", "attribute", "tensor", "sparse"
INFO, TYPE, SHAPED, SHAPE, NESTED = "info", "type", "shaped", "shape", "nested"
FUNCTION, TRAINING, OTHER = "function", "training", ""

# By message: the messages among its fields.
_MESSAGES: dict[str, dict[int, str]] = {
    MODEL: {7: GRAPH, 8: OTHER, 14: OTHER, 20: TRAINING, 25: FUNCTION, 26: OTHER},
    GRAPH: {1: NODE, 5: TENSOR, 11: INFO, 12: INFO, 13: INFO, 14: OTHER, 15: SPARSE, 16: OTHER},
    NODE: {5: ATTRIBUTE, 9: OTHER, 10: OTHER},
    ATTRIBUTE: {5: TENSOR, 6: GRAPH, 10: TENSOR, 11: GRAPH, 14: TYPE, 15: TYPE, 22: SPARSE, 23: SPARSE},
    TENSOR: {3: OTHER, 13: OTHER, 16: OTHER},
    SPARSE: {1: TENSOR, 2: TENSOR},
    INFO: {2: TYPE, 4: OTHER},
    TYPE: {1: SHAPED, 4: NESTED, 5: NESTED, 7: OTHER, 8: SHAPED, 9: NESTED},
    SHAPED: {2: SHAPE},
    SHAPE: {1: OTHER},
    NESTED: {1: TYPE, 2: TYPE},
    FUNCTION: {7: NODE, 9: OTHER, 11: ATTRIBUTE, 12: INFO, 14: OTHER},
    TRAINING: {1: GRAPH, 2: GRAPH, 3: OTHER, 4: OTHER},
    OTHER: {},
}
# By message: packed numbers, which take up to 8 bytes for each of theirs.
_NUMBERS = {TENSOR: {1, 5, 7, 11}, ATTRIBUTE: {7, 8}, SPARSE: {3}}
_EXTERNAL, _LOCATION, _NAME = 13, 14, 8


def check_fields(content: bytes, where: str) -> None:
    """Raises FormatError for a file of too many or too deep messages, and for one with external data."""
    try:
        _Walk().message(memoryview(content), MODEL, 0)
    except MalformedError as error:
        raise FormatError(f"{where}: not a sound ONNX file: {error}; get it again") from None


class _Walk:
    def __init__(self) -> None:
        self.budget = Budget(MOST_FIELDS)
        self.messages = self.numbers = 0

    def count(self) -> None:
        self.messages += 1
        if self.messages > MOST_MESSAGES:
            raise MalformedError(f"it has over {MOST_MESSAGES} nodes, attributes, tensors and declarations")

    def message(self, view: memoryview, kind: str, depth: int) -> None:
        self.count()
        if depth > DEEPEST:
            raise MalformedError(f"its messages nest over {DEEPEST} deep")
        inner, numbers = _MESSAGES[kind], _NUMBERS.get(kind, ())
        name, external = "", False
        for number, wire, value in fields(view, self.budget):
            if isinstance(value, int):
                external |= kind == TENSOR and number == _LOCATION and value == 1
                continue
            if wire == BYTES and number in inner:
                external |= kind == TENSOR and number == _EXTERNAL
                if len(value):
                    self.message(value, inner[number], depth + 1)
                else:
                    self.count()
            elif number in numbers:
                self.numbers += len(value)
                if self.numbers > MOST_NUMBERS:
                    raise MalformedError("it has more numbers outside of raw data than a file should have")
            elif kind == TENSOR and number == _NAME:
                name = str(value[:200], "utf-8", "replace")
        if external:
            raise MalformedError(
                f"tensor {name!r} is stored in another file; save the model with its weights in one file"
            )
