"""The source of kernels and gradient rules."""

from __future__ import annotations

from studio.session.graph.operator_source import gradient_sources, kernel_source


def test_kernel_and_rule_of_an_operator() -> None:
    kernel = kernel_source("tanh")
    assert kernel is not None
    assert "return xp.tanh(x, out=out)" in kernel.text
    assert kernel.place.startswith("engine/ops/")
    (rule,) = gradient_sources("tanh")
    assert "1.0 - out * out" in rule.text


def test_rules_in_one_statement_are_one_text() -> None:
    assert len(gradient_sources("elementwise_add")) == 1


def test_unknown_operators_have_none() -> None:
    assert kernel_source("no_operator") is None
    assert gradient_sources("no_operator") == []
    assert gradient_sources("accuracy") == []


def test_a_gradient_operator_has_the_forward_operators_code() -> None:
    assert kernel_source("tanh_grad") == kernel_source("tanh") or kernel_source("tanh_grad") is not None
