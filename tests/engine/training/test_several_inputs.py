"""A model that takes several inputs: data, training, resume, what does not fit, and export."""

from __future__ import annotations

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError, FormatError
from engine.files.checkpoint import list_checkpoints
from engine.inference.serve_run import RunServer
from engine.inference.wire import Message
from engine.training import TrainingConfig, TrainingRun
from engine.training.data import load_data
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepare import UNIT
from resources.settings.export import ExportSettings
from studio.session.runs.runs_folder import read_run_line
from tests.engine.training.several_inputs import NAMES, arrays, write_data, write_models


@pytest.fixture
def config(tmp_path):
    return TrainingConfig(
        data=write_data(tmp_path / "a.npz"),
        input_name=NAMES,
        model=f"{write_models(tmp_path)}:Three",
        epochs=2,
        batch_size=16,
        learning_rate=0.02,
        static=False,
        normalize="statistics",
    )


def weights(run):
    return {name: value.numpy() for name, value in run.network.state_dict().items()}


def test_each_input_has_its_shape_and_dtype(tmp_path):
    splits = load_data(write_data(tmp_path / "a.npz"), options=DataOptions(kind="stored", input_name=NAMES))
    assert [feed.text for feed in splits.spec.feeds] == [
        "image [1, 8, 8] float32",
        "row [5] float32",
        "word [1] int64",
    ]
    (image, row, word), label = splits.test[0]
    where = int(splits.test.chosen[0])
    given = arrays()
    np.testing.assert_array_equal(image[0], given["image"][where].astype(np.float32) * UNIT)
    np.testing.assert_array_equal(row, given["row"][where])
    assert (word, label) == (given["word"][where], given["label"][where])


@pytest.mark.parametrize(
    ("values", "fed"),
    [
        (np.zeros((6, 8, 8), np.uint8), "[1, 8, 8] float32"),
        (np.zeros((6, 8, 8, 3)), "[3, 8, 8] float32"),
        (np.zeros((6, 9, 8)), "[1, 9, 8] float32"),
        (np.zeros((6, 20, 3)), "[20, 3] float32"),
        (np.zeros((6, 8, 8), np.int32), "[8, 8] int64"),
        (np.zeros((6, 2, 3, 4, 5)), "[2, 3, 4, 5] float32"),
        (np.zeros(6, np.uint8), "[1] int64"),
        (np.zeros(6, bool), "[1] float32"),
    ],
)
@pytest.mark.parametrize("names", ["a,b", "b,a"])
def test_the_form_of_an_input_does_not_depend_on_its_place(tmp_path, values, fed, names):
    np.savez(tmp_path / "a.npz", a=values, b=np.zeros((6, 4)), y=np.arange(6) % 2)
    for kind in ("auto", "stored"):
        options = DataOptions(kind=kind, input_name=names)
        spec = load_data(str(tmp_path / "a.npz"), options=options).spec
        assert {feed.text for feed in spec.feeds} == {f"a {fed}", "b [4] float32"}


def test_static_and_eager_trainings_learn_the_same(config, tmp_path):
    runs = [TrainingRun(config.changed(static=static, layers_every=3)) for static in (False, True)]
    results = [run.run() for run in runs]
    assert results[0].validation_accuracy == results[1].validation_accuracy
    for name, value in weights(runs[0]).items():
        np.testing.assert_allclose(value, weights(runs[1])[name], rtol=1e-4, atol=1e-6)


