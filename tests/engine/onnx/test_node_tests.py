"""Node tests of the package onnx: a share of them with --deep, all of them with --long."""

from __future__ import annotations

import os

import pytest

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
SHARE = (
    "relu",
    "gemm",
    "conv",
    "slice",
    "gru",
    "lstm",
    "loop",
    "scan",
    "topk",
    "reshape",
    "resize",
    "if_",
    "hannwindow",
)


def test_node_tests_pass_or_have_a_reason() -> None:
    pytest.importorskip("onnx", reason="needs the extra onnx")
    from tests.engine.onnx.node_tests import EXPECTED_FAILURES, cases, require_pass

    failed, passed = {}, 0
    for case in cases(modules=() if LONG else SHARE):
        try:
            require_pass(case)
            passed += 1
        except Exception as error:  # of any class: the names are compared below
            failed[case.name] = str(error)[:200]
    unexpected = {name: error for name, error in failed.items() if name not in EXPECTED_FAILURES}
    assert not unexpected
    if LONG:
        assert set(failed) == set(EXPECTED_FAILURES)
    assert passed >= (1200 if LONG else 60)
