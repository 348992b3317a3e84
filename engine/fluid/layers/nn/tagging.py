"""Tags of sequences: conditional random fields, chunks, edit distances.

Sequences are rows of a batch padded to one length, with their lengths, or LoD tensors without.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from engine.core.errors import AbsentError, ArgumentError
from engine.core.names import generate
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.layers.adapting import adapter
from engine.nn.layer.base.parameters import make_parameter
from engine.nn.param_attr import ParamAttr
from engine.ops.sequences import comparing, crf
from engine.program.build.builder import current_builder
from engine.static.nn.sequence_lengths import padded, unpadded
from engine.tensor import manipulation

# The parameters that functions made in each guard, by name: nothing else holds them.
_of_guards: WeakKeyDictionary[tracers.Tracer, dict[str, Any]] = WeakKeyDictionary()


def _padded(where: str, name: str, *given: Any) -> tuple[list[Any], Any]:
    """LoD tensors as rows padded to one length, and the lengths. Raises ArgumentError for other tensors.

    None among them stay.
    """
    found = [None if each is None else padded(each) for each in given]
    known = [each for each in found if each is not None]
    if len(known) < sum(each is not None for each in given):
        raise ArgumentError(
            f"{where}: {name} is needed for padded sequences; give their lengths, int64 [batch], or LoD "
            "tensors (layers.data with lod_level=1)"
        )
    return [None if each is None else each[0] for each in found], known[0][1]


@adapter
def linear_chain_crf(input: Any, label: Any, param_attr: Any = None, length: Any = None) -> Any:
    """-log of the probability of the tags ``label`` [N, time] or [N, time, 1] of each sequence: [N, 1].

    ``input`` [N, time, tags] has the scores of the tags, ``length`` int64 [N, 1] or [N] the lengths. The
    parameter [tags + 2, tags] has the scores of first tags, of last ones, and of each tag after another.
    Without ``length`` both are LoD tensors, [rows, tags] and [rows, 1]; raises ArgumentError for others.
    """
    if length is None:
        (input, label), length = _padded("linear_chain_crf", "length", input, label)
    transition = _transition(int(input.shape[-1]), param_attr, input.dtype)
    return crf.linear_chain_crf(input, transition, label, length)[3]


@adapter
def crf_decoding(input: Any, param_attr: Any, label: Any = None, length: Any = None) -> Any:
    """The likeliest tags of each sequence, int64 [N, time], 0 after its end.

    ``param_attr`` names the parameter of ``linear_chain_crf``. With ``label`` the result is 1 where it has
    these tags, else 0. Without ``length`` the input is a LoD tensor [rows, tags], and so is the result [rows,
    1]; raises ArgumentError for another, AbsentError where no parameter has that name.
    """
    is_padded = length is not None
    if not is_padded:
        (input, label), length = _padded("crf_decoding", "length", input, label)
    transition = _transition_called(ParamAttr._to_attr(param_attr).name)
    path = crf.crf_decoding(input, transition, length, label)
    return path if is_padded else unpadded(manipulation.unsqueeze(path, -1), length)


def _transition(tags: int, param_attr: Any, dtype: Any) -> Any:
    """The parameter of ``linear_chain_crf``: of the Program, or of the guard, which has one for each name."""
    builder, tracer, name = current_builder(), tracers.current(), ParamAttr._to_attr(param_attr).name
    owner = (
        generate("linear_chain_crf") if builder is None else builder.program.unique_name("linear_chain_crf")
    )
    if builder is not None or tracer is None:
        return make_parameter(owner, [tags + 2, tags], param_attr, dtype)
    known = _of_guards.setdefault(tracer, {})
    found = None if name is None else known.get(name)
    if found is None:
        found = make_parameter(owner, [tags + 2, tags], param_attr, dtype)
        tracer.add_parameter(found)
        known[found.name] = found
    return found


def _transition_called(name: str | None) -> Any:
    builder, tracer = current_builder(), tracers.current()
    if builder is None:
        found = None if tracer is None else _of_guards.get(tracer, {}).get(str(name))
    else:
        found = builder.program.global_block().vars.get(str(name))
    if found is None:
        raise AbsentError(
            f"crf_decoding: no parameter is called {name!r}; give linear_chain_crf's param_attr the same name"
        )
    return found


@adapter
def edit_distance(
    input: Any,
    label: Any,
    normalized: bool = True,
    ignored_tokens: Any = None,
    input_length: Any = None,
    label_length: Any = None,
) -> Any:
    """Insertions, deletions and replacements from each row of ``input`` [N, time] to that of ``label``.

    Gives them as float32 [N, 1], divided by the lengths of ``label`` where ``normalized``, and the number of
    rows, int64 [1]. ``ignored_tokens`` are left out of both. Without lengths, int64 [N], these are LoD
    tensors [rows, 1]; raises ArgumentError for others, and for an empty row of ``label`` that is to be
    divided by.
    """
    if input_length is None:
        [input], input_length = _padded("edit_distance", "input_length", input)
    if label_length is None:
        [label], label_length = _padded("edit_distance", "label_length", label)
    ignored = tuple(int(n) for n in ignored_tokens or ())
    return comparing.edit_distance(
        input, label, input_length, label_length, normalized=bool(normalized), ignored_tokens=ignored
    )


@adapter
def chunk_eval(
    input: Any,
    label: Any,
    chunk_scheme: str,
    num_chunk_types: int,
    excluded_chunk_types: Any = None,
    seq_length: Any = None,
) -> Any:
    """Precision, recall and F1 of the chunks in the tags ``input``, float32 [1], and three counts, int64 [1].

    The counts are of the chunks found, of those in ``label``, and of those found right. ``chunk_scheme`` is
    'IOB', 'IOE', 'IOBES' or 'plain'; chunks of ``excluded_chunk_types`` are not counted. Without lengths
    these are LoD tensors [rows, 1]; raises ArgumentError for others without ``seq_length``, int64 [N], and
    for another scheme.
    """
    if seq_length is None:
        (input, label), seq_length = _padded("chunk_eval", "seq_length", input, label)
    return comparing.chunk_eval(
        input,
        label,
        seq_length,
        chunk_scheme=chunk_scheme,
        num_chunk_types=int(num_chunk_types),
        excluded_chunk_types=tuple(int(n) for n in excluded_chunk_types or ()),
    )
