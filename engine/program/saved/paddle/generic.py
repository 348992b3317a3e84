"""OpDescs of operators that are defined here as in Paddle: what ``FORMS`` says, read the other way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import numpy as np

from engine.core.errors import FormatError
from engine.core.operators.opdef import OPS, OpDef
from engine.core.values.dtype import ALL
from engine.program.graph.program import Variable
from engine.program.saved.paddle.reading import Step
from engine.program.text.describe import COMMON, NUMBERED
from engine.program.text.form import Form
from engine.program.text.forms import FORMS

_PLAIN = Form()
DTYPES = {dtype.number: dtype.name for dtype in ALL}
# Attributes that choose a library, a device or a memory layout, or repeat what other ones say.
_IGNORED = frozenset(COMMON) | frozenset(
    [
        "op_callstack",
        "use_cudnn",
        "use_mkldnn",
        "use_quantizer",
        "force_cpu",
        "place_type",
        "str_value",
        "in_dtype",
        "infer_flags",
        "lazy_mode",
        "workspace_size_MB",
        "exhaustive_search",
        "use_addto",
        "force_fp32_output",
        "is_test",
        "fix_seed",
        "seed",
        "Scale_in",
        "Scale_out",
        "Scale_weights",
        "Scale_in_eltwise",
        "scale_x",
        "scale_y",
        "scale_out",
        "x_data_format",
        "y_data_format",
        "diag_num",
        "diag_step",
        "diag_val",
        "name",
        "skip_quant",
        "quantization_type",
        "activation_bits",
        "out_threshold",
        "Input_scale",
        "weight_quant_axis",
        "is_sparse",
        "remote_prefetch",
        "is_distributed",
        "entry_config",
    ]
)
# Operators of ours whose names mean something else in Paddle.
_OTHER = frozenset(("conv2d_fusion", "conv3d_fusion", "fused_attention", "print", "gradient", "with_values"))


@cache
def _typed() -> dict[str, str]:
    """Names of our operators by the type of Paddle's OpDesc, where it is another one."""
    found: dict[str, str] = {}
    for name, form in FORMS.items():
        if form.type is not None and name in OPS:
            found.setdefault(form.type, name)
    return found


def opdef_of(type: str) -> OpDef | None:
    """The operator that an OpDesc of that type stands for; None for an unknown one."""
    if type in OPS and type not in _OTHER and not OPS[type].regions:
        return OPS[type]
    return OPS[_typed()[type]] if type in _typed() else None


def read_generic(step: Step) -> None:
    """Append the operator that has the same inputs, attributes and outputs."""
    opdef = opdef_of(step.desc.type)
    assert opdef is not None, "operators without a row are refused before"
    form = FORMS.get(opdef.name, _PLAIN)
    inputs = [_input(step, opdef, form, declared) for declared in opdef.inputs]
    attrs = attributes(step, opdef, form)
    for slot, attribute in form.tensors.items():
        if step.desc.inputs.get(slot):
            attrs[attribute] = _tensor_attribute(step, opdef, slot, attribute)
    refuse_unread(step)
    results = step.run(opdef.name, *inputs, **attrs)
    _require_same(step, form)
    give_results(step, opdef, form, results)


def refuse_unread(step: Step) -> None:
    """Raise FormatError for inputs that would change the results and are not read."""
    for slot in step.unread():
        raise FormatError(f"its input {slot} is not supported; save the model with a number instead")


def _input(step: Step, opdef: OpDef, form: Form, declared: Any) -> Any:
    slot = form.slots_in.get(declared.slot, declared.slot)
    if declared.is_list:
        return step.many(slot)
    if declared.slot in form.without and declared.optional:  # state that Paddle lists as written only
        names = step.desc.outputs.get(slot, []) if slot in form.always else []
        found = step.frame.find(names[0]) if len(names) == 1 else None
        return found if found is not None and found.persistable else None
    return step.one(slot) if declared.optional else step.need(slot)


def attributes(step: Step, opdef: OpDef, form: Form) -> dict[str, Any]:
    """The attributes of our operator that the OpDesc gives. Raises FormatError for one that would change the
    results and does not exist here."""
    names = {form.rename.get(name, name): name for name in opdef.attributes}
    found: dict[str, Any] = {}
    for shown, attr in step.desc.attrs.items():
        name = names.get(shown)
        if name is None:
            if shown not in form.attrs and not _is_ignored(shown, attr.value):
                raise FormatError(f"attribute {shown!r:.80} = {attr.value!r:.80} is not supported")
        else:
            found[name] = _value(name, attr.value, form, opdef.attributes[name])
    return found


def _value(name: str, value: Any, form: Form, default: Any) -> Any:
    if isinstance(value, str) and isinstance(default, float):  # rtol, atol
        try:
            return float(value)
        except ValueError as cause:
            raise FormatError(f"attribute {name} = {value!r:.40} is not a number") from cause
    if name in NUMBERED and isinstance(value, int) and not isinstance(value, bool):
        if value >= 0 and value not in DTYPES:
            raise FormatError(f"attribute {name} is the unknown data type {value}")
        return DTYPES.get(value)
    if name in form.floats and isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return value if value == 0 and np.signbit(value) else int(value)
    return value


def _is_ignored(name: str, value: Any) -> bool:
    """Whether an attribute can't change the results: it chooses how to compute, or it is switched off."""
    if name in _IGNORED or name.startswith("op_") or name.endswith("_threshold"):
        return True
    if any(library in name for library in ("mkldnn", "onednn", "cudnn")):
        return True
    return value in (False, 0, -1, "", [], None) or value == 0.0


def _require_same(step: Step, form: Form) -> None:
    """Raise FormatError where the OpDesc says something else than the operator that was made of it."""
    operator = step.frame.block.ops[-1]
    if operator.opdef.name == "with_values":
        return
    for name, said in form.attrs.items():
        if name not in step.desc.attrs or name in _IGNORED or name in operator.opdef.attributes:
            continue
        value = step.attr(name)
        wanted = said(operator) if callable(said) else said
        if value != wanted and not (value in (-1, False) and wanted in (-1, False)):
            raise FormatError(f"attribute {name} = {value!r:.80} is not supported; {wanted!r:.80} is")


def _tensor_attribute(step: Step, opdef: OpDef, slot: str, attribute: str) -> Any:
    """An attribute that is given as a tensor: its value where it is known, else the Variable."""
    found = step.many(slot)
    default = opdef.attributes.get(attribute)
    several = isinstance(default, (list, tuple)) or attribute in ("axes", "shape")
    if several:
        values = step.elements(found[0]) if len(found) == 1 else [step.number(v) for v in found]
        return values
    [x] = found
    known = step.known(x)
    return x if known is None else known.reshape(-1)[0].item()


def give_results(step: Step, opdef: OpDef, form: Form, results: Variable | Sequence[Variable | None]) -> None:
    """Bind the names of the OpDesc's outputs."""
    if opdef.listed:
        out = opdef.outputs[0]
        step.give(form.slots.get(out.slot, out.slot), list(cast(Sequence[Variable], results)))
        return
    for out, value in zip(opdef.outputs, (results,) if opdef.single else results, strict=True):
        if isinstance(value, Variable) and out.slot not in form.hidden:
            slot = form.slots.get(out.slot, out.slot)
            if len(step.desc.outputs.get(slot, [])) == 1:
                step.give(slot, value)
