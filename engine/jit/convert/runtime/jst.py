"""What converted code calls, under the name `_jst`."""

from __future__ import annotations

import sys

from engine.jit.convert import convert
from engine.jit.convert.runtime.attempt import own_error
from engine.jit.convert.runtime.builtin_forms import BUILTIN_FORMS, convert_assert, shown
from engine.jit.convert.runtime.calls import call
from engine.jit.convert.runtime.comprehensions import (
    comprehend,
    comprehend_dict,
    comprehend_set,
    generate,
    listed,
)
from engine.jit.convert.runtime.control import (
    compare_chain,
    convert_for,
    convert_ifelse,
    convert_ifexp,
    convert_while_loop,
    logical_and,
    logical_not,
    logical_or,
    until,
    value_and,
    value_or,
)
from engine.jit.convert.runtime.equality import equal, holds, lacks, shape, unequal
from engine.jit.convert.runtime.items import item, put, unpacked
from engine.jit.convert.runtime.iteration_forms import ITERATION_FORMS
from engine.jit.convert.runtime.state import NO_VALUE, Undefined, read

convert.runtime.define(lambda: sys.modules[__name__])
BUILTIN_FORMS.update(ITERATION_FORMS)  # here: they call what they are given, so they need `call` themselves

__all__ = [
    "NO_VALUE",
    "Undefined",
    "call",
    "compare_chain",
    "comprehend",
    "comprehend_dict",
    "comprehend_set",
    "convert_assert",
    "convert_for",
    "convert_ifelse",
    "convert_ifexp",
    "convert_while_loop",
    "equal",
    "generate",
    "holds",
    "item",
    "lacks",
    "listed",
    "logical_and",
    "logical_not",
    "logical_or",
    "own_error",
    "put",
    "read",
    "shape",
    "shown",
    "unequal",
    "unpacked",
    "until",
    "value_and",
    "value_or",
]
