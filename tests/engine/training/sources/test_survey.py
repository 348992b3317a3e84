"""What a survey of data finds: samples, balance, before and after, each kind of problem with its places."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from PIL import Image

from engine.training.sources.options import DataOptions
from engine.training.sources.survey import Survey
from tests.engine.training.sources import writing


def problems(survey):
    *_, (done, total, found) = survey.check()
    assert done == total
    return {each["kind"]: (each["count"], each["places"]) for each in found}


@pytest.fixture
def folder(tmp_path):
    writing.image_folder(tmp_path / "train", ("ant", "bee", "cow"), count=6)
    writing.image_folder(tmp_path / "test", ("ant", "bee", "cow"), count=2, side=8)
    shutil.rmtree(tmp_path / "test")
    for name in ("ant", "bee", "cow"):
        (tmp_path / "test" / name).mkdir(parents=True)
        Image.fromarray(writing.images(1, (8, 8, 3), 1, 9)[0][0]).save(tmp_path / "test" / name / "0.png")
    return tmp_path


def test_problems_of_an_image_folder(folder):
    (folder / "train" / "ant" / "note.png").write_text("no image")
    Image.new("RGB", (12, 9)).save(folder / "train" / "bee" / "odd.png")
    shutil.copy(folder / "train" / "cow" / "3.png", folder / "test" / "cow" / "again.png")
    for place in range(3):
        (folder / "train" / "cow" / f"{place}.png").unlink()
    assert problems(Survey(str(folder), DataOptions())) == {
        "unreadable": (1, ["ant/note.png"]),
        "size": (1, ["bee/odd.png (12 x 9)"]),
        "few": (1, ["cow"]),
        "shared": (1, ["cow/again.png"]),
    }
    assert "size" not in problems(Survey(str(folder), DataOptions(resize=8)))


def test_problems_of_a_table(tmp_path):
    lines = [f"{place}.5,{place % 7},{'xy'[place % 2]}" for place in range(60)]
    lines[7], lines[8] = "1,,x", "1,2,"
    (tmp_path / "t.csv").write_text("a,b,kind\n" + "\n".join(lines))
    found = problems(Survey(str(tmp_path / "t.csv"), DataOptions(kind="stored")))
    assert found == {"nan": (1, ["t.csv row 7"]), "unlabelled": (1, ["t.csv row 8"])}


def test_samples_and_balance(folder):
    survey = Survey(str(folder), DataOptions(rotate=90.0, resize=5, color="grey"))
    facts = survey.facts()
    assert (facts["train_balance"], facts["test_balance"]) == ([6, 6, 6], [1, 1, 1])
    assert (facts["raw"], facts["fed"], facts["own_split"]) == ([8, 8, 1], [1, 5, 5], True)
    (folder / "train" / "bee" / "2.png").write_text("broken meanwhile")
    bees = survey.samples("train", 1, 0, 40)
    assert (bees["of"], set(bees["labels"]), sum(bees["broken"])) == (6, {1}, 1)
    assert bees["places"][bees["broken"].index(True)] == "bee/2.png"
    assert all(value.dtype == np.uint8 for value in bees["values"])
    few = [survey.samples("train", -1, page, 4)["places"] for page in range(2)]
    assert len(few[0]) == 4
    assert few[0] != few[1]
    compared = survey.compared(0)
    assert len(compared["before"]) == len(compared["after"]) == len(compared["ranges"])
    assert compared["before"][0].shape == (8, 8)
    assert compared["after"][0].shape == (5, 5)


def test_sequences_are_shown_step_by_step_without_padding(tmp_path):
    x = np.arange(8 * 200 * 6, dtype=np.float32).reshape(8, 200, 6)
    lengths = np.array([200, 3, 200, 200, 200, 200, 200, 200])
    np.savez(tmp_path / "s.npz", x=x, y=np.arange(8) % 2, lengths=lengths)
    survey = Survey(str(tmp_path / "s.npz"), DataOptions())
    shapes = {
        value.shape for split in ("train", "test") for value in survey.samples(split, -1, 0, 9)["values"]
    }
    assert shapes == {(67, 4), (3, 4)}
    assert survey.facts()["columns"] == []
