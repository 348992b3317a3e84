"""Training on one's own data: any shape with a model that fits, and bitwise identical after a resume."""

from __future__ import annotations

import numpy as np
import pytest

from engine.core.errors import EngineError
from engine.training import TrainingConfig, TrainingRun
from engine.training.sources.images.vary import Vary
from resources.settings.export import ExportSettings
from tests.engine.training.sources import writing

MODELS = """import paddle.nn as nn

class Pictures(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.full = nn.Conv2D(3, 4, 3, padding=1), nn.Linear(4 * 8 * 8, 3)
    def forward(self, x):
        return self.full(nn.functional.relu(self.conv(x)).flatten(1))

class Numbers(nn.Layer):
    def __init__(self):
        super().__init__()
        self.full = nn.Linear(5, 3)
    def forward(self, x):
        return self.full(x)
"""


@pytest.fixture
def model(tmp_path):
    (tmp_path / "models.py").write_text(MODELS)
    return lambda name: f"{tmp_path / 'models.py'}:{name}"


def weights(run):
    return {name: value.numpy() for name, value in run.network.state_dict().items()}


def test_images_and_numbers_train(tmp_path, model):
    values, labels = writing.images(60, (8, 8, 3))
    data = str(writing.npz(tmp_path / "a.npz", x=values, y=labels))
    config = TrainingConfig(
        data=data, model=model("Pictures"), epochs=20, batch_size=8, learning_rate=0.01, static=False
    )
    assert TrainingRun(config).run().validation_accuracy == 1.0
    rows = np.random.default_rng(0).standard_normal((60, 5)) + 4 * np.eye(5)[labels]
    text = "\n".join(",".join(map(str, [*row, label])) for row, label in zip(rows, labels, strict=True))
    (tmp_path / "t.csv").write_text(f"a,b,c,d,e,y\n{text}\n")
    numbers = config.changed(data=str(tmp_path / "t.csv"), model=model("Numbers"), normalize="statistics")
    assert TrainingRun(numbers).run().validation_accuracy > 0.9


def test_a_model_that_does_not_fit_says_both_shapes(tmp_path, model):
    values, labels = writing.images(30, (8, 8, 3))
    data = str(writing.npz(tmp_path / "a.npz", x=values, y=labels))
    with pytest.raises(EngineError, match=r"\[1, 3, 8, 8\].*\[5, 3\]") as caught:
        TrainingRun(TrainingConfig(data=data, model=model("Numbers"), static=False)).run()
    assert "\n" not in str(caught.value)


def test_a_run_with_varied_images_resumes_bit_for_bit(tmp_path, model):
    values, labels = writing.images(60, (8, 8, 3))
    data = str(writing.npz(tmp_path / "a.npz", x=values, y=labels))
    config = TrainingConfig(
        data=data,
        model=model("Pictures"),
        epochs=2,
        batch_size=8,
        static=False,
        seed=3,
        shift=2,
        rotate=20.0,
        flip="both",
        normalize="statistics",
        checkpoint_every=1,
        keep=99,
    )
    whole = TrainingRun(config.changed(out=str(tmp_path / "whole")))
    whole.run()
    plain = TrainingRun(config.changed(shift=0, rotate=0.0, flip="none"))
    plain.run()
    parts = config.changed(out=str(tmp_path / "parts"))

    def stop(event):
        if event["event"] == "checkpoint" and event["step"] == 3:
            first.interrupt()

    first = TrainingRun(parts, [stop])
    assert first.run().reason == "interrupted"
    np.random.seed(99)
    second = TrainingRun(parts, resume=True)
    second.run()
    for name, value in weights(whole).items():
        assert np.array_equal(weights(second)[name], value)
    assert not np.array_equal(weights(plain)["full.weight"], weights(whole)["full.weight"])


