"""Figures come into bench/README.md between their markers, and nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench import report
from bench.nets import ROWS, Job, Row
from bench.results import Result, as_json, conditions, merged, ratio, ratios

PAGE = (
    "# Title\n<!-- suite -->\nold\n<!-- end of suite -->\nbetween\n"
    "<!-- growth -->\n<!-- end of growth -->\nend\n"
)


def result(name: str, milliseconds: float, loss: float | None = 0.5, **more: Any) -> Result:
    seconds = [milliseconds / 1e3, 2 * milliseconds / 1e3]
    return Result(name, name.split()[0] + " 1.0", seconds, seconds, 8, loss, 50_000_000, **more)


def suite_figures(load: float = 0.1) -> dict[str, Any]:
    kernels = {"fast": {"adam": 4, "relu": 1}, "numpy": {"matmul_v2": 2}}
    rows = {
        "mlp": [
            result("engine static", 1.0, 0.7),
            result("engine plan", 0.5, kernels=kernels, first=0.75),
            result("torch eager", 2.0),
            Result("paddle eager", skipped="it has none"),
        ],
        "tiny": [result("engine operator", 0.001, None), result("torch operator", 0.002, None)],
    }
    references = {"mlp": "torch eager", "tiny": "torch operator"}
    found = {name: as_json(ROWS[name], references[name], results) for name, results in rows.items()}
    return {"what": "suite", **conditions(2, 2, 1.0), "load": load, "rows": found}


def growth_figures() -> dict[str, Any]:
    def at(batch: int, milliseconds: float) -> dict[str, Any]:
        row = Row(f"batch {batch}", "train", Job("mlp", batch, (128, 128, 10)))
        return as_json(row, "torch eager", [result("engine plan", milliseconds), result("torch eager", 4.0)])

    points = {"16": at(16, 1.0), "64": at(64, 2.0), "256": at(256, 4.0)}
    return {"what": "growth", **conditions(1, 2, 1.0), "axes": {"batch": points}}


def rewritten(tmp_path: Path, *figures: dict[str, Any]) -> list[str]:
    page = tmp_path / "README.md"
    page.write_text(PAGE, encoding="utf-8")
    files = []
    for number, each in enumerate(figures):
        files.append(str(tmp_path / f"{number}.json"))
        Path(files[-1]).write_text(json.dumps(each), encoding="utf-8")
    report.main(files, page)
    return page.read_text(encoding="utf-8").splitlines()


def test_the_suite_replaces_its_own_part_alone(tmp_path: Path) -> None:
    lines = rewritten(tmp_path, suite_figures())
    assert lines[:2] == ["# Title", "<!-- suite -->"]
    assert lines[-5:-2] == ["<!-- end of suite -->", "between", "<!-- growth -->"]
    assert lines[-2:] == ["<!-- end of growth -->", "end"]
    assert "old" not in lines
    assert "provisional" not in lines[2]
    mlp = "MLP 784-512-512-10, batch 128"
    assert f"| {mlp}, by torch eager | 0.50 | 0.25 | 1.00 | - |" in lines
    assert f"| {mlp} | 1 / 1.5 | 0.5 / 0.75 | 2 / 3 | - |" in lines
    spent = ("50 (1.00); -; 0.70000 **differs**", "50 (1.00); 0.75; 0.50000", "50 (1.00); -; 0.50000", "-")
    assert f"| {mlp} | {' | '.join(spent)} |" in lines
    assert f"- {mlp}: engine plan: 5 of 7 operators have compiled kernels; not 2 matmul_v2" in lines
    assert f"- paddle eager: it has none ({mlp})" in lines


def test_an_operator_stands_in_the_column_of_eager_calls(tmp_path: Path) -> None:
    figures = suite_figures()
    found = figures["rows"]["mlp"]["contenders"]
    found["engine eager"] = found["engine static"]
    lines = rewritten(tmp_path, figures)
    assert "| x + y of shape (3,), with autograd, by torch operator | - | - | 1.00 | - | 0.50 |" in lines


def test_figures_of_a_busy_machine_are_marked(tmp_path: Path) -> None:
    assert "provisional" in rewritten(tmp_path, suite_figures(load=1.8))[2]


def test_growth_has_its_exponents(tmp_path: Path) -> None:
    lines = rewritten(tmp_path, suite_figures(), growth_figures())
    assert "Growing batch, with width 128 and depth 4:" in lines
    assert "| engine plan | 1 (0.25) | 2 (0.50) | 4 (1.00) | 0.50 | 0.50 |" in lines
    assert "| torch eager | 4 | 4 | 4 | 0.00 | 0.00 |" in lines
    assert "No cliff." in lines


def test_a_cliff_is_marked_and_described(tmp_path: Path) -> None:
    figures = growth_figures()
    one = figures["axes"]["batch"]["64"]["contenders"]["engine plan"]
    one["seconds"] = [0.0064, 0.0064]  # 2 ms lie between 1 and 4
    lines = rewritten(tmp_path, figures)
    assert "| engine plan | 1 (0.25) | 6.4 (1.20) ! | 4 (1.00) | 0.50 | 0.50 |" in lines
    assert "- ! engine plan: batch 64 takes 3.20 times as long as its neighbours' line" in lines
    assert "No cliff." not in lines


def test_both_instruction_sets_stand_one_after_another(tmp_path: Path) -> None:
    narrow = suite_figures() | {"isa": "AVX2", "simulated": True, "runs": 3, "others": 0.01}
    wide = suite_figures() | {"isa": "AVX-512", "simulated": False}
    lines = rewritten(tmp_path, narrow, wide)
    first, second = lines.index("### Suite, AVX2, simulated"), lines.index("### Suite, AVX-512")
    assert first < second < lines.index("<!-- end of suite -->")
    assert "AVX2, simulated on a CPU with AVX-512" in lines[first + 2]
    assert lines[first + 2].endswith("The machine was quiet.")
    other = [{**narrow, "simulated": False, "machine": name} for name in ("one", "two")]
    assert "### Suite, AVX2, two" in rewritten(tmp_path, *other)


def test_several_runs_are_merged() -> None:
    def run(milliseconds: float, skipped: str = "", **more: Any) -> dict[str, Result]:
        one = result("engine plan", milliseconds, first=milliseconds, **more)
        one.skipped = skipped
        return {"engine plan": one, "torch eager": result("torch eager", 2.0)}

    found = merged([run(1.0), run(4.0), run(3.0)])
    one, torch = found["engine plan"], found["torch eager"]
    assert (one.runs, one.steps, one.first) == (3, 24, 3.0)
    assert ratios(one, torch) == pytest.approx([0.5, 2.0, 1.5])
    assert ratio(one, torch) == pytest.approx(1.5)
    gone = merged([run(1.0), run(4.0, "it ended"), run(3.0)])["engine plan"]
    assert (gone.skipped, gone.seconds) == ("it ended", [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "can't be read"),
        ("[1]", "holds no figures; give a file that --json wrote"),
        ('{"what": "weather"}', "holds no figures"),
        (None, "can't be read"),
    ],
)
def test_other_files_are_refused(text: str | None, message: str, tmp_path: Path) -> None:
    page, file = tmp_path / "README.md", tmp_path / "figures.json"
    page.write_text(PAGE, encoding="utf-8")
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=message):
        report.main([str(file)], page)
    assert page.read_text(encoding="utf-8") == PAGE


def test_a_page_without_markers_stays_as_it_is(tmp_path: Path) -> None:
    page, file = tmp_path / "README.md", tmp_path / "figures.json"
    page.write_text("# Title\n", encoding="utf-8")
    file.write_text(json.dumps(suite_figures()), encoding="utf-8")
    with pytest.raises(SystemExit, match="lacks <!-- suite --> or <!-- end of suite -->"):
        report.main([str(file)], page)
    assert page.read_text(encoding="utf-8") == "# Title\n"


def test_the_page_of_the_repository_has_the_markers() -> None:
    text = report.PAGE.read_text(encoding="utf-8")
    for what in report.PAGES:
        assert report.replaced(text, what, "new\n", report.PAGE).count("new\n") == 1