def test_a_resumed_run_is_bitwise_identical(config, tmp_path):
    out = tmp_path / "run"
    whole = TrainingRun(config.changed(out=str(out), checkpoint_every=2))
    whole.run()
    first = list_checkpoints(out / "checkpoints")[0]
    again = TrainingRun(config.changed(out=str(out)), resume=first.path)
    again.run()
    for name, value in weights(whole).items():
        np.testing.assert_array_equal(value, weights(again)[name])
    assert [row.text for row in read_run_line(out).inputs] == [
        "image: None,1,8,8 float32",
        "row: None,5 float32",
        "word: None,1 int64",
    ]
    asked = {"do": "load", "folder": str(out), "checkpoint": str(first.path), "agreed": None}
    said, _ = RunServer().answer(Message({**asked, "memory": None, "seconds": None}, []))
    assert said["info"]["inputs"] == [
        {"name": "image", "dtype": "float32", "shape": [-1, 1, 8, 8]},
        {"name": "row", "dtype": "float32", "shape": [-1, 5]},
        {"name": "word", "dtype": "int64", "shape": [-1, 1]},
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "lenet"}, "model: lenet takes one input, and the data has 3: image, row, word"),
        ({"model": "auto"}, "model: auto chooses models with one input, and the data has 3"),
        ({"input_name": "image,row"}, r"forward takes 3 inputs \(image, row, word\), and the data has 2"),
        ({"input_name": "image"}, "forward takes 3 inputs .* and the data has one; .*image,row,word"),
        (
            {"input_name": "row,image,word"},
            "takes image, row, word in this order, and the data gives row, im",
        ),
        ({"input_name": "image,,word"}, "several arrays must have different names"),
        ({"input_name": "image,rows,word"}, "there is no array 'rows': image "),
        ({"input_name": NAMES, "model": "One"}, r"forward takes 1 input \(x\), and the data has 3"),
        ({"extra_data": "a.npz"}, "extra_data: samples with several inputs can't be added to"),
        ({"row": np.full((60, 5), np.nan, np.float32)}, "a.npz row row .*: it holds NaN"),
        ({"row": np.zeros((59, 5))}, "59 rows, 60 labels"),
        ({"row": np.zeros((60, 6))}, r"\[1, 17\]"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(config, tmp_path, changes, message):
    changes = dict(changes)
    if "row" in changes:
        write_data(tmp_path / "a.npz", row=changes.pop("row"))
    if changes.get("model") == "One":
        changes["model"] = config.model.replace("Three", "One")
    if "extra_data" in changes:
        changes["extra_data"] = config.data
    with pytest.raises((ArgumentError, DataError, ValueError), match=message):
        TrainingRun(config.changed(**changes)).run()


def test_a_missing_array_of_the_test_samples_is_named(tmp_path):
    given = {f"{name}_{split}": value for name, value in arrays(12).items() for split in ("train", "test")}
    del given["row_test"]
    np.savez(tmp_path / "a.npz", **given)
    with pytest.raises(DataError, match="row_train has no array for the test samples"):
        load_data(str(tmp_path / "a.npz"), options=DataOptions(kind="stored", input_name=NAMES))


def test_samples_that_differ_in_one_input_are_others(tmp_path):
    from engine.training.corrections import sample_digests
    from engine.training.sources.survey import Survey

    count = 60
    given = arrays()
    row = given["row"].copy()
    row[7, 2] = np.nan
    image = np.zeros((count, 8, 8), np.uint8)
    path = write_data(tmp_path / "a.npz", image=image, row=row)
    survey = Survey(path, DataOptions(kind="stored", input_name=NAMES))
    *_, (_, _, problems) = survey.check()
    assert [(each["kind"], each["count"]) for each in problems] == [("nan", 1)]
    assert "a.npz row row 7" in problems[0]["places"]
    rows = survey.source.train
    assert len(set(sample_digests(rows, np.arange(count)))) == count


@pytest.mark.parametrize(
    ("parameters", "static"), [("x", True), ("x, other=None", True), ("*inputs", False), ("x, **more", False)]
)
def test_a_forward_of_one_input_may_be_converted_and_have_other_parameters(tmp_path, parameters, static):
    decorator = "@paddle.jit.to_static" if static else ""
    first = "inputs[0]" if "*inputs" in parameters else "x"
    (tmp_path / "one.py").write_text(
        f"""import paddle

class One(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.last = paddle.nn.Linear(5, 3)

    {decorator}
    def forward(self, {parameters}):
        return self.last({first})
"""
    )
    data = write_data(tmp_path / "a.npz")
    config = TrainingConfig(
        data=data, input_name="row", model=f"{tmp_path}/one.py:One", epochs=1, static=False
    )
    assert TrainingRun(config).run().validation_accuracy > 0.3


@pytest.mark.parametrize("format", ["packed", "onnx"])
def test_an_export_has_all_inputs(config, tmp_path, format):
    from engine import jit
    from engine.tensor.creation import to_tensor
    from engine.training.exporting.export import export_run
    from engine.training.exporting.reverify import verify_again

    if format == "onnx":
        pytest.importorskip("onnx")
    run = TrainingRun(config.changed(out=str(tmp_path / "run"), epochs=8))
    accuracy = run.run().validation_accuracy
    settings = ExportSettings(
        "last", format=format, inputs="image: None,1,8,8; numbers: None,5; word: None,1 int64"
    )
    done = export_run(tmp_path / "run", str(tmp_path / "out" / "model"), settings)
    assert done["difference"] < 1e-5
    assert done["accuracy"] == pytest.approx(accuracy)
    if format == "onnx":
        return
    loaded = jit.load(str(tmp_path / "out" / "model.h5"))
    assert [
        (v.name, list(v.shape)) for v in map(loaded.program().global_block().var, loaded.program().inputs)
    ] == [
        ("image", [-1, 1, 8, 8]),
        ("numbers", [-1, 5]),
        ("word", [-1, 1]),
    ]
    given = arrays()
    image = given["image"][:, None].astype(np.float32) * UNIT
    scores = loaded(*map(to_tensor, (image, given["row"], given["word"]))).numpy()
    assert (scores.argmax(axis=1) == given["label"]).mean() > 0.9
    assert verify_again(done["prefix"], tmp_path / "run")["samples"] == 12


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"input_name": "a"},
            "takes 3 inputs: image, row, word; .*'image: None,1,8,8 float32; row: None,5 float32",
        ),
        ({"inputs": "a: None,1,8,8"}, "inputs: the model takes 3: got 1"),
        ({"inputs": "image"}, "not an input: got 'image'"),
    ],
)
def test_inputs_of_an_export_must_be_those_of_the_model(settings, message):
    from engine.training.exporting.inputs import export_inputs
    from engine.training.sources.several_inputs import Feed
    from engine.training.sources.spec import DataSpec

    feeds = (Feed("image", (1, 8, 8), "float32", "a"), Feed("row", (5,), "float32", "b"))
    spec = DataSpec("images", "classes", (1, 8, 8), ("0",), feeds=(*feeds, Feed("word", (1,), "int64", "c")))
    data = {"shape": [1, 8, 8], "spec": spec.as_plain()}
    with pytest.raises(ArgumentError, match=message):
        export_inputs(data, ExportSettings(**settings))


@pytest.mark.parametrize(
    "feeds", [5, [5], [{}], [{"name": 1, "shape": [1], "dtype": "int64", "array": "a"}], [{"shape": ["a"]}]]
)
def test_invalid_inputs_in_a_file_are_refused(feeds):
    from engine.training.exporting.inputs import feeds_of
    from engine.training.exporting.raw_inputs import RawInputs
    from engine.training.sources.spec import DataSpec

    plain = {**DataSpec("images", "classes", (1, 8, 8), ("0",)).as_plain(), "feeds": feeds}
    with pytest.raises(FormatError, match="not what a training says of its data"):
        feeds_of({"spec": plain})
    with pytest.raises(FormatError, match="data_spec: not what an export says"):
        RawInputs.of({"data_spec": plain})
