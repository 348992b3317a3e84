"""Images that can't be read: skipped up to a share, in no split, named; more stop before the first step."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from PIL import Image

from engine.training import TrainingConfig, TrainingRun
from engine.training.data import load_data, read_images
from engine.training.sources.images import cache as image_cache
from engine.training.sources.images import folder as image_folder
from engine.training.sources.images.folder import decode_image
from engine.training.sources.options import DataOptions
from engine.training.sources.splits.division import DamagedImages
from engine.training.sources.survey import Survey
from tests.engine.training.sources import writing


@pytest.fixture
def folder(tmp_path):
    return writing.image_folder(tmp_path / "own", count=30)


def names(split):
    return [split.rows.where(int(row)) for row in split.chosen]


def damage(folder, *files):
    for file in files:
        (folder / file).write_bytes((folder / file).read_bytes()[:60])


def test_damaged_images_are_in_no_split_and_move_no_other(folder):
    options = DataOptions(validation_share=0.2, damaged_share=0.1)
    before = load_data(str(folder), 0, options)
    bad = [names(before.train)[3], names(before.validation)[0], names(before.test)[2]]
    damage(folder, *bad)
    after = load_data(str(folder), 0, options)
    assert sorted(after.skipped) == sorted(bad)
    for one, other in ((before.train, after.train), (before.validation, after.validation)):
        assert names(other) == [name for name in names(one) if name not in bad]
    assert names(after.test) == [name for name in names(before.test) if name != bad[2]]
    assert np.isfinite(after.train.__getitems__(range(len(after.train)))[0]).all()
    Image.new("RGB", (8, 8)).save(folder / bad[0])
    assert names(load_data(str(folder), 0, options).train) == names(before.train)


def test_more_than_the_share_stop_with_their_names(folder):
    damage(folder, "ant/1.png", "ant/2.png", "bee/7.png")
    with pytest.raises(
        DamagedImages,
        match=r"3 of 60 images can't be read, over 0\.01 of them: .*ant/1\.png.*; replace or remove them, or "
        r"raise Damaged \(damaged_share\)",
    ) as raised:
        load_data(str(folder))
    assert sorted(raised.value.names) == ["ant/1.png", "ant/2.png", "bee/7.png"]
    assert len(load_data(str(folder), 0, DataOptions(damaged_share=0.05)).skipped) == 3
    (folder / "ant" / "1.png").unlink()
    (folder / "ant" / "2.png").unlink()
    assert load_data(str(folder)).skipped == ("bee/7.png",)  # 1 % of 58, rounded up
    with pytest.raises(DamagedImages, match="1 of 58"):
        load_data(str(folder), 0, DataOptions(damaged_share=0.0))


def test_mean_and_deviation_are_measured_without_damaged_images(folder):
    damage(folder, "ant/1.png", "ant/2.png", "ant/3.png")
    options = DataOptions(normalize="statistics", damaged_share=0.1)
    data = load_data(str(folder), 0, options)
    values = data.train.__getitems__(range(len(data.train)))[0]
    assert np.allclose(values.mean(axis=(0, 2, 3)), 0, atol=1e-4)
    assert np.allclose(values.std(axis=(0, 2, 3)), 1, atol=1e-4)


def test_the_survey_opens_damaged_images_and_names_them(folder):
    damage(folder, *(f"ant/{place}.png" for place in range(20)))
    survey = Survey(str(folder), DataOptions(normalize="statistics"))
    *_, (_, _, found) = survey.check()
    assert {each["kind"]: each["count"] for each in found}["unreadable"] == 20


def test_a_training_skips_damaged_images_and_reports_them(folder, tmp_path):
    damage(folder, "ant/1.png")
    config = TrainingConfig(str(folder), model="linear", epochs=1, out=str(tmp_path / "run"))
    events = []
    TrainingRun(config, listeners=[events.append]).run()
    started = next(event for event in events if event["event"] == "started")
    assert started["skipped"] == {"count": 1, "first": ["ant/1.png"]}
    assert started["train_samples"] + started["test_samples"] == 59
    assert events[-1]["event"] == "finished"


def test_a_run_resumes_bit_for_bit_without_the_cache(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(image_cache, "user_folder", lambda kind: tmp_path / "cache")
    damage(folder, "ant/1.png")
    config = TrainingConfig(
        str(folder),
        model="linear",
        epochs=2,
        batch_size=16,
        resize=6,
        fit="crop",
        validation_share=0.2,
        normalize="statistics",
        flip="both",
        checkpoint_every=1,
        out=str(tmp_path / "whole"),
    )
    whole = TrainingRun(config)
    whole.run()

    def stop(event):
        if event["event"] == "checkpoint" and event["step"] == 2:
            first.interrupt()

    parts = config.changed(out=str(tmp_path / "parts"))
    first = TrainingRun(parts, [stop])
    assert first.run().reason == "interrupted"
    shutil.rmtree(image_cache.cache_folder())
    second = TrainingRun(parts, resume=True)
    second.run()
    expected = whole.network.state_dict()
    assert all(
        np.array_equal(value.numpy(), expected[name].numpy())
        for name, value in second.network.state_dict().items()
    )


def test_extra_images_that_are_damaged_are_skipped_too(folder, tmp_path):
    more = writing.image_folder(tmp_path / "more", count=4)
    damage(more, "bee/2.png")
    data = load_data(str(folder), 0, DataOptions(extra_data=str(more)))
    assert data.skipped == ("bee/2.png",)
    assert len(data.train) + len(data.test) == 67


def test_reading_ahead_reports_progress(folder, monkeypatch):
    monkeypatch.setattr("engine.training.data._REPORTED", 0)
    reported = []
    read_images(TrainingConfig(str(folder)), reported.append)
    assert reported[-1] == "Reading images: 60 of 60"
    read_images(TrainingConfig("digits"), reported.append)
    assert len(reported) == 1


def test_a_training_is_cancelled_while_images_are_read(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("engine.training.data._REPORTED", 0)
    monkeypatch.setattr(image_cache, "_CHUNK", 8 * 8 * 8 * 3)  # eight images at a time
    seen = []

    def listen(event):
        seen.append(event["event"])
        if event["event"] == "preparing":
            run.cancel()

    config = TrainingConfig(str(folder), "mlp", resize=8, epochs=1, out=str(tmp_path / "run"))
    run = TrainingRun(config, [listen])
    assert run.run().outcome == "cancelled"
    assert "started" not in seen
    assert not (tmp_path / "run").exists()


def test_odd_names_and_modes_become_images_of_one_form(tmp_path):
    folder = tmp_path / "own"
    for name in ("grün", "空"):
        (folder / name).mkdir(parents=True)
    colours = {"RGB": (200, 40, 40), "RGBA": (200, 40, 40, 255), "CMYK": (55, 215, 215, 0), "L": 120}
    for mode, colour in colours.items():
        suffix = "jpg" if mode == "CMYK" else "png"
        Image.new(mode, (8, 8), colour).save(folder / "grün" / f"bild {mode} ü.{suffix}", quality=95)
    Image.new("RGB", (8, 8), (200, 40, 40)).convert("P").save(folder / "空" / "palette.png")
    Image.fromarray(np.full((8, 8), 120 * 257, np.uint16)).save(folder / "空" / "deep.png")
    Image.new("1", (8, 8), 1).save(folder / "空" / "bits.png")
    broken = b"odd \xff name.png"
    try:
        with open(bytes(folder / "空") + b"/" + broken, "wb") as file:
            file.write((folder / "空" / "bits.png").read_bytes())
    except (OSError, UnicodeError):
        pass  # a file system that has no such names
    data = load_data(str(folder))
    assert (data.shape, data.classes, data.skipped) == ((3, 8, 8), ("grün", "空"), ())
    means = {}
    for split in (data.train, data.test):
        for place, name in enumerate(names(split)):
            means[name.rpartition("/")[2]] = split[place][0].mean(axis=(1, 2)) * 255
    for name in ("bild RGB ü.png", "bild RGBA ü.png", "bild CMYK ü.jpg", "palette.png"):
        assert np.allclose(means[name], (200, 40, 40), atol=12), name
    for name in ("bild L ü.png", "deep.png"):
        assert np.allclose(means[name], 120, atol=1), name
    assert np.allclose(means["bits.png"], 255)


def test_the_survey_names_what_is_converted_and_single_images(tmp_path):
    folder = writing.image_folder(tmp_path, ("ant", "bee"), count=7)
    Image.new("RGBA", (8, 8)).save(folder / "ant" / "clear.png")
    Image.fromarray(np.full((8, 8), 9, np.uint16)).save(folder / "bee" / "deep.png")
    (folder / "cow").mkdir()
    Image.new("L", (8, 8)).save(folder / "cow" / "only.png")
    survey = Survey(str(folder), DataOptions())
    *_, (_, _, found) = survey.check()
    problems = {each["kind"]: each["places"] for each in found}
    assert sorted(problems["converted"]) == [
        "ant/clear.png (transparent)",
        "bee/deep.png (grey, 16 bit)",
        "cow/only.png (grey)",
    ]
    assert problems["single"] == ["cow"]
    assert survey.facts()["train_balance"][2] == 1
    *_, (_, _, found) = Survey(str(folder), DataOptions(exclude=("cow/*", "bee/*"))).check()
    assert {each["kind"]: each["places"] for each in found}["alone"] == ["ant"]


def test_excluded_images_are_in_no_split(folder):
    data = load_data(str(folder), 0, DataOptions(exclude=("ant/1.png", "bee/2*")))
    left = {*names(data.train), *names(data.test)}
    assert len(left) == 60 - 1 - 11
    assert "ant/1.png" not in left
    assert "ant/10.png" in left


def test_one_coloured_image_among_grey_ones_makes_all_coloured(tmp_path):
    for name in ("ant", "bee"):
        (tmp_path / name).mkdir()
        for place in range(4):
            Image.new("L", (8, 8)).save(tmp_path / name / f"{place}.png")
    assert load_data(str(tmp_path)).shape == (1, 8, 8)
    Image.new("RGB", (8, 8)).save(tmp_path / "bee" / "9.png")
    assert load_data(str(tmp_path)).shape == (3, 8, 8)
    assert load_data(str(tmp_path), 0, DataOptions(kind="stored")).shape == (1, 8, 8)


def test_a_very_large_image_is_read_where_it_is_resized(tmp_path, monkeypatch):
    monkeypatch.setattr(image_folder, "MOST_VALUES", 400_000)  # the real limit takes 150 MB to exceed
    path = tmp_path / "large.png"
    Image.new("P", (800, 520), 7).save(path)
    assert decode_image(path, False, 64).shape[0] < 200
