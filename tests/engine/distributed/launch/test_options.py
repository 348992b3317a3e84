"""The words of a launch: both generations of Paddle's options, the configuration as the document shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.errors import ArgumentError
from engine.distributed.launch.command import help_text
from engine.distributed.launch.options import configuration, parse, unused
from engine.distributed.launch.plan import plan
from resources.launch_options import OPTIONS


@pytest.fixture(autouse=True)
def _no_job(monkeypatch):
    for option in OPTIONS:
        if option.variable:
            monkeypatch.delenv(option.variable, raising=False)
    monkeypatch.delenv("PADDLE_LOCAL_RANK", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("MODEL_STUDIO_DEVICE", "cpu")


@pytest.mark.parametrize("logs", [True, False])
def test_the_configuration_is_the_one_of_the_document(seeds_dir: Path, logs: bool) -> None:
    [document] = seeds_dir.glob("004_*.txt")
    lines = [line.strip() for line in document.read_text(encoding="utf-8").splitlines()]
    starts = [at for at, line in enumerate(lines) if "Configuration Arguments" in line]
    shown = "\n".join(lines[starts[0 if logs else 1] :][:12])
    words = ["--selected_gpus=0,1,2,3", *(["--log_dir", "./mylog"] if logs else [])]
    options = parse([*words, "train.py", "--use_data_parallel", "1"])
    assert f"{configuration(options)}\n{plan(options).summary(options)}" == shown


def test_options_of_the_later_launcher_are_shown_where_given() -> None:
    options = parse(["--nproc_per_node=2", "--gpus", "0,1", "--max_restart", "3", "train.py", "--gpus", "7"])
    shown = configuration(options).splitlines()
    for line in ("nproc_per_node: 2", "selected_gpus: 0,1", "max_restart: 3", "log_dir: None"):
        assert line in shown
    assert "training_script_args: ['--gpus', '7']" in shown
    assert not [line for line in shown if line.startswith(("hosts", "master", "force"))]


def test_every_option_of_2_6_is_accepted() -> None:
    texts = (
        "--master 10.0.0.1:8090",
        "--rank 0",
        "--log_level INFO",
        "--log_overwrite True",
        "--nnodes 1",
        "--nproc_per_node 2",
        "--log_dir logs",
        "--run_mode collective",
        "--job_id mine",
        "--devices 0,1",
        "--host 127.0.0.1",
        "--ips 127.0.0.1",
        "--start_port 7000",
        "--max_restart 3",
        "--elastic_level -1",
        "--elastic_timeout 30",
        "--legacy False",
        "--sort_ip False",
        "--enable_gpu_log True",
        "--gloo_port 1",
        "--with_gloo 1",
        "--servers a:1",
        "--trainers a:2",
        "--trainer_num 1",
        "--server_num 1",
        "--xpus 0",
        "--npus 0",
        "--auto_parallel_config a.json",
        "--auto_tuner_json b.json",
    )
    options = parse([word for text in texts for word in text.split()] + ["train.py"])
    reported = unused(options)
    assert len(reported) == 17
    assert all(line.startswith("launch: --") and " has no effect: " in line for line in reported)
    assert options.started_port == 7000
    assert plan(options).variables["PADDLE_MASTER"] == "10.0.0.1:8090"
    assert plan(options).variables["PADDLE_JOB_ID"] == "mine"


def test_switches_may_stand_without_a_value() -> None:
    assert parse(["--use_paddlecloud", "train.py"]).script == "train.py"
    assert parse(["--print_config", "False", "--force", "a.py"]).values.items() >= {
        ("print_config", False),
        ("force", True),
    }
    assert parse(["-m", "package.train", "-m"]).module


def test_the_environment_gives_what_is_not_given(monkeypatch) -> None:
    monkeypatch.setenv("PADDLE_NPROC_PER_NODE", "3")
    monkeypatch.setenv("PADDLE_LOG_DIR", "logs")
    assert (parse(["a.py"]).nproc_per_node, parse(["a.py"]).log_dir) == (3, "logs")
    assert parse(["--nproc_per_node", "1", "a.py"]).nproc_per_node == 1
    monkeypatch.setenv("PADDLE_LOCAL_RANK", "0")  # within a process of another job
    assert (parse(["a.py"]).nproc_per_node, parse(["a.py"]).log_dir) == (None, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "the script is missing"),
        (["--nproc_per_node", "2"], "the script is missing"),
        (["--nproc_per_node"], "--nproc_per_node needs a value"),
        (["--nproc_per_node", "0", "a.py"], "--nproc_per_node must be an integer >= 1: got '0'"),
        (["--max_restart=-1", "a.py"], "--max_restart must be an integer >= 0: got '-1'"),
        (["--nprocs", "2", "a.py"], "there is no option --nprocs"),
        (["--device", "gpu", "a.py"], "--device: 'gpu' is not known; use cpu; or name GPUs with --devices"),
        (["--mode", "eager", "a.py"], "--mode: 'eager' is not known; use static or dynamic"),
        (["--run_mode", "ps", "a.py"], "--run_mode: 'ps' is not known; use collective"),
        (["--force=maybe", "a.py"], "--force must be True or False: got 'maybe'"),
    ],
)
def test_wrong_words(words: list[str], said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse(words)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_help_names_every_option() -> None:
    text = help_text()
    assert all(name in text for option in OPTIONS for name in option.names)
