"""The code blocks of the specification documents: where each stands, what it needs first, what is expected.

``BLOCKS`` has every block of documents 000 to 003 in order. A block runs as it stands in the document, at
the document's own line numbers (002's first two are indented there; the indentation is taken off). Where the
document is wrong, ``mistake`` says how, ``says`` is what the error must say, and ``instead`` are the lines
that make it right.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Block:
    """One block of a document.

    Attributes:
        name: ``DOCUMENT/WHAT``, the document by its number.
        first, last: its lines, counted from 1, both included.
        needs: the names of blocks that must run before it in the same script, in order.
        before: code of ours that the document leaves out, put on one line before the block.
        out: regular expressions, each found in what is printed, in this order.
        files: files that are there afterwards.
        then: our own code after the block, which must run without an error.
        mistake: what is wrong with it in the document; empty where nothing is.
        says: a regular expression for the last line on stderr when it runs as it stands, mistake and all.
        instead: corrected lines by their numbers; None deletes a line.
    """

    name: str
    first: int
    last: int
    needs: tuple[str, ...] = ()
    before: str = ""
    out: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    then: str = ""
    mistake: str = ""
    says: str = ""
    instead: dict[int, str | None] = field(default_factory=dict)


def saved(prefix: str) -> tuple[str, ...]:
    """The files of ``jit.save``."""
    return tuple(f"{prefix}.{end}" for end in ("pdmodel", "pdiparams", "pdiparams.info"))


LOSSES = tuple(rf"epoch_id: {n}, batch_id: 0, loss is: \d\.\d+" for n in range(10))
LENET_LOSSES = tuple(rf"epoch: {n}, batch_id: 0, loss is: \d\.\d+, acc is: \d\.\d+" for n in range(2))
TRAINING = "train_step = lambda net, reader: reader.append(len(reader)); train_reader = []"
THREE_OF_TEN = "InputSpecs of 3 features for a Linear of 10"
SPEC_SAYS = r"linear|matmul"
UNPLACED = "train_step and train_reader stand nowhere in the document"
NO_NET = "to_static(input_spec=...) without its net gives a decorator, which is not a Layer to save"
CARET = "a drawing with carets stands below the line"
LISTING = "a listing of files, not Python"
BRACE = "the printed Program ends with a brace that is not a comment"
SPEC = r"InputSpec\(shape=\({}\), dtype=paddle\.{}, name={}, stop_gradient=False\)"
SPEC_X, SPEC_LABEL = SPEC.format("-1, 784", "float32", "x"), SPEC.format("-1, 1", "int64", "label")
SPEC_2X2 = SPEC.format("2, 2", "float32", "x")
ZEROS = (
    r"Tensor\(shape=\[1, 2\], dtype=float32, place=Place\(cpu\), stop_gradient=True,\n"
    r"       \[\[0\., 0\.\]\]\)\n"
)
VARIABLE = r"{} : LOD_TENSOR\.shape\({}\)\.dtype\(float32\)\.stop_gradient\({}\)\n"
ZEROS_STATIC = VARIABLE.format(r"var fill_constant_\d\.tmp_0", "1, 2", True)
PROGRAM = (
    r"\{ // block",
    VARIABLE.format("    var x", "-1, 10", True),
    VARIABLE.format("    var y", "-1, 3", True),
    VARIABLE.format(r"    persist trainable param fc_0\.w_0", "10, 3", False),
    VARIABLE.format(r"    var fc_0\.tmp_0", "-1, 3", False),
    VARIABLE.format(r"    persist trainable param fc_0\.b_0", "3,", False),
    VARIABLE.format(r"    var fc_0\.tmp_1", "-1, 3", False),
    VARIABLE.format("    var elementwise_add_0", "-1, 3", False),
    r"    \{Out=\['fc_0\.tmp_0'\]\} = mul\(inputs=\{X=\['x'\], Y=\['fc_0\.w_0'\]\},",
    r"    \{Out=\['fc_0\.tmp_1'\]\} = elementwise_add\(inputs=\{X=\['fc_0\.tmp_0'\], Y=\['fc_0\.b_0'\]\},",
    r"    \{Out=\['elementwise_add_0'\]\} = elementwise_add\(inputs=\{X=\['fc_0\.tmp_1'\], Y=\['y'\]\},",
)
PARTS = """
assert list(net._sub_layers) == ["linear"]
assert net._sub_layers["linear"] is net.linear
assert list(net.linear._parameters) == ["weight", "bias"]
assert net._parameters == {} and net._buffers == {}
"""
OTHER_FUNCTION = """
loaded = paddle.jit.load("another_func")
x = paddle.rand([4, 10])
assert loaded(x).shape == [4, 3]
"""
NESTED = """
net = SimpleNet()
paddle.jit.save(net, "nested")
x, y = paddle.rand([2, 10]), paddle.rand([3])
assert paddle.allclose(paddle.jit.load("nested")(x, y), net({}))
"""
STATE = 'assert list(paddle.load("net.pdiparams")) == ["linear.weight", "linear.bias"]'
NETWORK = (
    "import paddle; paddle.enable_static(); paddle.static.nn.fc(paddle.static.data('x', [None, 4]), 2); "
    "paddle.static.Executor().run(paddle.static.default_startup_program())"
)
LOADED_PROGRAM = """
program, state = paddle.load(prog_path), paddle.load(para_path)
assert [op.type for op in program.global_block().ops] == ["mul", "elementwise_add"]
assert sorted(state) == ["fc_0.b_0", "fc_0.w_0"]
"""

BLOCKS = [
    # ----- 000: from eager to static in training, and saving ------------------------------------------------
    Block("000/network", 11, 25),
    Block(
        "000/training",
        31,
        81,
        ("000/network",),
        out=(*LOSSES, "==>Trained model saved"),
        files=("mnist.pdparams",),
    ),
    Block(
        "000/saving",
        103,
        118,
        ("000/network", "000/training"),
        out=("==>Inference model saved",),
        files=saved("inference/mnist"),
    ),
    Block(
        "000/predicting",
        128,
        150,
        ("000/network", "000/training", "000/saving"),
        out=(r"The label of readed image is :  \[7\]", r"The predicted label is :  7\n"),
    ),
    # ----- 001: exporting for prediction --------------------------------------------------------------------
    Block(
        "001/forward",
        23,
        53,
        files=saved("simple_net"),
        mistake=THREE_OF_TEN,
        says=SPEC_SAYS,
        instead={49: "x_spec = InputSpec(shape=[None, 10], dtype='float32', name='x')"},
    ),
    Block("001/files of forward", 58, 60, mistake=LISTING, says=r"NameError"),
    Block("001/class", 23, 40),
    Block(
        "001/other function",
        76,
        91,
        ("001/class",),
        files=saved("another_func"),
        then=OTHER_FUNCTION,
        mistake=THREE_OF_TEN,
        says=SPEC_SAYS,
        instead={85: "x_spec = InputSpec(shape=[None, 10], dtype='float32', name='x')"},
    ),
    Block("001/files of other function", 101, 103, mistake=LISTING, says=r"NameError"),
    Block("001/InputSpec", 124, 130, out=(SPEC_X, SPEC_LABEL)),
    Block("001/InputSpec from tensor", 139, 145, out=(SPEC_2X2,)),
    Block("001/InputSpec from array", 156, 161, out=(SPEC_2X2,)),
    Block("001/decorator", 174, 193, files=saved("simple_net")),
    Block("001/imports", 174, 177),
    Block(
        "001/call",
        209,
        228,
        ("001/imports",),
        files=saved("simple_net"),
        mistake=UNPLACED,
        says=r"NameError: name 'train_step' is not defined",
        before=TRAINING,
    ),
    Block("001/list", 241, 251, ("001/imports",), then=NESTED.format("[x, y]")),
    Block("001/dict", 259, 269, ("001/imports",), then=NESTED.format("x, {'x': y}")),
    Block(
        "001/other arguments",
        281,
        301,
        ("001/imports",),
        files=saved("simple_net"),
        mistake=NO_NET,
        says=r"jit\.save: got a decorator: to_static\(input_spec=\.\.\.\) was called without the net",
        instead={
            295: "net = to_static(net, input_spec=[InputSpec(shape=[None, 10], name='x')])",
            300: "net = to_static(net, input_spec=[InputSpec(shape=[None, 10], name='x'), True])",
        },
    ),
    Block("001/state", 321, 326, ("001/class",), files=("net.pdiparams",), then=STATE),
    Block("001/zeros", 336, 339, out=(ZEROS,)),
    Block("001/network", 354, 366, then=PARTS),
    Block(
        "001/optimizer",
        379,
        382,
        ("001/network",),
        mistake=CARET,
        says=r"IndentationError|SyntaxError",
        instead={380: None, 381: None, 382: None},
    ),
    Block(
        "001/static saving",
        390,
        398,
        before=NETWORK,
        then=LOADED_PROGRAM,
        files=("main_program.pdimodel", "main_program.pdiparams"),
    ),
    Block("001/static zeros", 415, 421, out=(ZEROS_STATIC,)),
    Block(
        "001/static network",
        432,
        457,
        out=PROGRAM,
        mistake=BRACE,
        says=r"SyntaxError: unmatched '}'",
        instead={457: None},
    ),
    # ----- 002: the same subject again
    # -----------------------------------------------------------------------
    Block("002/decorator", 11, 30, files=saved("net")),
    Block("002/call", 34, 53, files=saved("net")),
    Block(
        "002/forward",
        80,
        110,
        files=saved("simple_net"),
        mistake=THREE_OF_TEN,
        says=SPEC_SAYS,
        instead={106: "x_spec = InputSpec(shape=[None, 10], dtype='float32', name='x')"},
    ),
    Block("002/files of forward", 114, 116, mistake=LISTING, says=r"NameError"),
    Block("002/InputSpec", 128, 134, out=(SPEC_X, SPEC_LABEL)),
    Block("002/InputSpec from tensor", 140, 146, out=(SPEC_2X2,)),
    Block("002/InputSpec from array", 154, 159, out=(SPEC_2X2,)),
    Block("002/decorator with specs", 169, 188, files=saved("simple_net")),
    Block("002/imports", 169, 172),
    Block(
        "002/call with specs",
        204,
        223,
        ("002/imports",),
        files=saved("simple_net"),
        mistake=UNPLACED,
        says=r"NameError: name 'train_step' is not defined",
        before=TRAINING,
    ),
    Block("002/list", 233, 243, ("002/imports",), then=NESTED.format("[x, y]")),
    Block("002/dict", 249, 259, ("002/imports",), then=NESTED.format("x, {'x': y}")),
    Block(
        "002/other arguments",
        268,
        288,
        ("002/imports",),
        files=saved("simple_net"),
        mistake=NO_NET,
        says=r"jit\.save: got a decorator: to_static\(input_spec=\.\.\.\) was called without the net",
        instead={
            282: "net = to_static(net, input_spec=[InputSpec(shape=[None, 10], name='x')])",
            287: "net = to_static(net, input_spec=[InputSpec(shape=[None, 10], name='x'), True])",
        },
    ),
    Block("002/class", 80, 97),
    Block("002/state", 304, 309, ("002/class",), files=("net.pdiparams",), then=STATE),
    Block("002/zeros", 315, 321, out=(ZEROS,)),
    Block("002/network", 330, 342, then=PARTS),
    Block(
        "002/optimizer",
        354,
        357,
        ("002/network",),
        mistake=CARET,
        says=r"IndentationError|SyntaxError",
        instead={355: None, 356: None, 357: None},
    ),
    Block(
        "002/static saving",
        363,
        371,
        before=NETWORK,
        then=LOADED_PROGRAM,
        files=("main_program.pdimodel", "main_program.pdiparams"),
    ),
    Block("002/static zeros", 383, 389, out=(ZEROS_STATIC,)),
    Block(
        "002/static network",
        397,
        422,
        out=PROGRAM,
        mistake=BRACE,
        says=r"SyntaxError: unmatched '}'",
        instead={422: None},
    ),
    # ----- 003: LeNet from training to a model for prediction -----------------------------------------------
    Block("003/imports", 12, 20),
    Block("003/version", 26, 26, ("003/imports",), out=(r"2\.6\.2\n",)),
    Block("003/data", 32, 33, ("003/imports",)),
    Block("003/network", 39, 63, ("003/imports",)),
    Block("003/training", 69, 87, ("003/imports", "003/data", "003/network"), out=LENET_LOSSES),
    Block(
        "003/saving",
        93,
        94,
        ("003/imports", "003/data", "003/network", "003/training"),
        files=("lenet.pdparams", "lenet.pdopt"),
    ),
    Block("003/loading", 102, 105, ("003/imports", "003/data", "003/network", "003/training", "003/saving")),
    Block(
        "003/exporting",
        111,
        112,
        ("003/imports", "003/network", "003/model"),
        files=saved("inference_model/lenet"),
    ),
    Block("003/model", 70, 70, ("003/imports", "003/network")),
    Block(
        "003/whole",
        118,
        219,
        out=(r"2\.6\.2\n", *LENET_LOSSES),
        files=("lenet.pdparams", "lenet.pdopt", *saved("inference_model/lenet")),
    ),
]

BY_NAME = {block.name: block for block in BLOCKS}
