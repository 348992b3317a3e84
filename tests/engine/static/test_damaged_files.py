"""Files of static graphs that are damaged, mixed, or made by someone who means harm."""

import os
import pickle
import shutil

import numpy as np
import pytest

import engine as paddle
from engine import optimizer
from engine.core.errors import (
    AbsentError,
    ArgumentError,
    DataError,
    DTypeError,
    FormatError,
    SaveError,
    ShapeError,
)
from engine.files.inference import read_inference, write_inference
from engine.files.native.userblock import SIZE, make_user_block, parse_user_block
from engine.files.untrusted import guarded

X = np.random.RandomState(0).uniform(-1, 1, (6, 4)).astype("float32")


@pytest.fixture
def saved(static, tmp_path):
    """A Program in training, its Executor, its data and result, and the prefixes of state and model."""
    x = static.data("x", [None, 4])
    out = static.nn.fc(static.nn.fc(x, 5, activation="relu"), 2)
    optimizer.Adam(0.1).minimize(out.mean())
    executor = static.Executor()
    executor.run(static.default_startup_program())
    executor.run(feed={"x": X})
    state, model = str(tmp_path / "state"), str(tmp_path / "model")
    static.save(static.default_main_program(), state)
    static.save_inference_model(model, [x], [out], executor)
    return static.default_main_program(), executor, x, out, state, model


def values(program):
    return {name: tensor.numpy() for name, tensor in program.state_dict().items()}


def assert_same(left, right):
    assert left.keys() == right.keys()
    assert all(np.array_equal(left[k], right[k]) for k in left)


def foreign(data, path):
    """The bytes of a file as if another installation had written it."""
    block = parse_user_block(data[:SIZE], len(data), path)
    return make_user_block(data[SIZE:], block.save_id, None) + data[SIZE:]


@pytest.fixture(autouse=True)
def _no_verdicts_remembered():
    guarded._accepted.clear()


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


