"""The name and the colour of a run: unique, saying what differs, and unchanged by runs that begin later."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.run_folders import new_run_folder
from resources.settings.data import FIT
from studio.session.runs.run_colors import color_of, default_color
from studio.session.runs.run_names import LONGEST, ComingRun, RunNames, run_names
from studio.session.runs.run_notes import NAME, NOTHING, RunNotes, read_notes, write_notes
from studio.session.runs.runs_folder import Run, list_runs
from studio.session.session import Session
from studio.session.train.run_settings import RunSettings
from tests.studio.windows.runs.run_folders import make_run

BEGUN = [
    ({}, "LeNet"),
    ({"learning_rate": 0.01}, "LeNet, lr 0.01"),
    ({"learning_rate": 0.01, "batch_size": 128}, "LeNet, lr 0.01, batch 128"),
    ({"learning_rate": 0.01}, "LeNet, lr 0.01, 2nd"),
    ({"learning_rate": 0.01, "static": False}, "LeNet, lr 0.01, eager"),
    ({"model": "linear", "static": False}, "Linear"),
    ({"data": "mnist"}, "LeNet, MNIST"),
    ({"model": "linear"}, "Linear, static"),
    ({}, "LeNet, 2nd"),
    ({}, "LeNet, 3rd"),
    ({"optimizer": "momentum", "optimizer_params": {"momentum": 0.8}}, "LeNet, Momentum, momentum 0.8"),
    ({"model": "mine/net.py:Net"}, "Net"),
    ({"model": "other/wide.py:Net", "seed": 3}, "Net, wide.py, seed 3"),
    ({"corrections": "/data/corrections.json"}, "LeNet, corrected"),
    (
        {"data": "fashion-mnist", "optimizer": "adamw", "learning_rate": 0.25, "batch_size": 32, "seed": 2},
        "LeNet, FashionMNIST, AdamW, lr 0.25",
    ),
    (
        {"data": "fashion-mnist", "optimizer": "adamw", "learning_rate": 0.25, "batch_size": 32, "seed": 3},
        "LeNet, FashionMNIST, AdamW, lr 0.25, 2nd",
    ),
]


def run(place: int, name: str = "", sweep: str = "", choices: str = "", **settings: object) -> Run:
    """A run that began as the one of that place."""
    config = RunSettings(**{"model": "lenet", **settings}).as_dict()  # type: ignore[arg-type]
    folder = f"lenet-static-{place + 1:03d}"
    return Run(
        path=f"/runs/{folder}",
        name=folder,
        state="finished",
        config=config,
        started=float(place),
        step=1,
        total_steps=1,
        epoch=1,
        accuracy=0.5,
        checkpoint="",
        checkpoint_step=0,
        sweep=sweep,
        choices=choices,
        notes=RunNotes(name=name),
    )


def test_a_default_name_says_what_differs_and_no_later_run_changes_it() -> None:
    runs = [run(place, **settings) for place, (settings, _) in enumerate(BEGUN)]
    expected = {run.path: name for run, (_, name) in zip(runs, BEGUN, strict=True)}
    names = RunNames()
    for count in range(1, len(runs) + 1):
        coming = names.coming([ComingRun(runs[count - 1].config)])
        names = RunNames(runs[count - 1 :: -1], names)  # the newest first, as the list has them
        found = names.names
        assert found == {each.path: expected[each.path] for each in runs[:count]}
        assert coming == [expected[runs[count - 1].path]], "the name before it began"
    assert len(set(expected.values())) == len(runs)
    assert max(map(len, expected.values())) <= LONGEST + len(", 2nd")


def test_a_given_name_is_kept_and_no_two_runs_have_one() -> None:
    given = [run(0), run(1, "Mine"), run(2, "Mine"), run(3, "LeNet"), run(4, learning_rate=0.1)]
    assert list(run_names(given).values()) == ["LeNet", "Mine", "Mine, 2nd", "LeNet, 2nd", "LeNet, lr 0.1"]


def test_a_trial_is_named_by_what_it_chose() -> None:
    trials = [
        run(place, sweep=sweep, choices=choices)
        for place, (sweep, choices) in enumerate(
            [
                ("sweep-001", "lr=0.1, batch-size=32"),
                ("sweep-001", "lr=0.1, optimizer-param.beta1=0.8"),
                ("sweep-002", "lr=0.1, batch-size=32"),
                ("sweep-002", "lr=0.1, batch-size=32"),
                ("sweep-002", ""),
            ]
        )
    ]
    assert list(run_names(trials).values()) == [
        "lr 0.1, batch 32",
        "lr 0.1, beta1 0.8",
        "sweep-002, lr 0.1, batch 32",
        "sweep-002, lr 0.1, batch 32, 2nd",
        "lenet-static-005",
    ]


def test_a_long_name_is_left_to_the_widgets_to_elide() -> None:
    begun = [
        ({"model": "mine/net.py:NetworkOfManyLongBranchesAndParts"}, ""),
        ({"model": "mine/net.py:NetworkOfManyLongBranchesAndParts", "seed": 3}, ""),
        ({}, "optimizer=adamw, lr=0.1, batch-size=32, dropout=0.25"),
        ({}, "optimizer=adamw, lr=0.1, batch-size=32, dropout=0.5"),
    ]
    runs = [
        run(place, sweep="sweep-001" if choices else "", choices=choices, **settings)
        for place, (settings, choices) in enumerate(begun)
    ]
    assert list(run_names(runs).values()) == [
        "NetworkOfManyLongBranchesAndParts",
        "NetworkOfManyLongBranchesAndParts, seed 3",
        "optimizer adamw, lr 0.1, batch 32",
        "sweep-001, optimizer adamw, lr 0.1, batch 32",
    ]


def test_a_fit_of_a_script_and_a_run_without_settings_have_names() -> None:
    config = {"kind": FIT, "model": "Net", "script": "/scripts/train.py", "learning_rate": 0.1}
    assert RunNames().coming(map(ComingRun, [config, {**config, "learning_rate": 0.2}, {}])) == [
        "Net, train.py",
        "Net, train.py, lr 0.2",
        "?",
    ]


def test_differences_between_runs_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [run(place, seed=place) for place in range(20)]
    first = RunNames(runs)
    monkeypatch.setattr("studio.session.runs.run_names.settings_of", None)
    assert RunNames(runs, first).names == first.names


@pytest.mark.parametrize(
    ("folder", "place"),
    [
        ("/runs/lenet-static-001", 0),
        ("/runs/lenet-eager-012/", 11),
        ("C:\\runs\\sweep-001\\trial-0003", 2),
        ("/runs/mine-000", 0),
        ("/runs/mine", 1772671891),
    ],
)
def test_the_default_colour_comes_from_the_name_of_the_folder(folder: str, place: int) -> None:
    assert default_color(folder) == place


def test_runs_that_follow_each_other_have_different_colours(tmp_path: Path) -> None:
    places = []
    for model, static in (("lenet", True), ("lenet", False), ("linear", True), ("mine.py:Net", True)):
        folder = new_run_folder(tmp_path, model, static)
        folder.mkdir()
        places.append(default_color(str(folder)))
    assert places == [0, 1, 2, 3]


def test_a_chosen_colour_stays_with_the_run_and_can_be_undone(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs" / "lenet-static-002")
    make_run(tmp_path / "runs" / "lenet-static-001")
    session = Session(lambda notify: pytest.fail("no worker is needed"), tmp_path / "runs")
    session.refresh_runs()
    assert session.run_colors[str(folder)] == 1
    for color in (5, "#12AB9f", None):
        assert session.run_changes.color([str(folder)], color) == ""
        assert session.run_colors[str(folder)] == (1 if color is None else color)
        assert read_notes(folder)[0].color == color
    session.undo_stack.undo()
    assert session.run_colors[str(folder)] == "#12AB9f"
    session.undo_stack.redo()
    assert color_of(list_runs(tmp_path / "runs")[0]) in (0, 1)
    assert session.run_changes.describe(str(folder), "named", (), "", 7) == ""
    assert session.run_changes.rename(str(folder), "again") == ""
    assert (session.run_titles[str(folder)], session.run_colors[str(folder)]) == ("again", 7)
    session.close(0.0)


def test_only_notes_with_a_colour_have_the_version_that_an_earlier_program_refuses(tmp_path: Path) -> None:
    write_notes(tmp_path, NOTHING.model_copy(update={"name": "plain"}))
    assert '"version": 1' in (tmp_path / NAME).read_text()
    assert "color" not in (tmp_path / NAME).read_text()
    write_notes(tmp_path, RunNotes(name="plain", color="#123456"))
    assert '"version": 2' in (tmp_path / NAME).read_text()
    assert read_notes(tmp_path) == (RunNotes(name="plain", color="#123456"), "")


@pytest.mark.parametrize(
    "color", ['"red"', '"#12345"', '"#1234567"', "-1", "256", "true", "1.5", '"#12345g"']
)
def test_a_colour_that_is_none_is_reported(tmp_path: Path, color: str) -> None:
    (tmp_path / NAME).write_text(f'{{"version": 2, "color": {color}}}')
    notes, trouble = read_notes(tmp_path)
    assert notes == NOTHING
    assert "color" in trouble
