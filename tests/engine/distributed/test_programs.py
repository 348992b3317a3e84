"""Programs with collectives in one process, and how they are written."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import distributed as dist
from engine.core.errors import ArgumentError, DTypeError, FormatError, ModeError, ShapeError
from engine.core.operators.opdef import OPS
from engine.distributed import stream
from engine.distributed.environment import RANK, SIZE
from engine.program.saved.serialize import from_plain, to_plain
from engine.static import Executor, Program, append_backward, create_parameter, data, program_guard


@pytest.fixture(autouse=True)
def _static(monkeypatch):
    for name in (*RANK, *SIZE):
        monkeypatch.delenv(name, raising=False)
    paddle.enable_static()
    yield
    paddle.disable_static()


def built():
    program = Program()
    with program_guard(program, Program()):
        x = data("x", [4, 3])
        y = x * 2.0
        dist.all_reduce(y)
        dist.broadcast(y, 0)
        dist.reduce(y, 0)
        parts, pieces = [], []
        dist.all_gather(parts, y)
        dist.alltoall([y], pieces)
        dist.scatter(y, [y + 1.0], 0)
        dist.reduce_scatter(y, [y], dist.ReduceOp.AVG)
        dist.barrier()
        program.inputs, program.outputs = ["x"], [v.name for v in (*parts, *pieces, program.latest(y))]
    return program


def test_a_process_alone_is_a_group_of_itself():
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    program = built()
    plain = to_plain(program)
    for made in (program, program.clone(), from_plain(plain, own=True), from_plain(plain)):
        found = Executor().run(made, {"x": x}, made.outputs)
        for array, expected in zip(found, (2 * x, 2 * x, 2 * x + 1), strict=True):
            np.testing.assert_array_equal(array, expected)


def test_they_are_written_as_paddle_writes_them():
    """The line is what Paddle 2.6.2 prints, but that it gives the result the name of the input."""
    with paddle.utils.unique_name.guard():
        lines = str(built()).splitlines()
    (line,) = [line.strip() for line in lines if "c_allreduce_sum(" in line]
    assert line == (
        "{Out=['c_allreduce_sum_0.tmp_0']} = c_allreduce_sum(inputs={Cond=[], X=['tmp_0']}, op_device = , "
        "op_namescope = /, op_role = 0, op_role_var = [], ring_id = 0, use_calc_stream = True, "
        "use_model_parallel = False, with_quant_attr = False)"
    )
    types = [o.type for o in built().global_block().ops]
    for name in ("c_broadcast", "c_reduce_sum", "c_allgather", "alltoall", "c_scatter", "c_reducescatter"):
        assert types.count(name) == 1
    assert types[-1] == "barrier"


def test_a_file_of_an_untrusted_author_reaches_no_other_process():
    plain = to_plain(built())
    (block,) = plain["blocks"]

    def of(kind):
        return next(o for o in block["ops"] if o["type"] == kind)["attrs"]

    of("c_allreduce_sum")["ring_id"] = 7  # no such group: this process alone
    of("c_broadcast")["root"] = 3
    made = from_plain(plain)
    with pytest.raises(ArgumentError, match="process 3 is not in group 0, which has 1"):
        Executor().run(made, {"x": np.zeros((4, 3), np.float32)}, made.outputs)
    of("c_allgather")["nranks"] = 10**12
    with pytest.raises(FormatError, match="ill-formed"):
        from_plain(plain)


def test_a_program_for_more_processes_raises_with_the_reason(monkeypatch):
    program = built()
    for name, attr in (("c_allgather", "nranks"), ("c_reducescatter", "nranks")):
        next(o for o in program.global_block().ops if o.type == name).attrs[attr] = 2
    with pytest.raises(ArgumentError, match="built for 2 processes, group 0 has 1"):
        Executor().run(program, {"x": np.zeros((4, 3), np.float32)}, program.outputs)
    program = built()
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(ModeError, match=r"has no group 0, it has \[\]: 2 processes; call"):
        Executor().run(program, {"x": np.zeros((4, 3), np.float32)}, [])


def test_a_parameter_is_trained_through_a_collective():
    main, startup = Program(), Program()
    with program_guard(main, startup):
        w = create_parameter([3], "float32")
        y = w * data("x", [3])
        dist.all_reduce(y)
        loss = (y * y).sum()
        ((_, gradient),) = append_backward(loss)
    executor = Executor()
    executor.run(startup)
    x = np.array([1.0, 2.0, 3.0], np.float32)
    value, found = executor.run(main, {"x": x}, [w, gradient])
    np.testing.assert_allclose(found, 2 * value * x * x, rtol=1e-6)
    types = [o.type for o in main.global_block().ops]
    assert "c_allreduce_sum_grad" in types
    assert main.clone(for_test=True).global_block().ops[-1].type != "c_allreduce_sum_grad"


def test_one_message_has_one_dtype():
    coalesced = OPS["c_allreduce_coalesced"].namespace["__apply__"]
    with program_guard(Program(), Program()):
        x = data("x", [2])
        with pytest.raises(DTypeError, match="takes values of one dtype"):
            coalesced([x, x.astype("float64")])
        with pytest.raises(ArgumentError, match="there is no reduction 'none'; use one of"):
            Executor().run(
                feed={"x": np.zeros(2, np.float32)},
                fetch_list=coalesced([x], reduce_type="none"),
                program=x.block.program,
            )


def test_collectives_in_programs_refuse_invalid_arguments():
    with program_guard(Program(), Program()):
        x = data("x", [-1, 3])
        with pytest.raises(ArgumentError, match="op must be one of"):
            dist.all_reduce(x, 9)
        with pytest.raises(ArgumentError, match="for each of the 1 processes: got 2 items"):
            dist.alltoall([x, x], [])
        with pytest.raises(ArgumentError, match="this process"):
            dist.send(x, 0)
        with pytest.raises(ShapeError, match="add up"):
            dist.alltoall_single(data("y", [3]), data("z", [3]), [2])
        with pytest.raises(ArgumentError, match="a Program says who sends"):
            dist.irecv(x)


def test_stream_takes_the_results_of_alltoall_first():
    paddle.disable_static()
    x, found = paddle.to_tensor([1.0, 2.0]), []
    stream.alltoall(found, [x])
    assert found[0].tolist() == [1.0, 2.0]
    for call in (stream.all_reduce, stream.send, stream.recv):
        with pytest.raises(RuntimeError, match="use_calc_stream can only be true in sync op behavior"):
            call(x, sync_op=False, use_calc_stream=True)
    out = paddle.zeros([2])
    stream.all_gather(out, x, use_calc_stream=True)
    stream.reduce_scatter(out, [out * 2.0])
    assert out.tolist() == [2.0, 4.0]
    stream.scatter(out, [x])
    stream.broadcast(out, 0)
    stream.reduce(out)
    stream.gather(out, gathered := [])
    stream.alltoall_single(x, out)
    assert [t.tolist() for t in (out, *gathered)] == [[1.0, 2.0]] * 2
