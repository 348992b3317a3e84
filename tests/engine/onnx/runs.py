"""Models of one operator, run here and by both runtimes of ONNX."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.core.values.dtype import from_numpy
from engine.core.values.spec import Spec
from engine.jit.saved.compare_outputs import difference
from engine.onnx.run_files import IN_FLOATS, PRECISE
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program, variables_of
from engine.static import Executor
from tests.engine.ops.case import Case

# A test that imports this file is skipped without them. They are imported by the first test that runs: all
# workers collect it, and they take 40 MB.
for _name, _extra in (
    ("onnx", "the extra onnx"),
    ("onnxruntime", "ONNX Runtime, which the extra test brings"),
):
    if find_spec(_name) is None:
        pytest.skip(f"needs {_extra}", allow_module_level=True)

UNWRITTEN = {"rnn": ("gates", "cells")}  # results that only gradients read, which rows do not compute


def program_of(case: Case, unknown: bool) -> tuple[Program, dict[str, Any]]:
    """The Program of a row of the operator table, and what it is fed: float32 for float64."""
    program = Program()
    feed: dict[str, Any] = {}

    def place(name: str, value: Any, key: str) -> Any:
        if isinstance(value, list):
            return [place(name, v, f"{key}_{n}") for n, v in enumerate(value)]
        if value is None:
            return None
        value = np.array(value)
        feed[key] = value = value.astype(np.float32) if value.dtype == np.float64 else value
        shape = [-1] * value.ndim if unknown else value.shape
        made = variable(program, key, Spec(shape, from_numpy(value.dtype)))
        made.is_data = True
        return made

    with building(program):
        values = [place(n, v, n) for n, v in zip(OPS[case.op].input_names, case.sample.inputs, strict=True)]
        result = OPS[case.op].namespace["__apply__"](*values, **case.sample.attrs)
    program.inputs = list(feed)
    unwritten = UNWRITTEN.get(case.op, ())
    results = result if isinstance(result, tuple) else (result,)
    program.outputs = [
        v.name
        for output, made in zip(OPS[case.op].outputs, results, strict=True)
        if output.name not in unwritten
        for v in variables_of([made])
    ]
    return program, feed


def expected(program: Program, feed: dict[str, Any]) -> list[np.ndarray]:
    given = {name: value.copy() for name, value in feed.items()}  # operators may write into them
    return Executor().run(program, feed=given, fetch_list=list(program.outputs))


def by_runtime(model: Any, feed: dict[str, Any]) -> list[np.ndarray]:
    """What ONNX Runtime gives with its default optimizations."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    serialized = model.SerializeToString()

    def begun(precise: str) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # a thread starts slower than it runs
        options.add_session_config_entry(precise, "1")
        return onnxruntime.InferenceSession(serialized, options, providers=["CPUExecutionProvider"])

    try:
        session = begun(PRECISE)
    except Exception:  # see run_files
        session = begun(IN_FLOATS)
    names = {i.name for i in session.get_inputs()}
    return session.run(None, {k: v for k, v in feed.items() if k in names})


def by_reference(model: Any, feed: dict[str, Any]) -> list[np.ndarray]:
    """What the reference evaluator gives, which has DequantizeLinear from opset 19 on."""
    from onnx import reference, version_converter

    if any(node.op_type == "DequantizeLinear" for node in model.graph.node):
        model = version_converter.convert_version(model, 19)
    names = {i.name for i in model.graph.input}
    return reference.ReferenceEvaluator(model).run(None, {k: v for k, v in feed.items() if k in names})


def apart(found: list[Any], wanted: list[Any]) -> float:
    """The largest difference, as a share of the largest result."""
    pairs = zip(found, wanted, strict=True)
    return max((difference(np.asarray(f), np.asarray(w), "a result") for f, w in pairs), default=0.0)


def checked(model: Any) -> Any:
    """The model after the checker, and strict inference of its shapes."""
    import onnx

    onnx.checker.check_model(model, full_check=True)
    return onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)


def read(path: Any) -> Any:
    """The model of a file."""
    import onnx

    return onnx.load(path)
