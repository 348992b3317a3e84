"""JSON from files: parsed only if its values need little more memory than the file is long.

``[],[],[],...`` is one list for every three bytes, which takes 30 times as much memory as the file. So what a
document would take is estimated from its brackets, commas, colons and quotes first. The documents that Model
Studio writes take 4 to 6 times their length.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

# Bytes that CPython takes for one, measured with tracemalloc; the brackets without their content.
_OBJECT, _LIST, _VALUE, _TEXT = 232, 80, 24, 50
_SURE = 100_000  # a document of this length is within the limit whatever it holds
BASE_BYTES = 10_000_000
BYTES_PER_BYTE = 16
MAX_DEPTH = 100


class DocumentError(ValueError):
    """A document that can't be parsed; the message says what it is instead, the caller adds the file."""


def parse(
    data: bytes | bytearray,
    depth: int = MAX_DEPTH,
    parse_constant: Callable[[str], Any] | None = None,
    object_hook: Callable[[dict[str, Any]], Any] | None = None,
    unique: bool = False,
) -> Any:
    """The value of a JSON document.

    Takes at most ``BASE_BYTES`` and ``BYTES_PER_BYTE`` times its length of memory.

    Args:
        depth: how deep lists and objects may be nested.
        parse_constant: what is called for NaN and the infinities, as of ``json.loads``; to refuse them it
            raises a DocumentError, or an error that is not a ValueError.
        object_hook: is called for each object, as of ``json.loads``; it may raise a DocumentError.
        unique: refuse an object that has a key twice; ``object_hook`` is not called then.

    Raises:
        DocumentError: not JSON, nested deeper, or with more values than its length explains.
    """
    require_modest(data)
    try:
        value = json.loads(
            data,
            parse_constant=parse_constant,
            object_hook=object_hook,
            object_pairs_hook=_without_repeats if unique else None,
        )
    except RecursionError as error:
        raise DocumentError(f"nested deeper than {depth} levels") from error
    except UnicodeDecodeError as error:
        raise DocumentError(f"not JSON: its text is not UTF-8: {error.reason}") from error
    except DocumentError:
        raise
    except ValueError as error:
        raise DocumentError(f"not JSON: {error}") from error
    if data.count(b"[") + data.count(b"{") > depth:
        _require_flat(value, depth)
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise DocumentError("an object that has a key twice")
    return found


def require_modest(data: bytes | bytearray) -> None:
    """Refuse JSON, one document or several, whose values would take far more memory than it is long.

    Raises:
        DocumentError: it would.
    """
    if len(data) <= _SURE:
        return
    limit = BASE_BYTES + BYTES_PER_BYTE * len(data)
    # Brackets within texts count too at first: nearly always that is below the limit all the same.
    if _estimate(data, data.count(b'"') // 2) > limit:
        bare = _without_texts(data)
        needed = _estimate(bare, bare.count(b'"')) + len(data)
        if needed > limit:
            raise DocumentError(
                f"too many values for its length: about {needed / 1e6:.0f} MB of memory, the limit for "
                f"{len(data) / 1e6:.1f} MB of JSON is {limit / 1e6:.0f} MB"
            )


def _without_texts(data: bytes | bytearray) -> bytes:
    """The document without its texts, of which only the opening quote stays. A text ends with its line."""
    import numpy as np  # here: most readers of short documents need none of it

    # The quotes that are left open or close a text; an escape cannot stand outside of one.
    plain = np.frombuffer(data.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
    quotes = np.cumsum(plain == ord('"'), dtype=np.uint8)  # modulo 256: odd stays odd
    ends = np.flatnonzero(plain == ord("\n"))
    before = np.concatenate([np.zeros(1, np.uint8), quotes[ends]])
    lengths = np.diff(np.concatenate([[0], ends + 1, [len(plain)]]))
    odd = ((quotes - np.repeat(before, lengths)) & 1).astype(bool)
    return plain[~odd | (odd & (plain == ord('"')))].tobytes().replace(b'""', b'"')


def _estimate(data: bytes | bytearray, texts: int) -> int:
    values = data.count(b",") + data.count(b":")
    return data.count(b"{") * _OBJECT + data.count(b"[") * _LIST + values * _VALUE + texts * _TEXT


def _require_flat(value: Any, depth: int) -> None:
    level = [value]
    for _ in range(depth):
        inner = (item.values() if isinstance(item, dict) else item for item in level)
        level = [item for items in inner for item in items if isinstance(item, dict | list)]
        if not level:
            return
    raise DocumentError(f"nested deeper than {depth} levels")
