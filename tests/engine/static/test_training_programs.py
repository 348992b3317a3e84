"""Programs that go back through branches and loops, copied and read from files: they train alike."""

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import FormatError
from engine.nn import functional as F
from engine.program.graph.check import problems
from engine.program.saved.serialize import from_plain, to_plain

X = np.random.RandomState(0).uniform(-1, 1, (4, 6)).astype("float32")


def drop(x):
    return F.dropout(x * 2.0, 0.5)


def loop(count, body, x):
    static = paddle.static
    start = paddle.zeros([1], "int64")
    return static.nn.while_loop(lambda i, t: i < count, lambda i, t: [i + 1, body(t)], [start, x])[1]


def branch(x, body):
    return paddle.static.nn.cond(x.sum() > -100, lambda: body(x), lambda: x - 1)


NETS = {
    "dropout": drop,
    "branch": lambda x: branch(x, drop),
    "loop": lambda x: loop(3, drop, x),
    "loop in a branch": lambda x: branch(x, lambda t: loop(2, drop, t)),
    "branch in a loop": lambda x: loop(2, lambda t: branch(t, drop), x),
    "loop in a loop": lambda x: loop(2, lambda t: loop(2, drop, t), x),
    "loop in a loop in a branch": lambda x: branch(x, lambda t: loop(2, lambda u: loop(2, drop, u), t)),
    "loop in a branch in a loop": lambda x: loop(2, lambda t: branch(t, lambda u: loop(2, drop, u)), x),
    "branch in a branch": lambda x: branch(x, lambda t: branch(t, drop)),
    "statistics in a branch": lambda x: branch(x, lambda t: paddle.static.nn.batch_norm(drop(t))),
}


def built(static, net):
    """The loss of a network with a layer before and after ``net``, in training with Adam."""
    x = static.data("x", [None, 6])
    loss = paddle.square(static.nn.fc(net(static.nn.fc(x, 6)), 2)).mean()
    paddle.optimizer.Adam(0.05).minimize(loss)
    return loss


def trained(static, program, loss, state):
    """Losses of three steps from the same state with the same random numbers."""
    program.set_state_dict(state)
    paddle.seed(5)
    return [static.Executor().run(program, {"x": X}, [loss.name])[0].item() for _ in range(3)]


@pytest.mark.parametrize("name", NETS)
def test_copies_train_alike(static, tmp_path, name):
    loss = built(static, NETS[name])
    program = static.default_main_program()
    static.Executor().run(static.default_startup_program())
    state = {k: v.numpy() for k, v in program.state_dict().items()}
    expected = trained(static, program, loss, state)
    assert len(set(expected)) == 3
    assert trained(static, program.clone(), loss, state) == expected
    paddle.save(program, str(tmp_path / "program"))
    again = paddle.load(str(tmp_path / "program"))
    assert problems(again) == []
    assert str(again) == str(program)
    assert trained(static, again, loss, state) == expected
    paddle.save(again, str(tmp_path / "again"))
    assert trained(static, paddle.load(str(tmp_path / "again")), loss, state) == expected


def operators(plain, **having):
    """Operators of all blocks that have these entries."""
    everything = [o for block in plain["blocks"] for o in block["ops"]]
    return [o for o in everything if all(o.get(k) == v for k, v in having.items())]


def walked(plain):
    (found,) = operators(plain, type="while_grad")
    return found


def loop_of(plain):
    (found,) = operators(plain, type="while")
    return found


def taken(plain, place, by):
    """Another Variable for one that the loop's gradient takes."""
    walked(plain)["regions"][0]["arguments"][place] = by