HARMS = {
    "flip": flipped,
    "cut": lambda data: data[: len(data) * 2 // 3],
    "empty": lambda data: b"",
    "pickle": lambda data: pickle.dumps({"fc_0.w_0": [1.0]}),
    "text": lambda data: b"import os; os.system('true')",
}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("suffix", ["pdparams", "pdopt"])
def test_damaged_state_is_named_and_changes_nothing(static, saved, tmp_path, suffix, harm):
    program, executor, *_, state, _ = saved
    path = tmp_path / f"state.{suffix}"
    path.write_bytes(HARMS[harm](path.read_bytes()))
    executor.run(program, {"x": X})
    before = values(program)
    with pytest.raises(FormatError, match=path.name):
        static.load(program, state)
    with pytest.raises(FormatError, match=path.name):
        static.load_program_state(state)
    assert_same(values(program), before)


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("suffix", ["pdmodel", "pdiparams", "pdiparams.info"])
def test_a_damaged_model_is_named_and_the_scope_stays(static, saved, tmp_path, suffix, harm):
    _, executor, *_, model = saved
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(HARMS[harm](path.read_bytes()))
    with static.scope_guard(static.Scope()):
        with pytest.raises(FormatError, match=path.name):
            static.load_inference_model(model, executor)
        assert static.global_scope().local_var_names() == []


@pytest.mark.parametrize("harm", HARMS)
def test_damaged_bytes_are_refused(static, saved, harm):
    program, executor, x, out, *_ = saved
    content = HARMS[harm](static.serialize_program([x], [out]))
    with pytest.raises(FormatError, match="deserialize_program"):
        static.deserialize_program(content)
    weights = HARMS[harm](static.serialize_persistables([x], [out], executor))
    before = values(program)
    with pytest.raises(FormatError, match="deserialize_persistables"):
        static.deserialize_persistables(program, weights, executor)
    assert_same(values(program), before)


def test_a_pickle_is_not_run(static, saved, tmp_path):
    program, executor, *_, state, model = saved
    victim = tmp_path / "victim"

    class Harm:
        def __reduce__(self):
            return os.mkdir, (str(victim),)

    harm = pickle.dumps(Harm())
    for name in ("state.pdparams", "state.pdmodel", "model.pdmodel"):
        (tmp_path / name).write_bytes(harm)
    for action in (
        lambda: static.load(program, state),
        lambda: static.load_program_state(state),
        lambda: paddle.load(f"{state}.pdmodel"),
        lambda: static.load_inference_model(model, executor),
        lambda: static.deserialize_program(harm),
        lambda: static.deserialize_persistables(program, harm, executor),
    ):
        with pytest.raises(FormatError, match="pickle"):
            action()
    assert not victim.exists()


def test_state_of_two_saves_does_not_mix(static, saved, tmp_path):
    program, executor, *_, state, _ = saved
    executor.run(program, {"x": X})
    static.save(program, str(tmp_path / "later"))
    shutil.copy(tmp_path / "later.pdopt", tmp_path / "state.pdopt")
    with pytest.raises(FormatError, match=r"not of one save: both differ .*state.pdparams from save"):
        static.load(program, state)
    with pytest.raises(FormatError, match="not of one save"):
        static.load_program_state(state)


def test_a_model_of_two_saves_does_not_mix(static, saved, tmp_path):
    _, executor, x, out, _, model = saved
    static.save_inference_model(str(tmp_path / "later"), [x], [out], executor)
    shutil.copy(tmp_path / "later.pdiparams", tmp_path / "model.pdiparams")
    with pytest.raises(FormatError, match=r"model.pdiparams differs from the other two"):
        static.load_inference_model(model, executor)


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_a_save_that_breaks_off_leaves_the_old_one_or_the_new_one(static, saved, monkeypatch, renames):
    program, executor, *_, state, _ = saved
    old = values(program)
    executor.run(program, {"x": X})
    new = values(program)
    done = []

    def replace(source, target, original=os.replace):
        if str(target).startswith(state):
            if len(done) == renames:
                raise OSError(5, "power is gone")
            done.append(target)
        original(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(SaveError):
        static.save(program, state)
    monkeypatch.undo()
    static.load(program, state)
    assert_same(values(program), new if renames else old)


def test_a_full_disk_leaves_what_was_there(static, saved, tmp_path):
    program, executor, x, out, *_ = saved
    blocker = tmp_path / "file"
    blocker.write_text("mine")
    for action in (
        lambda: static.save(program, str(blocker / "state")),
        lambda: static.save_inference_model(str(blocker / "model"), [x], [out], executor),
        lambda: static.save_to_file(str(blocker / "bytes"), b"1"),
    ):
        with pytest.raises(SaveError):
            action()
    assert blocker.read_text() == "mine"


def test_missing_files_are_named(static, saved, tmp_path):
    program, executor, *_, state, model = saved
    (tmp_path / "state.pdopt").unlink()
    with pytest.raises(AbsentError, match=r"missing state.pdopt: found state.pdparams"):
        static.load(program, state)
    (tmp_path / "state.pdparams").unlink()
    with pytest.raises(FileNotFoundError, match="no such file"):
        static.load_program_state(state)
    (tmp_path / "model.pdiparams").unlink()
    with pytest.raises(AbsentError, match=r"missing model.pdiparams: found model.pdmodel"):
        static.load_inference_model(model, executor)


def test_files_of_another_installation_are_read_in_a_child_first(static, saved, tmp_path, monkeypatch):
    program, executor, x, out, state, model = saved
    expected = executor.run(program.clone(for_test=True), {"x": X}, [out.name])[0]
    for path in tmp_path.iterdir():
        path.write_bytes(foreign(path.read_bytes(), path))
    content = foreign(static.serialize_program([x], [out]), tmp_path)
    weights = foreign(static.serialize_persistables([x], [out], executor), tmp_path)
    checked = []
    run_child = guarded.run_child
    monkeypatch.setattr(
        guarded, "run_child", lambda request, limits: (checked.append(request), run_child(request, limits))[1]
    )
    with static.scope_guard(static.Scope()):
        static.load(program, state)
        loaded, _, fetches = static.load_inference_model(model, executor)
        np.testing.assert_array_equal(executor.run(loaded, {"x": X}, fetches)[0], expected)
    with static.scope_guard(static.Scope()):
        again = static.deserialize_program(content)
        static.deserialize_persistables(again, weights, executor)
        np.testing.assert_array_equal(executor.run(again, {"x": X}, again.outputs)[0], expected)
    kinds = [file["kind"] for request in checked for file in request["files"]]
    models = [f"inference.{part}" for part in ("program", "weights", "info")]
    # The weights as bytes are those of the file, of which the verdict is known.
    assert kinds == ["state", "state", *models, ("inference.program", "state")]
    assert not any(os.path.exists(file["path"]) for file in checked[-1]["files"])  # there for the check only


def test_weights_that_do_not_fit_are_refused_before_anything_changes(static, saved, tmp_path):
    program, executor, *_, state, model = saved
    files = read_inference(model)
    for name, wrong in (
        ("fc_0.w_0", files.weights["fc_0.w_0"][:2]),
        ("fc_1.b_0", files.weights["fc_1.b_0"].astype("float64")),
        ("fc_1.w_0", None),
    ):
        weights = {k: v for k, v in files.weights.items() if k != name}
        if wrong is not None:
            weights[name] = wrong
        write_inference(model, files.program, weights, files.info)
        with static.scope_guard(static.Scope()):
            with pytest.raises(FormatError, match=name):
                static.load_inference_model(model, executor)
            assert static.global_scope().local_var_names() == []
    before = values(program)
    for name, wrong, error in (
        ("fc_1.w_0", np.ones((2, 2), "float32"), ShapeError),
        ("fc_1.b_0", np.ones(2, "int64"), DTypeError),
        ("fc_1.b_0", None, ArgumentError),
    ):
        changed = {k: np.zeros_like(v) for k, v in before.items()}
        del changed[name]
        if wrong is not None:
            changed[name] = wrong
        paddle.save(changed, f"{state}2.pdparams")
        with pytest.raises(error, match=name):
            static.load(program, f"{state}2")
        assert_same(values(program), before)
        if wrong is not None:
            with pytest.raises(error, match=name):
                static.set_program_state(program, changed)
            assert_same(values(program), before)


def test_files_with_other_contents_are_refused(static, saved, tmp_path):
    program, executor, *_, state, model = saved
    paddle.save([1, 2], f"{state}3.pdparams")
    with pytest.raises(FormatError, match="arrays by name"):
        static.load(program, f"{state}3")
    with pytest.raises(FormatError, match="another kind"):
        static.deserialize_persistables(program, static.load_from_file(f"{model}.pdmodel"), executor)
    with pytest.raises(FormatError, match="do not hold a Program"):
        static.deserialize_program(static.load_from_file(f"{state}.pdparams"))
    with pytest.raises(FormatError, match="another kind"):
        paddle.load(f"{model}.pdiparams.info")


def test_two_files_written_from_bytes_are_a_model(static, saved, tmp_path):
    program, executor, x, out, _, model = saved
    expected = executor.run(program.clone(for_test=True), {"x": X}, [out.name])[0]
    static.save_to_file(str(tmp_path / "new" / "m.pdmodel"), static.serialize_program([x], [out]))
    static.save_to_file(
        str(tmp_path / "new" / "m.pdiparams"), static.serialize_persistables([x], [out], executor)
    )
    with static.scope_guard(static.Scope()):
        loaded, names, fetches = static.load_inference_model(str(tmp_path / "new" / "m"), executor)
        np.testing.assert_array_equal(executor.run(loaded, {names[0]: X}, fetches)[0], expected)
    with static.scope_guard(static.Scope()):
        contents = [static.load_from_file(f"{model}.{suffix}") for suffix in ("pdmodel", "pdiparams")]
        loaded, names, fetches = static.load_inference_model(
            None, executor, model_filename=contents[0], params_filename=contents[1]
        )
        np.testing.assert_array_equal(executor.run(loaded, {names[0]: X}, fetches)[0], expected)
    (tmp_path / "model.pdiparams.info").unlink()
    with pytest.raises(DataError, match=r"missing model.pdiparams.info"):
        static.load_inference_model(model, executor)
