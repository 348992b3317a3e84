"""Scripts in the manner of those for Paddle 1.5 to 1.8 run unedited; each asserts what it has learned."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# The arguments of each script, and regular expressions that are found in its output, in this order.
SCRIPTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "actor_critic": (
        (),
        (r"Iteration: 60, Score: \d+, loss", r"sooner True \['linear1.bias', 'linear1.weight'\]"),
    ),
    "bert": (
        (),
        (
            r"step: 140, loss: 0\.\d+, ppl: 1\..*, next_sent_acc: (1\.0|0\.9)\d*, lr: 0\.000071",
            "pretrained True",
            r"resumed 46 185 ",
            r"average acc: (1\.0|0\.9)\d*, sequences 64",
        ),
    ),
    "bert_static": (
        (),
        (
            # By hand: step 19 of 140 after the warmup of 10.
            r"learning_rate:0\.008643",
            r"step: 140, loss: 0\.\d+, ppl: [12]\.\d+, next_sent_acc: (1\.0|0\.9)",
            "pretrained True",
            r"validation_set\] loss: 0\.\d+, next_sent_acc: (1\.0|0\.9)",
            "Load 232 of 232 from checkpoints/step_141",
            "resumed True True",
        ),
    ),
    "compiled_readers": (
        (),
        (
            # By hand: at the 24th step, whose number is 23, in the third epoch of 8.
            r"constant: lr 0\.1000 loss small",
            r"piecewise: lr 0\.0500",
            r"cosine: lr 0\.1500",
            r"polynomial: lr 0\.0179",
            r"exponential: lr 0\.0717",
            r"natural: lr 0\.0844",
            r"inverse: lr 0\.0821",
            r"warmup: lr 0\.0500",
            r"momentum +8 ",
            r"ParallelExecutor \(1,\) test True",
        ),
    ),
    "cycle_gan": (
        (),
        (
            r"epoch0; batch9; g_loss:\d+\.\d+; d_A_loss: 0\.\d{3}; d_B_loss:0\.\d{3} 28 4",
            r"saved 36 \['AdamOptimizer_0', 'AdamOptimizer_1', 'AdamOptimizer_2'\] \[0.001\]",
        ),
    ),
    "gan_static": ((), (r"Step:0 D Loss: \d\.\d{4} G Loss: \d\.\d{4}", "saved 4")),
    "image_classification": (
        (),
        (r"Pass 2, Batch 8, Cost 0\.\d{6}, Acc \d\.\d{6}, lr 0\.008100", r"infer results:  \d files True"),
    ),
    "lac": (
        (),
        (
            r"\[train\] step = 50, loss = 0\.\d+",
            r"\[test\] P: 0\.[89]\d+, R: 0\.9\d+, F1: 0\.9",
            r"again True True \['final\.pdparams', 'step_40\.pdparams'\] 21",
        ),
    ),
    "lac_static": (
        (),
        (
            r"\[train\] step = 70, loss = 0\.\d+",
            r"\[test\] .* F1: (1|0\.9)",
            "F1 True 101",
            "infer True True True",
        ),
    ),
    "machine_translation": (
        (),
        (
            r"pass_id=7 batch=19 avg_cost=\[0\.[0-3]\d*",
            "saved 18",
            "sentences 24 first",
            r"right (1\.00|0\.[6-9])",
        ),
    ),
    "mnist_dygraph": (
        ("--ce", "--epoch", "2"),
        (
            r"Loss at epoch 0 step 0: \[2\.\d+\]",
            r"kpis\ttest_acc\t(1|0\.9)",
            "No optimizer loaded",
            "inference True",
            r"None mnist/MNIST_0/FC_0\.b_0",
        ),
    ),
    "mobilenet": (
        ("--num_epochs", "3"),
        (
            r"\[Epoch 0, batch 0\] loss 1\.\d{5}, acc1 0\.\d{5}, lr 0\.02500",
            r"\[Epoch 1, batch 4\] .* lr 0\.01000",
            r"again True 52 _conv1\._batch_norm\._mean",
        ),
    ),
    "ocr_attention": (
        (),
        (
            r"epoch: 3, batch_id: 10, loss \[[1-4]\.\d+\]",
            r"right: 0\.00, then 0\.[2-9]",
            "saved 47 ocr_attention/OCRAttention_0/",
        ),
    ),
    "ocr_ctc": (
        (),
        (
            r"Iter\[120\]; Avg loss: 0\.\d+; Avg seq err: 0\.[0-2]",
            r"Iter\[120\]; Test distance: 0\.[01]\d+; Test seq error: 0\.[0-3]",
            r"dynamic_gru_grad +240 ",
            r"avg_distance: \[0\.[01]",
            r"result: (\[[\d, ]+\]), label: \1",
        ),
    ),
    "ocr_dygraph": (
        (),
        (
            r"attention epoch: 3, batch_id: 10, lr: \[0\.001\], loss \[[1-4]\.\d+\]",
            r"attention right: 0\.[2-9]\d True 47 embedding\.weight",
            r"crnn_ctc epoch: 3, batch_id: 10, .* loss \[0\.[01]\d+\]",
            r"crnn_ctc right: (1\.00|0\.9\d) True 39 encoder_net\.encoded_proj_fc\.weight",
        ),
    ),
    "ptb_lm": ((), (r"epoch 2; ppl: \d\.\d{3}", r"test loss shape \(1,\)", "save model finished")),
    "reinforce": (("--episodes", "50"), (r"Episode 40\tLast reward: .*grad \(1, 16\)", "mean length True")),
    "resnet_dygraph": (
        ("-b", "16"),
        (
            r"epoch 0 \| batch step 0, loss \d\.\d{3} acc1 0\.\d{3} lr 0\.05000",
            r"epoch 1 \| batch step 5, .* lr 0\.00500",
            r"number of parameters 38 resnet/ResNet_0/BasicBlock_0/",
        ),
    ),
    "saving": (
        (),
        (
            "21 persistable, 4 parameters",
            "persistables ok",
            "combined ok",
            "params ok",
            "vars ok",
            "fluid.load ok",
            "program state ok",
            r"\(4, 5\) \(4, 5\)",
        ),
    ),
    "se_resnext": (
        (),
        (
            r"epoch 0 \| batch step 0, loss 1\.\d{3} acc1 0\.\d{3} lr 0\.05000",
            r"test \| batch step 5, acc1 0\.\d{3}",
            r"epoch 1 .* lr 0\.02500",
            r"93 se_resnext/SeResNeXt_0/BottleneckBlock_0/ConvBNLayer_0/BatchNorm_0\.b_0",
        ),
    ),
    "sentiment": ((), (r"step: 20, ave loss: \d\.\d+, ave acc", "Final .* step: 63", "again True")),
    "seq2seq": (
        (),
        (r"Epoch:\[4\]; Batch:\[10\]; ppl: [12]\.", r"dev ppl \[1\.\d+\]", r"translated 0\.[3-9]\d* 32"),
    ),
    "seq2seq_rnn": (
        (),
        (
            r"Epoch:\[5\]; Batch:\[19\]; ppl: 1\.",
            r"dev ppl \[1\.\d+\]",
            r"beam_search 0\.[7-9]\d* \[3\]",
            r"greedy_search 0\.[7-9]\d* \[2, 1\]",
        ),
    ),
    "seq2seq_static": (
        (),
        (
            r"pass_id=7, batch_id=19, train_loss: 0\.[01]\d+",
            r"test_loss: 0\.[01]",
            r"translated [678] of 8, last .* lod \[\[0, 1\], ",
        ),
    ),
    "simnet": (
        (),
        (r"step: 40, average cost: 0\.0", r"AUC of test: 0\.[789]\d True", r"parameters 7 emb_layer\.weight"),
    ),
    "transformer": ((), (r"step_idx: 200, avg loss: 0\.\d+", r"right True \[80\.\]")),
    "word2vec": ((), (r"Step 120: Average Cost 0\.\d+", "next w7")),
}


def test_every_script_has_a_row() -> None:
    assert sorted(SCRIPTS) == sorted(path.stem for path in (HERE / "fluid").rglob("*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_runs_unedited(name: str, tmp_path: Path) -> None:
    arguments, patterns = SCRIPTS[name]
    [script] = (HERE / "fluid").rglob(f"{name}.py")
    command = [sys.executable, "-m", "studio", "run", str(script), *arguments]
    quiet = "ignore:The distutils package:DeprecationWarning"  # Python 3.11's own, of scripts that import it
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": quiet}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    at = 0
    for pattern in patterns:
        found = re.compile(pattern).search(done.stdout, at)
        assert found is not None, f"{pattern} does not follow in:\n{done.stdout}"
        at = found.end()
