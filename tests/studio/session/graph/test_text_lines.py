"""Lines of operators in a Program's text."""

from __future__ import annotations

from studio.session.graph.text_lines import TextLines

TEXT = """{ // block_idx:0  parent_idx:-1
    var x : LOD_TENSOR

    {Out=['a']} = relu(inputs={X=['x']}, op_role = 0)
    {Out=['b']} = while(inputs={X=['a']}, sub_block = 1)
}
{ // block_idx:1  parent_idx:0
    {Out=['c']} = exp(inputs={X=['a']})
}
"""


def program(*counts: int) -> dict[str, object]:
    return {"blocks": [{"idx": n, "ops": [{}] * count} for n, count in enumerate(counts)]}


def test_each_operator_has_its_line() -> None:
    lines = TextLines(TEXT, program(2, 1))
    assert lines.line_of == {(0, 0): 3, (0, 1): 4, (1, 0): 7}
    assert lines.operator_at[7] == (1, 0)


def test_updates_belong_to_the_first_block() -> None:
    text = TEXT + "// updates, by the optimizer\n{'ParamOut': ['w']} = sgd(inputs={'Param': ['w']})\n"
    assert TextLines(text, program(3, 1)).line_of[0, 2] == 10


def test_a_text_that_does_not_fit_has_no_lines() -> None:
    assert TextLines(TEXT, program(3, 1)).line_of == {(1, 0): 7}
    assert TextLines("", program(1)).line_of == {}
