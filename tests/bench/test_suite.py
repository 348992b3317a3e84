"""The suite measures its contenders in turns, compares them with one of them, and says which are skipped."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import isa, suite
from bench.contest import Contender
from bench.contest import contenders as real_contenders
from bench.peers.protocol import Worker


def fake(milliseconds: float, loss: str) -> Contender:
    return Contender(sys.executable, "tests.bench.fake_contender", (str(milliseconds), loss))


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Contender]:
    found = {
        "engine eager": fake(3.0, "0.25"),
        "engine static": fake(1.5, "0.5"),
        "engine plan": Contender("", "", missing="llvmlite is not installed"),
        "torch eager": fake(6.0, "0.25001"),
        "torch compile": fake(1.0, "fails"),
        "paddle eager": fake(1.0, "ends"),
        "onnxruntime": replace(fake(0.5, "0.75"), kinds=("predict",)),
    }
    monkeypatch.setattr(suite, "contenders", lambda peer, paddle, against="": found)
    monkeypatch.setattr(suite, "compile_sources", lambda checkouts: None)
    return found


def test_a_row_compares_contenders_and_says_who_is_left_out(
    fakes: dict[str, Contender], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    suite.main(["--rows", "mlp", "--threads", "1", "--rounds", "3", "--seconds", "0.1", "--json", str(file)])
    lines = capfd.readouterr().out.splitlines()
    assert "1 threads each" in lines[0]
    table = [line.split() for line in lines[lines.index("MLP 784-512-512-10, batch 128") + 1 :]]
    assert table[1][:-2] == [
        *("engine", "eager", "3", "3", "0.50", "0.50", "0.50", "500", "1.00", "0.25000", "7", "1.00")
    ]
    assert 0 < float(table[1][-2]) < 300  # seconds to the first step
    assert table[1][-1] == "s"
    assert table[2][:12] == [
        *("engine", "static", "1.5", "1.5", "0.25", "0.25", "0.25", "500", "1.00", "0.50000", "differs", "7")
    ]
    assert table[3][:6] == ["torch", "eager", "6", "6", "1.00", "1.00"]
    assert lines[-6:-2] == [
        "fake 1.0 with 1 threads",
        "engine plan is skipped: llvmlite is not installed",
        "torch compile is skipped: bench: fake_contender 1.0 fails: ValueError: could not convert string to "
        "float: 'fails'",
        "paddle eager is skipped: bench: fake_contender 1.0 ends ended with exit code 3; see above",
    ]
    assert lines[-1].startswith(lines[0].partition("; Python")[0])
    written = json.loads(file.read_text(encoding="utf-8"))
    one = written["rows"]["mlp"]["contenders"]["engine eager"]
    assert one["seconds"] == pytest.approx([0.003] * 3)
    assert (one["steps"], one["loss"], one["peak"]) == (33, 0.25, 7_000_000)
    assert (written["what"], written["threads"], written["rounds"]) == ("suite", 1, 3)


def test_without_the_reference_there_are_no_ratios(
    fakes: dict[str, Contender], capfd: pytest.CaptureFixture[str]
) -> None:
    chosen = ["--contenders", "engine static,onnxruntime", "--rows", "lstm,infer", "--rounds", "1"]
    chosen += ["--threads", "2"]
    suite.main([*chosen, "--seconds", "0.01"])
    lines = capfd.readouterr().out.splitlines()
    title = lines.index("LSTM 64 -> 128, 64 steps, batch 32")
    assert lines[title + 2].split()[:-2] == [
        *("engine", "static", "1.5", "1.5", "-", "-", "-", "500", "-", "0.50000", "7", "-")
    ]
    assert lines[title + 3] == "fake 1.0 with 2 threads"
    title = lines.index("LeNet, batch 1, from a saved file")
    assert lines[title + 2].split()[:6] == ["engine", "static", "1.5e+03", "1.5e+03", "3.00", "3.00"]
    assert lines[title + 3].split()[:5] == ["onnxruntime", "500", "500", "1.00", "1.00"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "lenet,vgg19"], "argument --rows: 'vgg19' is not one of lenet, mlp,"),
        (["--contenders", "theano"], "argument --contenders: 'theano' is not one of engine eager,"),
        (["--rounds", "0"], "argument --rounds: '0' is not an integer above 0"),
        (["--threads", "two"], "argument --threads: 'two' is not an integer above 0"),
        (["--seconds", "-1"], "argument --seconds: '-1' is not a number above 0"),
        (["--runs", "0"], "argument --runs: '0' is not an integer above 0"),
        (["--isa", "sse9"], "argument --isa: invalid choice: 'sse9'"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        suite.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_several_runs_give_their_median_and_their_worst(
    fakes: dict[str, Contender],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(isa, "own", lambda: "AVX2")
    file = tmp_path / "figures.json"
    chosen = ["--contenders", "engine static,torch eager", "--rows", "mlp", "--rounds", "2", "--runs", "3"]
    suite.main([*chosen, "--seconds", "0.02", "--threads", "1", "--isa", "avx2", "--json", str(file)])
    out = capfd.readouterr().out
    assert "MLP 784-512-512-10, batch 128, 3 of 3 runs\n" in out
    assert ", 3 complete runs; AVX2" in out
    written = json.loads(file.read_text(encoding="utf-8"))
    assert (written["runs"], written["isa"]) == (3, "AVX2")
    assert written["others"] is None or written["others"] >= 0
    one = written["rows"]["mlp"]["contenders"]["engine static"]
    assert (len(one["seconds"]), one["runs"]) == (6, 3)


def test_sources_are_compiled_before_first_steps_are_timed(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "one.py").write_text("x = 1\n")
    suite.compile_sources([tmp_path])
    assert list((tmp_path / "engine").glob("__pycache__/one.*.pyc"))


def test_the_name_that_a_contender_had_is_known(
    fakes: dict[str, Contender], capfd: pytest.CaptureFixture[str]
) -> None:
    suite.main(["--contenders", "engine fast", "--rows", "mlp", "--rounds", "1", "--threads", "1"])
    assert "engine plan is skipped: llvmlite is not installed" in capfd.readouterr().out


def test_a_missing_contender_is_reported_before_anything_starts() -> None:
    found = real_contenders(None, None)
    assert found["torch eager"].missing == "--peer has no torch"
    assert found["paddle static"].missing == "--paddle has no paddle"
    assert found["onnxruntime"].missing == "--peer lacks onnx or onnxruntime"
    assert not found["engine static"].missing
    kernels = {name: one.environment.get("MODEL_STUDIO_KERNELS") for name, one in found.items()}
    assert {name: kernels[f"engine {name}"] for name in ("eager", "layer", "plan", "static")} == {
        "eager": "auto",
        "layer": "auto",
        "plan": "auto",
        "static": "numpy",
    }


def test_the_engine_of_another_checkout_takes_part_and_its_ratio_is_printed(
    fakes: dict[str, Contender],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    asked = list[str]()

    def found(peer: str | None, paddle: str | None, against: str = "") -> dict[str, Contender]:
        asked.append(against)
        before = {f"{name} before": fake(3.0, "0.25") for name in ("engine eager", "engine static")}
        return fakes | (before if against else {})

    monkeypatch.setattr(suite, "contenders", found)
    chosen = [
        "--contenders",
        "engine eager,engine static",
        "--rows",
        "mlp",
        "--rounds",
        "1",
        "--threads",
        "1",
    ]
    suite.main([*chosen, "--seconds", "0.01", "--against", str(tmp_path)])
    assert asked[-1] == str(tmp_path)
    lines = capfd.readouterr().out.splitlines()
    assert lines[-4:-2] == [
        "engine eager: 1.000 of before, same loss",
        "engine static: 0.500 of before, ANOTHER LOSS",
    ]


def test_another_checkout_is_imported_by_the_workers_of_its_contenders(tmp_path: Path) -> None:
    found = real_contenders(None, None, str(tmp_path))
    for mode in ("eager", "layer", "static", "plan", "operator"):
        assert found[f"engine {mode} before"].environment["BENCH_CHECKOUT"] == str(tmp_path)
        assert not found[f"engine {mode}"].environment.get("BENCH_CHECKOUT")
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise ImportError('of another checkout')\n")
    one = found["engine operator before"]
    with pytest.raises(SystemExit, match="ended with exit code 1"):
        Worker(one.python, one.module, one.arguments, 1, environment=one.environment)