def test_shift_mirror_and_rotation_do_what_they_say():
    image = np.zeros((1, 2, 5, 7), np.float32)
    image[0, :, 2, 3] = 1.0
    np.random.seed(0)
    places = {tuple(np.argwhere(Vary(shift=1)(image)[0, 0])[0]) for _ in range(200)}
    assert places == {(row, column) for row in (1, 2, 3) for column in (2, 3, 4)}
    corner = np.zeros((1, 1, 3, 3), np.float32)
    corner[0, 0, 0, 0] = 1.0
    for flip, expected in (
        ("horizontal", {(0, 0), (0, 2)}),
        ("vertical", {(0, 0), (2, 0)}),
        ("both", {(0, 0), (0, 2), (2, 0), (2, 2)}),
    ):
        found = {tuple(np.argwhere(Vary(flip=flip)(corner)[0, 0])[0]) for _ in range(100)}
        assert found == expected
    line = np.zeros((1, 1, 21, 21), np.float32)
    line[0, 0, 10] = 1.0
    turned = Vary(rotate=90.0)(line)[0, 0]
    assert turned[10, 10] > 0.5
    assert turned.sum() > 10
    assert not np.array_equal(turned, line[0, 0])


def test_the_checkpoint_contains_the_preparation(tmp_path, model):
    from engine.training.folder.run_folder import RunFolder

    values, labels = writing.images(60, (8, 8, 3))
    data = str(writing.npz(tmp_path / "a.npz", x=values, y=labels))
    out = tmp_path / "run"
    run = TrainingRun(
        TrainingConfig(
            data=data, model=model("Pictures"), epochs=1, static=False, normalize="symmetric", out=str(out)
        )
    )
    run.run()
    folder = RunFolder(out)
    saved = folder.read_checkpoint(folder.latest_checkpoint()[0])["data"]
    assert saved["shape"] == [3, 8, 8]
    assert saved["prepare"] == {
        "picture": True,
        "resize": 0,
        "color": "auto",
        "mean": [0.5] * 3,
        "deviation": [0.5] * 3,
    }


def test_an_export_normalises_what_it_is_given(tmp_path, model):
    from engine import jit
    from engine.files.inference import describe_inference
    from engine.tensor.creation import to_tensor
    from engine.training.exporting.export import export_run

    values, labels = writing.images(60, (8, 8, 3))
    data = str(writing.npz(tmp_path / "a.npz", x=values, y=labels))
    run = TrainingRun(
        TrainingConfig(
            data=data,
            model=model("Pictures"),
            epochs=8,
            batch_size=8,
            learning_rate=0.01,
            static=False,
            normalize="statistics",
            out=str(tmp_path / "run"),
        )
    )
    expected = run.run().validation_accuracy
    done = export_run(
        tmp_path / "run",
        str(tmp_path / "out" / "model"),
        ExportSettings("last", input_shape=(-1, 3, 8, 8)),
    )
    # The caller who feeds it never normalises a second time.
    prepare = describe_inference(str(tmp_path / "out" / "model")).info["info"]["prepare"]
    assert (prepare["mean"], prepare["deviation"]) == ([], [])
    assert done["difference"] < 1e-5
    assert done["accuracy"] == pytest.approx(expected)
    scores = jit.load(str(tmp_path / "out" / "model"))(
        to_tensor(values.transpose(0, 3, 1, 2).astype("f4") / 255)
    )
    assert float((scores.numpy().argmax(axis=1) == labels).mean()) == pytest.approx(expected, abs=0.1)
    assert expected > 0.9


def test_an_export_takes_what_the_training_was_fed(tmp_path, model):
    from engine.training.exporting.export import export_run
    from studio.session.runs.runs_folder import read_run_line

    values, labels = writing.images(60, (8, 8, 3))
    data = str(writing.npz(tmp_path / "a.npz", x=values, y=labels))
    TrainingRun(
        TrainingConfig(data=data, model=model("Pictures"), epochs=1, static=False, out=str(tmp_path / "run"))
    ).run()
    done = export_run(tmp_path / "run", str(tmp_path / "out" / "model"), ExportSettings("last"))
    assert done["pictures"] == "test"
    assert read_run_line(tmp_path / "run").shape == (3, 8, 8)
