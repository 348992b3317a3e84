"""Whether others computed while a bench ran follows from the time of all cores and from one's own."""

from pathlib import Path

import pytest

from bench import quiet


@pytest.mark.parametrize(
    ("report", "busy"),
    [
        ({"load": 0.1}, False),
        ({"load": 0.1, "others": 0.01}, False),
        ({"load": 0.1, "others": 0.2}, True),
        ({"load": 1.8, "others": 0.01}, False),
        ({"load": 1.8}, True),
        ({"load": None, "others": None}, False),
    ],
)
def test_a_machine_is_busy_by_its_load_or_by_others(report: dict[str, object], busy: bool) -> None:
    assert quiet.is_busy(report) is busy


def test_others_have_what_is_not_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ticks = quiet.os.sysconf("SC_CLK_TCK")
    stat, clock, own = tmp_path / "stat", [100.0], [5.0]
    monkeypatch.setattr(quiet, "_STAT", stat)
    monkeypatch.setattr(quiet.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(quiet.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(quiet, "_own_time", lambda: own[0])
    # user, nice, system, idle, waiting, irq, softirq, stolen
    stat.write_text("cpu  0 0 0 7 9 0 0 0 0 0\ncpu0 1 1 1\n")
    others = quiet.Others()
    clock[0], own[0] = 110.0, 9.0  # twenty seconds of two cores, four of them ours
    stat.write_text(f"cpu  {3 * ticks} {ticks} {ticks} 7 9 0 0 {ticks} 0 0\n")
    assert others.share() == pytest.approx(2.0 / 20.0)
    said = {"load": 0.2, "others": others.share()}
    assert quiet.described(said) == "load before 0.2, others used 10.0% of the cores meanwhile"


def test_where_the_system_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(quiet, "_STAT", tmp_path / "absent")
    assert quiet.Others().share() is None
    assert quiet.described({"load": None}) == "load before unknown"