SPOILED = {
    "no key": (lambda p: operators(p, type="dropout", replay=True)[0].update(taken=None), "nothing draws"),
    "key of no operator": (
        lambda p: operators(p, type="dropout", replay=False)[0].update(kept=None),
        "other random keys",
    ),
    "key of another block": (
        lambda p: operators(p, type="dropout", replay=True)[0].update(taken=[0, "x"]),
        "nothing draws its",
    ),
    "key without a block": (
        lambda p: operators(p, type="dropout", replay=True)[0].update(taken=[-1, "x"]),
        "no block -1",
    ),
    "key where nothing is drawn": (
        lambda p: operators(p, type="mul")[0].update(kept=operators(p, type="dropout")[0]["kept"]),
        "draws nothing",
    ),
    "steps": (lambda p: walked(p)["inputs"].update(StepScopes=["x"]), "no loop before it"),
    "steps of both": (
        lambda p: (walked(p)["inputs"].update(StepScopes=["x"]), loop_of(p).update(kept=[0, "x"])),
        "can't keep the iterations of the loop",
    ),
    "another value": (lambda p: taken(p, 0, [0, "x"]), "other values than those of its loop"),
    "another key": (lambda p: taken(p, 2, [0, "x"]), "other random keys"),
    "another placeholder": (lambda p: taken(p, -1, [0, "x"]), "not its own"),
    "fewer values": (lambda p: walked(p)["attrs"].update(values=0), "other values"),
    "no number of values": (lambda p: walked(p)["attrs"].update(values="1"), "other values"),
    "another body": (lambda p: walked(p)["regions"][0].update(block=1), "not a separate block"),
    "fewer results": (
        lambda p: walked(p)["regions"][0].update(results=[]),
        "gradients that an iteration gives",
    ),
    "absent": (lambda p: walked(p)["regions"][0]["results"].__setitem__(0, [0, "zz"]), "'zz'"),
    "another gradient": (
        lambda p: walked(p)["regions"][0]["results"].__setitem__(0, [0, "fc_1.w_0"]),
        "can't stand for",
    ),
    "another source": (lambda p: walked(p)["inputs"].update(Source=["x"]), "gradients of sources"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_one_that_lies_is_refused(static, name):
    built(static, NETS["loop"])
    plain = to_plain(static.default_main_program())
    from_plain(plain, "here", training=True)
    spoil, words = SPOILED[name]
    spoil(plain)
    with pytest.raises(FormatError, match=words):
        from_plain(plain, "here", training=True)


def again(plain):
    (found,) = operators(plain, type="while_again")
    return found


def drawn(plain):
    """The first run of dropout."""
    return operators(plain, type="dropout", replay=False)[0]


SPOILED_AGAIN = {
    "nothing taken": (lambda p: again(p).update(taken=None), "takes no iterations"),
    "iterations without an owner": (
        lambda p: again(p).update(taken=[0, "x"]),
        "nothing draws its random key",
    ),
    "its own iterations": (lambda p: again(p).update(taken=again(p)["kept"]), "is not stored by a loop"),
    "a key": (lambda p: again(p).update(taken=drawn(p)["kept"]), "is not stored by a loop"),
    "iterations for a key": (
        lambda p: operators(p, type="dropout", replay=True)[0].update(taken=again(p)["taken"]),
        "is not the random key of one operator",
    ),
    "no keys": (
        lambda p: again(p)["regions"][0].update(arguments=again(p)["regions"][0]["arguments"][:2]),
        "other random keys",
    ),
    "a value as a key": (
        lambda p: again(p)["regions"][0]["arguments"].__setitem__(2, [0, "x"]),
        "other random keys",
    ),
    "fewer values": (lambda p: again(p)["regions"][0].update(arguments=[]), "other values than those"),
    "a first run that takes": (lambda p: drawn(p).update(taken=drawn(p)["kept"]), "runs nothing again"),
    "kept twice": (lambda p: loop_of(p).update(kept=again(p)["kept"]), "which block"),
}


@pytest.mark.parametrize("name", SPOILED_AGAIN)
def test_a_second_run_that_lies_is_refused(static, name):
    built(static, NETS["loop in a branch"])
    plain = to_plain(static.default_main_program())
    from_plain(plain, "here", training=True)
    spoil, words = SPOILED_AGAIN[name]
    spoil(plain)
    with pytest.raises(FormatError, match=words):
        from_plain(plain, "here", training=True)


def test_files_of_before_name_what_is_taken_as_what_is_kept(static):
    built(static, NETS["branch"])
    program = static.default_main_program()
    plain = to_plain(program)
    for operator in operators(plain):
        taken = operator.pop("taken")
        operator["kept"] = operator["kept"] or taken
    assert to_plain(from_plain(plain, "here", training=True, own=True)) == to_plain(program)


def test_regions_within_themselves_are_refused(static):
    built(static, NETS["branch in a loop"])
    plain = to_plain(static.default_main_program())
    body = loop_of(plain)["regions"][1]["block"]
    inner = next(o for o in plain["blocks"][body]["ops"] if o["type"] == "conditional_block")
    inner["regions"][0]["block"] = body
    with pytest.raises(FormatError, match="not a separate block"):
        from_plain(plain, "here", training=True)


def test_a_model_that_predicts_has_no_gradients_of_loops(static):
    built(static, NETS["loop"])
    with pytest.raises(FormatError, match="only predicts"):
        from_plain(to_plain(static.default_main_program()), "here")
