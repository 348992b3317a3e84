"""sweep.json of this installation and of others: what is read, what is refused, whose models run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import DataError
from studio.session.project.project_file import ProjectError, file_digest
from studio.session.sweep.document import Halving, Sweep, read_sweep, write_sweep
from studio.session.sweep.making import new_sweep
from studio.session.sweep.models import not_agreed_model, require_same
from studio.session.train.run_settings import RunSettings
from tests.studio.session.sweep.inside import settings

Change = Callable[[dict[str, Any]], Any]


def test_a_sweep_file_round_trips(bars: Path, tmp_path: Path) -> None:
    words = ["lr=log:1e-4..0.1", "static=true,false", "schedule-param.milestones=2,4;3,6", "batch=16..64"]
    chosen = settings(bars, schedule="multi_step_decay", schedule_params={"milestones": [1]})
    sweep = new_sweep(chosen, words, trials=7, halving=Halving(eta=2, min_epochs=1), metric="loss")
    write_sweep(tmp_path, sweep)
    assert read_sweep(tmp_path) == sweep
    assert sweep.goal == "min"


CHANGES: list[tuple[Change, str]] = [
    (lambda plain: plain.update(version=3), "written by a later Model Studio: version 3"),
    (lambda plain: plain.update(search={"kind": "bayes", "trials": 1, "round": 1}), "more trials than its"),
    (lambda plain: plain.update(search={"kind": "x", "trials": 9, "round": 1}), "search.kind: "),
    (lambda plain: plain.update(search={"kind": "bayes", "trials": 9, "round": 0}), "search.round: "),
    (
        lambda plain: plain.update(
            search={"kind": "bayes", "trials": 9, "round": 1}, halving={"eta": 2, "min_epochs": 1}
        ),
        "a search has no halving",
    ),
    (
        lambda plain: [
            plain.update(search={"kind": "bayes", "trials": 9, "round": 1}),
            plain["parameters"][0].update(values=[], low=0.5, high=0.1),
        ],
        "lr: no range",
    ),
    (
        lambda plain: [
            plain["parameters"][0].update(name="out"),
            *(trial.update(choices={"out": "/etc"}, state="invalid") for trial in plain["trials"]),
        ],
        "trial 1: out: no such setting: 'out'",
    ),
    (lambda plain: plain.update(command="rm -rf /"), "command: extra inputs are not permitted"),
    (lambda plain: plain["settings"].update(batch_size=0), "trial 1: batch-size: must be from 1"),
    (lambda plain: plain["settings"].update(epochs="many"), "settings.epochs: "),
    (lambda plain: plain["trials"][0].update(number=7), "trial 1: not what its parameters say"),
    (lambda plain: plain["trials"][0].update(folder="/etc"), "trials.0.folder: extra inputs"),
    (lambda plain: plain["trials"][0].update(choices={"out": "/etc"}), "not what its parameters say"),
    (
        lambda plain: plain["trials"][1]["choices"].update(learning_rate=-1.0),
        "trial 2: lr: must be a positive",
    ),
    (
        lambda plain: [
            plain["parameters"][0].update(name="out"),
            *(trial.update(choices={"out": "/etc"}) for trial in plain["trials"]),
        ],
        "trial 1: out: no such setting: 'out'",
    ),
    (
        lambda plain: [
            plain["parameters"][0].update(name="x.y"),
            *(trial.update(choices={"x.y": 1}) for trial in plain["trials"]),
        ],
        "trial 1: x.y: no such setting",
    ),
    (lambda plain: plain["trials"][0].update(state="done!"), "trials.0.state"),
    (lambda plain: plain.update(trials=[]), "trials: "),
    (lambda plain: plain.update(halving={"eta": 1, "min_epochs": 1}), "halving.eta: "),
]


@pytest.mark.parametrize(("change", "said"), CHANGES, ids=[said for _, said in CHANGES])
def test_invalid_sweep_files_are_refused_in_one_line(
    bars: Path, tmp_path: Path, change: Change, said: str
) -> None:
    write_sweep(tmp_path, new_sweep(settings(bars), ["lr=0.1,0.2"]))
    plain = json.loads((tmp_path / "sweep.json").read_text())
    change(plain)
    (tmp_path / "sweep.json").write_text(json.dumps(plain))
    with pytest.raises(ProjectError) as caught:
        read_sweep(tmp_path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'sweep.json'}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"[1, 2]", b"{", b"\xff\xfe", b"[" * 100_000])
def test_damaged_files_are_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ProjectError, match="can't be read"):
        read_sweep(tmp_path)
    (tmp_path / "sweep.json").write_bytes(data)
    with pytest.raises(ProjectError, match="give the folder of a sweep"):
        read_sweep(tmp_path)


def test_a_model_runs_where_it_was_written_down_here_or_agreed_to(
    bars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "net.py"
    file.write_text("class Net: ...\n")
    monkeypatch.chdir(tmp_path)
    sweep = new_sweep(settings(bars, model="net.py:Net"), ["lr=0.1"])
    assert sweep.settings.model == f"{file}:Net"
    assert sweep.models == {str(file): file_digest(file)}
    assert not_agreed_model(sweep.models, sweep.mark, []) == ""
    # Another user has another key, or none: none of their files count as own.
    assert not_agreed_model(sweep.models, "0" * 64, []) == str(file)
    assert not_agreed_model(sweep.models, "", []) == str(file)
    assert not_agreed_model(sweep.models, "", [file_digest(file)]) == ""
    other = {str(tmp_path / "evil.py"): file_digest(file)}
    assert not_agreed_model(other, sweep.mark, []) == str(tmp_path / "evil.py")

    (tmp_path / "helper.py").write_text("")
    file.write_text("import helper\nclass Net: ...\n")
    sweep = new_sweep(settings(bars, model="net.py:Net"), ["lr=0.1"])
    (tmp_path / "helper.py").write_text("X = 2\n")
    said = rf"began: {re.escape(str(tmp_path / 'helper.py'))}; begin a new sweep"
    with pytest.raises(DataError, match=said):
        require_same(sweep, str(file))
    (tmp_path / "helper.py").unlink()
    with pytest.raises(DataError, match=said):
        require_same(sweep, str(file))
    (tmp_path / "helper.py").write_text("")
    require_same(sweep, str(file))
    assert Sweep.model_validate_json(sweep.model_dump_json()).files == sweep.files
    require_same(sweep, "")
    with pytest.raises(DataError, match="changed since the sweep began"):
        require_same(sweep.model_copy(update={"models": {}}), str(file))
    file.write_text("class Net: pass\n")
    with pytest.raises(DataError, match="changed since the sweep began"):
        require_same(sweep, str(file))


def test_a_suggestion_leaves_the_values_of_a_trial(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_text("a,y\n1,2\n")
    sweep = new_sweep(RunSettings(data=str(data)).as_dict(), ["epochs=5,7"])
    assert [sweep.settings_of(each)["given"] for each in sweep.trials] == [("epochs",)] * 2
