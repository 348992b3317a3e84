"""Affinity and the quotas of control groups limit the cores."""

import os

import pytest

from engine.kernels.cpu import cores


@pytest.fixture
def groups(tmp_path):
    """Writes the files of control groups: (own text, {path: text}) -> the quota."""

    def quota(own, files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return cores._quota(tmp_path / "root", tmp_path / "own")

    return quota


def test_a_quota_of_a_group_above_counts(groups):
    files = {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "150000 100000\n", "cpu.max": "400000 100000\n"}
    assert groups("0::/a/b\n", files) == 1.5


def test_version_one(groups):
    files = {
        "cpu/docker/cpu.cfs_quota_us": "250000\n",
        "cpu/docker/cpu.cfs_period_us": "100000\n",
        "cpu/cpu.cfs_quota_us": "-1\n",
        "cpu/cpu.cfs_period_us": "100000\n",
    }
    assert groups("5:memory:/docker\n4:cpuacct,cpu:/docker\n", files) == 2.5


@pytest.mark.parametrize("own", ["", "0::/\n", "0::/../outside\n", "nonsense\n"])
def test_no_limit(groups, own):
    assert groups(own, {"cpu.max": "max 100000\n"}) is None


def test_pinning_counts(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(6)), raising=False)
    monkeypatch.setattr(cores, "_quota", lambda root, own: None)
    assert cores.cores() == 6
    monkeypatch.setattr(cores, "_quota", lambda root, own: 2.5)
    assert cores.cores() == 2
    monkeypatch.setattr(cores, "_quota", lambda root, own: 0.5)
    assert cores.cores() == 1
