"""What static mode saves: training state, inference models, bytes."""

from contextlib import nullcontext

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.core.errors import ArgumentError, DataError, DTypeError, FormatError, ProgramError
from engine.nn import functional as F
from engine.program.saved.serialize import from_plain, to_plain
from tests.cupy_stand_in.module import gpu, installed

X = np.random.RandomState(0).uniform(-1, 1, (6, 4)).astype("float32")


@pytest.fixture
def trained(static):
    """A Program after two steps of Adam: itself, its feed, its prediction and its loss."""
    x = static.data("x", [None, 4])
    out = static.nn.fc(F.dropout(static.nn.fc(x, 5, activation="relu"), 0.5), 2)
    loss = out.mean()
    optimizer.Adam(0.1).minimize(loss)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    for _ in range(2):
        executor.run(feed={"x": X})
    return static.default_main_program(), executor, x, out, loss


def values(program):
    return {name: tensor.numpy() for name, tensor in program.state_dict().items()}


def test_training_continues_where_it_was_saved(static, trained, tmp_path):
    program, executor, _, _, loss = trained
    static.save(program, str(tmp_path / "model"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.pdmodel", "model.pdopt", "model.pdparams"]
    saved = values(program)
    paddle.seed(5)
    expected = [executor.run(program, {"x": X}, [loss])[0] for _ in range(3)]
    assert not np.array_equal(values(program)["fc_0.w_0"], saved["fc_0.w_0"])
    static.load(program, str(tmp_path / "model"), executor)
    assert all(np.array_equal(v, saved[k]) for k, v in values(program).items())
    paddle.seed(5)
    assert [executor.run(program, {"x": X}, [loss])[0] for _ in range(3)] == expected


def test_a_training_program_from_a_file_trains_alike(static, trained, tmp_path):
    program, executor, _, _, loss = trained
    paddle.save(program, str(tmp_path / "program.pdmodel"))
    again = paddle.load(str(tmp_path / "program.pdmodel"))
    assert str(again) == str(program)
    state = values(program)
    results = []
    for each in (program, again):
        each.set_state_dict(state)
        paddle.seed(1)
        results.append([executor.run(each, {"x": X}, [loss.name])[0] for _ in range(3)])
    assert results[0] == results[1]


def test_a_program_with_branches_prints_alike_from_a_file(static, tmp_path):
    x = static.data("x", [3])
    i = paddle.zeros([1], "int64")
    _, total = static.nn.while_loop(lambda i, t: i < 3, lambda i, t: [i + 1, t * x], [i, x])
    static.nn.cond(total.sum() > 0, lambda: total + 1, lambda: total - 1)
    program = static.default_main_program()
    paddle.save(program, str(tmp_path / "program"))
    assert str(paddle.load(str(tmp_path / "program"))) == str(program)


def test_state_of_a_program_from_files(static, trained, tmp_path):
    program, *_ = trained
    static.save(program, str(tmp_path / "model"))
    state = static.load_program_state(str(tmp_path / "model"))
    assert set(state) == set(values(program))
    named = static.load_program_state(str(tmp_path / "model"), ["fc_0.w_0"])
    assert set(named) == set(state), "var_list belongs to older files"
    state["fc_0.b_0"] = np.full(5, 7, "float32")
    static.set_program_state(program, state)
    assert values(program)["fc_0.b_0"].tolist() == [7] * 5
    with pytest.warns(UserWarning, match="surplus"):
        static.set_program_state(program, {**state, "surplus": X})


def test_an_inference_model_predicts_in_another_scope(static, trained, tmp_path):
    program, executor, x, out, _ = trained
    prefix = str(tmp_path / "inference" / "model")
    static.save_inference_model(prefix, [x], [out], executor)
    expected = executor.run(program.clone(for_test=True), {"x": X}, [out.name])[0]
    with static.scope_guard(static.Scope()):
        loaded, names, fetches = static.load_inference_model(prefix, executor)
        assert names == ["x"]
        assert {o.type for o in loaded.global_block().ops} == {"mul", "elementwise_add", "relu", "dropout"}
        np.testing.assert_array_equal(executor.run(loaded, {"x": X}, fetches)[0], expected)
    paddle.disable_static()
    layer = paddle.jit.load(prefix)
    np.testing.assert_array_equal(layer(paddle.to_tensor(X)).numpy(), expected)


def test_a_model_of_jit_save_runs_in_an_executor(static, tmp_path):
    paddle.disable_static()
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    net.eval()
    prefix = str(tmp_path / "model")
    paddle.jit.save(net, prefix, input_spec=[paddle.static.InputSpec([None, 4], "float32", "image")])
    expected = net(paddle.to_tensor(X)).numpy()
    paddle.enable_static()
    program, names, fetches = static.load_inference_model(prefix, static.Executor())
    assert names == ["image"]
    np.testing.assert_array_equal(static.Executor().run(program, {"image": X}, fetches)[0], expected)


def test_bytes_and_back(static, trained, tmp_path):
    program, executor, x, out, _ = trained
    content = static.serialize_program([x], [out])
    weights = static.serialize_persistables([x], [out], executor)
    static.save_to_file(str(tmp_path / "content"), content)
    assert static.load_from_file(str(tmp_path / "content")) == content
    expected = executor.run(program.clone(for_test=True), {"x": X}, [out.name])[0]
    with static.scope_guard(static.Scope()):
        again = static.deserialize_program(content)
        static.deserialize_persistables(again, weights, executor)
        np.testing.assert_array_equal(executor.run(again, {"x": X}, again.outputs)[0], expected)
    assert str(static.Program.parse_from_string(content)) == str(again)


def test_unsaveable_and_unreadable_files_are_named(static, trained, tmp_path):
    program, executor, _, out, _ = trained
    with pytest.raises(DataError, match="nothing"):
        static.load(program, str(tmp_path / "nothing"))
    with pytest.raises(DTypeError, match="feed_vars"):
        static.save_inference_model(str(tmp_path / "m"), ["x"], [out], executor)
    with pytest.raises(ArgumentError, match=r"depend on \['x'\]"):
        static.save_inference_model(str(tmp_path / "m"), [static.data("other", [1])], [out], executor)
    with pytest.raises(FormatError, match="deserialize_program"):
        static.deserialize_program(b"no file at all")
    with static.scope_guard(static.Scope()), pytest.raises(ProgramError, match="no value yet"):
        static.save(program, str(tmp_path / "m"))
    static.save(program, str(tmp_path / "m"))
    with pytest.raises(ArgumentError, match="no file name"):
        static.save(program, f"{tmp_path}/")
    other = static.Program()
    with static.program_guard(other, static.Program()):
        static.nn.fc(static.data("x", [None, 4]), 9)
    with pytest.raises(ArgumentError, match=r"no values for \['fc_2"):
        static.load(other, str(tmp_path / "m"))


def test_a_python_function_is_not_read_from_a_file(static, tmp_path):
    x = static.data("x", [3])
    out = static.default_main_program().current_block().create_var(name="o", shape=[3], dtype="float32")
    static.nn.py_func(lambda a: a, x, out)
    paddle.save(static.default_main_program(), str(tmp_path / "program"))
    with pytest.raises(FormatError, match="Python functions"):
        paddle.load(str(tmp_path / "program"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.update(of="sgd"), "no gradient"),
        (lambda a: a.update(targets=[9]), "targets"),
        (lambda a: a.update(inputs=[3]), "inputs"),
        (lambda a: a.update(given=["yes"]), "given"),
        (lambda a: a["attrs"]["attrs"].update(axis={"no": "list"}), "axis"),
    ],
)
def test_a_gradient_that_lies_is_refused(static, trained, change, words):
    program, *_ = trained
    plain = to_plain(program)
    (target,) = [o for o in plain["blocks"][0]["ops"] if o["attrs"].get("of") == "reduce_mean"]
    change(target["attrs"])
    with pytest.raises(FormatError, match=words):
        from_plain(plain, "here", training=True)


def test_values_of_another_device_move_to_the_executors(static, trained):
    program, executor, *_, loss = trained
    paddle.seed(2)
    state = values(program)
    expected = executor.run(program, {"x": X}, [loss])

    with nullcontext() if gpu() else installed():
        import cupy

        for name, array in state.items():
            static.global_scope().find_var(name).store(cupy.asarray(array))
        paddle.seed(2)
        assert executor.run(program, {"x": X}, [loss]) == expected
        assert all(isinstance(v._array, np.ndarray) for v in program.state_dict().values())
