"""Untrusted JSON takes memory in proportion to its length, or is refused before it is parsed."""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest

from resources import json_documents
from resources.json_documents import BASE_BYTES, BYTES_PER_BYTE, DocumentError, parse, require_modest

UNITS = [
    b"[]",
    b"{}",
    b"[0]",
    b"[[]]",
    b'{"a":0}',
    b'{"":{}}',
    b'{"":[[]]}',
    b"0",
    b"1.5",
    b"-1e9",
    b"12345678901234567890",
    b'""',
    b'"ab"',
    b'"\xc3\xa9"',
    b'"\xf0\x9f\x98\x80aaaaaaaaaaaaaaaaaa"',
    b'"\\u1234"',
    b"null",
    b'[1,"a"]',
]


def repeated(unit: bytes, length: int) -> bytes:
    return b"[" + b",".join([unit] * (length // (len(unit) + 1))) + b"]"


@pytest.mark.parametrize("unit", UNITS)
def test_parsing_stays_below_the_promised_memory(unit: bytes) -> None:
    data = repeated(unit, 300_000)
    json_documents._without_texts(b"")  # imports NumPy
    tracemalloc.start()
    said = ""
    try:
        parse(data)
    except DocumentError as error:
        said = str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (12 * len(data) if said else BASE_BYTES + BYTES_PER_BYTE * len(data))
    assert not said or "of memory, the limit for 0.3 MB of JSON is 15 MB" in said


@pytest.mark.parametrize("unit", [b"[]", b"{}", b"[[],[]]", b'{"a":{}}'])
def test_eight_megabytes_of_little_lists_are_refused_at_once(unit: bytes) -> None:
    data = repeated(unit, 8_000_000)
    began = time.perf_counter()
    with pytest.raises(DocumentError, match="too many values"):
        parse(data)
    assert time.perf_counter() - began < 2.0


def test_a_short_document_is_within_the_limit_whatever_it_holds() -> None:
    for unit in UNITS:
        data = repeated(unit, json_documents._SURE)
        tracemalloc.start()
        parse(data)
        assert tracemalloc.get_traced_memory()[1] < BASE_BYTES
        tracemalloc.stop()


def test_brackets_within_texts_are_no_values() -> None:
    text = '{}[],:"\\' * 30_000
    assert parse(json.dumps([text, {"a": text}]).encode()) == [text, {"a": text}]


def test_several_documents_and_damaged_lines() -> None:
    line = json.dumps({"event": "step", "time": 1763800000.123, "step": 12, "loss": 0.123456}).encode()
    require_modest(b"\n".join([line] * 5000 + [b'{"torn": "te'] * 3 + [line] * 5000))
    with pytest.raises(DocumentError):
        require_modest(b"{}\n" * 100_000)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_depth_is_bounded(opening: bytes) -> None:
    closing = {b"[": b"]", b'{"a":': b"}", b'[{"a":': b"}]"}[opening]
    levels = 1 if len(opening) < 6 else 2
    assert parse(opening * (100 // levels) + b"0" + closing * (100 // levels))
    for count in (102, 5000, 200_000):
        with pytest.raises(DocumentError, match=r"deeper than 100 levels|too many values"):
            parse(opening * count + b"0" + closing * count)
    assert parse(opening * 104 + b"0" + closing * 104, depth=300)


@pytest.mark.parametrize("data", [b"", b"{", b"[1,]", b"\xff", b"9" * 5000, b'{"a":1}{}'])
def test_invalid_json_raises_a_document_error(data: bytes) -> None:
    with pytest.raises(DocumentError, match="not JSON"):
        parse(data)


def test_constants_are_the_callers() -> None:
    class Refused(Exception):
        pass

    def refuse(name: str) -> None:
        raise Refused(name)

    with pytest.raises(Refused, match="NaN"):
        parse(b"[NaN]", parse_constant=refuse)
