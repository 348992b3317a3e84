"""The node tests of the package onnx, in memory: which of them the reader passes, and why others fail.

``python -m tests.engine.onnx.node_tests [PATTERN]`` runs them all and prints the failures by operator.
"""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.core.errors import EngineError
from engine.onnx.read_model import read_model
from engine.program.run.executor import Executor

KINDS = {1, 6, 7, 9, 11}  # float32, int32, int64, bool, float64
_DRAWN = "draws other random numbers"
_BRANCH = "a branch that no run takes does not fit the shapes"
_NOISE = "expects the rounding errors of one implementation, over an absolute tolerance of 1e-7"

EXPECTED_FAILURES: dict[str, str] = {
    **{
        f"test_bernoulli{kind}{form}": _DRAWN
        for kind in ("", "_double", "_seed")
        for form in ("", "_expanded")
    },
    **{f"test_training_dropout{kind}": _DRAWN for kind in ("", "_mask", "_default", "_default_mask")},
    "test_affine_grid_2d_expanded": _BRANCH,
    "test_affine_grid_2d_align_corners_expanded": _BRANCH,
    "test_affine_grid_3d_align_corners_expanded": _BRANCH,
    "test_dft_inverse": _NOISE,
    "test_dft_inverse_opset19": _NOISE,
    "test_gridsample_bicubic": "no cubic sampling at points",
    "test_gridsample_bicubic_align_corners_0_additional_1": "no cubic sampling at points",
    "test_gridsample_bicubic_align_corners_1_additional_1": "no cubic sampling at points",
    "test_col2im_5d": "only images of two dimensions",
    "test_roialign_mode_max": "only means of regions",
    "test_scan_sum": "opset 8, whose Scan has a dimension of batches; onnx's converter keeps it",
    **{
        f"test_tfidfvectorizer_tf_{kind}": "no counts of n-grams"
        for kind in (
            "batch_onlybigrams_skip0",
            "batch_onlybigrams_skip5",
            "batch_uniandbigrams_skip5",
            "only_bigrams_skip0",
            "onlybigrams_levelempty",
            "onlybigrams_skip5",
            "uniandbigrams_skip5",
        )
    },
}


def cases(pattern: str = "", modules: tuple[str, ...] = ()) -> list[Any]:
    """The tests of the default domain over floats, integers and bools; faster for some modules."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if modules:
            for name in modules:
                importlib.import_module(f"{node.__name__}.{name}")
            found = list(node._NodeTestCases)
        else:
            found = node.collect_testcases(None)
    return [
        case
        for case in found
        if all(each.domain in ("", "ai.onnx") for each in case.model.opset_import)
        and set(_element_types(case.model.graph)) <= KINDS
        and re.search(pattern, case.name)
    ]


def _element_types(graph: Any) -> Iterator[int]:
    for info in [*graph.input, *graph.output]:
        kind = info.type
        while kind.WhichOneof("value") in ("sequence_type", "optional_type"):
            kind = getattr(kind, kind.WhichOneof("value")).elem_type
        yield kind.tensor_type.elem_type if kind.WhichOneof("value") == "tensor_type" else -1


def require_pass(case: Any) -> bool:
    """Run a test; True where it ran with all its inputs, False where axes, shapes or sequences were given to
    the reader. Raises for one that fails."""
    try:
        _run(case, known=())
        return True
    except Exception:
        known = _readable(case)
        if not known:
            raise
    _run(case, known)
    return False


def _readable(case: Any) -> list[str]:
    """Inputs that a model has as constants: axes, shapes, counts, limits, sequences and optional values."""
    found = []
    for info, value in zip(case.model.graph.input, case.data_sets[0][0], strict=True):
        if info.type.WhichOneof("value") != "tensor_type" or value is None or info.name in ("scales", "roi"):
            found.append(info.name)
            continue
        array = np.asarray(_value(value))
        if (array.dtype.kind in "ib" and array.ndim <= 1) or array.size <= 1:
            found.append(info.name)
    return found


def _value(given: Any) -> Any:
    from onnx import TensorProto, numpy_helper

    if isinstance(given, list):
        return [_value(each) for each in given]
    return numpy_helper.to_array(given) if isinstance(given, TensorProto) else given


def _run(case: Any, known: Any) -> None:
    for given, wanted in case.data_sets:
        feed = {info.name: _value(value) for info, value in zip(case.model.graph.input, given, strict=True)}
        program = read_model(case.model, {name: feed[name] for name in known})
        found = Executor().run(
            program,
            feed={name: feed[name] for name in program.inputs},
            fetch_list=list(program.outputs),
        )
        flat = [v for each in wanted for v in (_value(each) if isinstance(each, list) else [_value(each)])]
        assert len(found) == len(flat)
        for result, expected in zip(found, map(np.asarray, flat), strict=True):
            assert result.dtype == expected.dtype
            np.testing.assert_allclose(result, expected, rtol=case.rtol, atol=case.atol)
            assert result.shape == expected.shape


def main(pattern: str = "") -> None:
    whole = given = 0
    failures: dict[str, list[str]] = {}
    for case in cases(pattern):
        try:
            if require_pass(case):
                whole += 1
            else:
                given += 1
        except Exception as error:
            text = error.message if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"
            failures.setdefault(case.model.graph.node[0].op_type, []).append(
                f"{case.name}: {' '.join(text.split())[:200]}"
            )
    print(f"{whole + given} passed, {given} of them with inputs that were given to the reader")
    for kind, lines in sorted(failures.items(), key=lambda item: -len(item[1])):
        print(kind, len(lines), *lines, sep="\n    ")


if __name__ == "__main__":
    main(*sys.argv[1:])
