"""What was recorded: spans in a tree of threads, and the files that they are written to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.core.errors import AbsentError, ArgumentError, FormatError, SaveError
from engine.files.atomic import atomic_write
from engine.profiler.recorder import Span
from engine.profiler.work import Work
from resources.json_documents import parse
from resources.regular_files import LARGE_FILE, read_regular

_SCHEMA = "model-studio-1"


@dataclass
class Node:
    """A span with those that lie within it, in the same thread."""

    span: Span
    children: list[Node] = field(default_factory=list)

    @property
    def time(self) -> int:
        """Nanoseconds."""
        return self.span.end - self.span.start

    def walk(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


class ProfilerResult:
    """The spans of one recording, and of what surrounded it."""

    def __init__(self, spans: Sequence[Span], extra: dict[str, str]) -> None:
        self._spans = _inner_ones_named(spans)
        self._extra = extra

    def spans(self) -> list[Span]:
        """All spans, outer ones first; operators within operators have the kind ``OperatorInner``."""
        return list(self._spans)

    def get_data(self) -> dict[int, list[Node]]:
        """The outermost spans by thread, each with those within it."""
        return trees(self._spans)

    def get_extra_info(self) -> dict[str, str]:
        """The use of the processor while it was recorded."""
        return dict(self._extra)

    def time_range(self) -> tuple[int, int]:
        """Beginning and end, in nanoseconds; (0, 0) for nothing."""
        if not self._spans:
            return (0, 0)
        return min(s.start for s in self._spans), max(s.end for s in self._spans)

    def save(self, file_name: str, format: str = "json") -> None:
        """Write a file in the format of Chrome's tracing. Raises SaveError where it can't be written.

        ``format`` 'pb' writes the same content.
        """
        if format not in ("json", "pb"):
            raise ArgumentError(f"Profiler.export: format {format!r} is not one of 'json', 'pb'")
        try:
            text = json.dumps(self._chrome()).encode()
            atomic_write(file_name, lambda file: file.write(text))
        except (OSError, SaveError) as error:
            raise SaveError(f"Profiler.export: {file_name} can't be written: {error}") from error

    def _chrome(self) -> dict[str, Any]:
        process, (begin, _) = os.getpid(), self.time_range()
        threads = sorted({s.thread for s in self._spans})
        events: list[dict[str, Any]] = [
            {
                "name": "process_name",
                "pid": process,
                "tid": t,
                "ph": "M",
                "args": {"name": f"Process {process}"},
            }
            for t in threads
        ]
        for span in self._spans:
            took = (span.end - span.start) / 1000
            arguments: dict[str, Any] = {
                "start_time": f"{(span.start - begin) / 1000:.3f} us",
                "end_time": f"{(span.end - begin) / 1000:.3f} us",
            }
            if span.shapes:
                arguments["input_shapes"] = [list(shape) for shape in span.shapes]
            if span.work is not None:
                arguments["bytes"] = span.work.bytes
                if span.work.file:
                    arguments["line"] = f"{span.work.file}:{span.work.line}"
                if span.work.flops >= 0:
                    arguments["flops"] = span.work.flops
            events.append(
                {
                    "name": f"{span.name}[{took:.3f} us]",
                    "cat": span.kind,
                    "pid": process,
                    "tid": span.thread,
                    "ts": span.start / 1000,
                    "dur": took,
                    "ph": "X",
                    "args": arguments,
                }
            )
        return {
            "displayTimeUnit": "ms",
            "schemaVersion": _SCHEMA,
            "span_indx": "0",
            "traceEvents": events,
            "ExtraInfo": self._extra,
            "spans": [
                [s.kind, s.name, s.start, s.end, s.thread, s.shapes, s.work and s.work[:5]]
                for s in self._spans
            ],
        }


def load_profiler_result(filename: str) -> ProfilerResult:
    """The spans in a file that a Profiler wrote, as 'json' or as 'pb'.

    Raises AbsentError for an absent file, FormatError for one of another origin.

    Differs from Paddle: the files are the engine's own; those that Paddle writes are refused.
    """
    try:
        content = parse(read_regular(filename, LARGE_FILE))
        if content["schemaVersion"] != _SCHEMA:
            raise KeyError(f"schema {content['schemaVersion']!r}")
        spans = [
            Span(
                str(kind),
                str(name),
                int(start),
                int(end),
                int(thread),
                tuple(tuple(s) for s in shapes),
                _work(*more),
            )
            for kind, name, start, end, thread, shapes, *more in content["spans"]
        ]
        extra = {str(key): str(value) for key, value in content["ExtraInfo"].items()}
    except FileNotFoundError as error:
        raise AbsentError(
            f"load_profiler_result: {filename}: there is no such file; check the path"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            f"load_profiler_result: {filename} is not what a Profiler of this engine wrote: {error}"
        ) from error
    return ProfilerResult(spans, extra)


def _work(work: Any = None) -> Work | None:
    """The work of a span in a file; files of older versions have none."""
    if work is None:
        return None
    file, line, size, flops, *layer = work
    return Work(str(file), int(line), int(size), int(flops), str(layer[0]) if layer else "")


def trees(spans: Sequence[Span]) -> dict[int, list[Node]]:
    """The outermost spans by thread. A span lies within another one that has begun before and ends later."""
    found: dict[int, list[Node]] = {}
    around: dict[int, list[Node]] = {}
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        stack = around.setdefault(span.thread, [])
        while stack and stack[-1].span.end < span.end:
            stack.pop()
        node = Node(span)
        (stack[-1].children if stack else found.setdefault(span.thread, [])).append(node)
        stack.append(node)
    return found


def _inner_ones_named(spans: Sequence[Span]) -> list[Span]:
    """The spans in the order of their beginnings; operators within an operator are its inner ones."""
    named: list[Span] = []

    def visit(node: Node, inside: bool) -> None:
        is_operator = node.span.kind == "Operator"
        named.append(node.span._replace(kind="OperatorInner") if inside and is_operator else node.span)
        for child in node.children:
            visit(child, inside or is_operator)

    for roots in trees(spans).values():
        for root in roots:
            visit(root, False)
    return sorted(named, key=lambda s: (s.start, -s.end))
