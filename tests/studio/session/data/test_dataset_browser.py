"""The page Data's child process: opens data, answers, looks for problems, and is replaced when it dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from engine.training.sources.options import DataOptions
from engine.training.sources.survey import Survey
from resources.families import FAMILIES
from studio.session.data.data_view import DataFacts
from studio.session.session import Session
from studio.session.work.worker import ProcessWorker, ThreadWorker
from tests.engine.training.sources import writing


@pytest.fixture
def session(tmp_path):
    made = Session(ThreadWorker, runs_folder=tmp_path / "runs")
    yield made
    made.close()


def settings(session, **changes):
    found = session.train.settings
    for name, value in changes.items():
        found = found.changed(name, value)
    return found


def test_data_is_opened_shown_and_checked(session, tmp_path):
    folder = writing.image_folder(tmp_path / "own", count=8)
    session.dataset_browser.look(settings(session, data=str(folder)))
    assert session.data.state == "opening"
    assert session.wait_until(lambda: session.data.state == "ready" and not session.data.checking, 30)
    view = session.data
    assert view.facts.classes == ("ant", "bee")
    assert view.samples is not None
    assert len(view.samples.values) == view.facts.train
    assert view.compared is not None
    assert (view.done, view.total, view.problems) == (16, 16, ())
    session.dataset_browser.show_page("test", 1, 3)
    assert session.wait_until(lambda: session.data.samples.split == "test", 30)
    assert set(session.data.samples.labels) == {1}


def test_the_same_data_is_not_opened_twice_and_a_wrong_path_is_reported(session, tmp_path):
    chosen = settings(session, data=str(tmp_path / "nothing.csv"))
    session.dataset_browser.look(chosen)
    assert session.wait_until(lambda: session.data.state == "failed", 30)
    assert session.data.last_problem.what.startswith("no such data")
    session.dataset_browser.look(chosen)
    assert session.data.state == "failed"
    session.dataset_browser.look(chosen, again=True)
    assert session.data.state == "opening"
    writing.npz(Path(tmp_path / "a.npz"), x=writing.images(20, (4,))[0], y=writing.images(20, (4,))[1])
    session.dataset_browser.look(settings(session, data=str(tmp_path / "a.npz"), epochs=9))
    assert session.wait_until(lambda: session.data.state == "ready", 30)
    assert session.data.facts.kind == "npz"


def test_a_child_that_dies_is_said_and_replaced(tmp_path):
    session = Session(ProcessWorker, runs_folder=tmp_path / "runs")
    try:
        session.dataset_browser.look(settings(session, data="digits", resize=9))
        task = session.dataset_browser._task
        assert session.wait_until(lambda: session.data.state == "ready", 60)
        os.kill(task.pid, signal.SIGKILL)
        assert session.wait_until(lambda: session.data.state == "failed", 60)
        assert "killed from outside" in session.data.last_problem.what
        session.dataset_browser.look(settings(session, data="digits", resize=10))
        assert session.dataset_browser._task is not task
        assert session.data.state == "opening"
    finally:
        session.close()


def test_data_is_shown_as_the_suggestion_prepares_it(session, tmp_path):
    folder = writing.image_folder(tmp_path / "own", count=8, side=200)
    asked = settings(session, data=str(folder))
    session.dataset_browser.look(asked)
    assert session.wait_until(lambda: session.data.state == "ready", 30)
    session.dataset_browser.expect(asked)
    assert session.wait_until(lambda: session.data.expected is not None, 30)
    assert {each.setting: each.value for each in session.data.expected}["resize"] == 64
    assert session.data.facts.fed == (3, 64, 64)
    session.dataset_browser.look(settings(session, data=str(folder), model="mlp"))
    assert session.wait_until(lambda: session.data.facts.fed == (3, 200, 200), 30)


def test_several_inputs_are_named_and_fit_no_built_in_network(tmp_path):
    np.savez(
        tmp_path / "a.npz", image=np.zeros((9, 8, 8), np.uint8), row=np.zeros((9, 5)), y=np.arange(9) % 3
    )
    facts = Survey(str(tmp_path / "a.npz"), DataOptions(input_name="image,row")).facts()
    shown = DataFacts(spec=facts["spec"])
    assert shown.inputs == ("image 1 \u00d7 8 \u00d7 8 float32", "row 5 float32")
    problems = {family.problem(shown.model_spec) for family in FAMILIES.values()}
    assert problems == {"takes one input: yours have 2"}
