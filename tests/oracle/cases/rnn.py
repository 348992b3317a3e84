"""Recurrent cells and networks, with their states, lengths and gradients."""

_STATES = {"LSTM": "(t([{n}, 3, 2], seed=5), t([{n}, 3, 2], seed=6))"}
_STATE = "t([{n}, 3, 2], seed=5)"


def _network(kind: str, options: str, call: str) -> str:
    return f"net = formula(nn.{kind}(4, 2{options}))\nnet{call}"


def _calls() -> dict[str, str]:
    calls = {}
    for kind in ("SimpleRNN", "LSTM", "GRU"):
        state = _STATES.get(kind, _STATE)
        # Paddle's operator needs every gradient or none, so they are taken by backward().
        gradient = (
            "x = t([3, 5, 4])\nx.stop_gradient = False\nweighted([net({0})[0]]).backward()\n"
            "[x.grad, net.weight_hh_l0.grad, net.bias_ih_l0.grad]"
        )
        calls |= {
            f"{kind}/plain": _network(kind, "", "(t([3, 5, 4]))"),
            f"{kind}/time major": _network(kind, ", time_major=True", "(t([5, 3, 4]))"),
            f"{kind}/two layers": _network(kind, ", num_layers=2", "(t([3, 5, 4]))"),
            f"{kind}/both ways": _network(kind, ", direction='bidirect'", "(t([3, 5, 4]))"),
            f"{kind}/deep both ways": _network(
                kind, ", num_layers=2, direction='bidirectional'", f"(t([3, 5, 4]), {state.format(n=4)})"
            ),
            f"{kind}/state": _network(kind, "", f"(t([3, 5, 4]), {state.format(n=1)})"),
            f"{kind}/lengths": _network(
                kind, ", direction='bidirect'", "(t([3, 5, 4]), None, paddle.to_tensor([5, 2, 3]))"
            ),
            f"{kind}/lengths and state": _network(
                kind,
                ", direction='bidirect'",
                f"(t([3, 5, 4]), {state.format(n=2)}, paddle.to_tensor([1, 5, 3], 'int32'))",
            ),
            f"{kind}/gradient": f"net = formula(nn.{kind}(4, 2))\n" + gradient.format("x"),
            f"{kind}/gradient of lengths": f"net = formula(nn.{kind}(4, 2, direction='bidirect'))\n"
            + gradient.format("x, None, paddle.to_tensor([5, 2, 3])"),
            f"{kind}/gradients of weights": f"net = formula(nn.{kind}(4, 2, num_layers=2))\n"
            "y, last = net(t([3, 5, 4]))\nlast = last if isinstance(last, tuple) else (last,)\n"
            "(weighted([y, *last])).backward()\n[p.grad for p in net.parameters()]",
            f"{kind}/keys": f"net = nn.{kind}(4, 2, num_layers=2, direction='bidirect')\n"
            "[list(net.state_dict()), [p.name for p in net.parameters()], "
            "[name for name, _ in net.named_parameters()], str(net)]",
            f"{kind}/text": f"str(nn.{kind}(4, 2, dropout=0.5, time_major=True))",
            f"{kind}/dropout eval": f"net = formula(nn.{kind}(4, 2, num_layers=2, dropout=0.5))\nnet.eval()\n"
            "net(t([3, 5, 4]))",
            f"{kind}/raises features": f"nn.{kind}(4, 2)(t([3, 5, 3]))",
            f"{kind}/raises rank": f"nn.{kind}(4, 2)(t([5, 4]))",
            f"{kind}/raises hidden": f"nn.{kind}(4, 0)",
            f"{kind}/raises direction": f"nn.{kind}(4, 2, direction='up')",
            f"{kind}/raises state": f"nn.{kind}(4, 2)(t([3, 5, 4]), {state.format(n=2)})",
            f"{kind}Cell": f"formula(nn.{kind}Cell(4, 2))(t([3, 4]))",
            f"{kind}Cell/state": f"formula(nn.{kind}Cell(4, 2))(t([3, 4]), "
            + state.format(n=1).replace("[1, 3, 2]", "[3, 2]")
            + ")",
            f"{kind}Cell/keys": f"cell = nn.{kind}Cell(4, 2)\n[list(cell.state_dict()), str(cell), "
            "[p.shape for p in cell.parameters()]]",
            f"{kind}Cell/constant": f"cell = nn.{kind}Cell(4, 2, weight_ih_attr=False, bias_hh_attr=False)\n"
            "[cell.weight_ih, cell.bias_hh, cell.weight_hh.stop_gradient]",
            f"{kind}Cell/raises features": f"nn.{kind}Cell(4, 2)(t([3, 5]))",
            f"{kind}Cell/raises hidden": f"nn.{kind}Cell(4, -1)",
            f"RNN/{kind}Cell": f"formula(nn.RNN(nn.{kind}Cell(4, 2)))(t([3, 5, 4]))",
            f"RNN/{kind}Cell reverse": f"formula(nn.RNN(nn.{kind}Cell(4, 2), is_reverse=True))(t([3, 5, 4]))",
            f"RNN/{kind}Cell lengths": f"net = formula(nn.RNN(nn.{kind}Cell(4, 2), time_major=True))\n"
            "net(t([5, 3, 4]), sequence_length=paddle.to_tensor([5, 2, 3]))",
            f"RNN/{kind}Cell reverse lengths": "reverse = True\n"
            f"net = formula(nn.RNN(nn.{kind}Cell(4, 2), is_reverse=reverse))\n"
            "net(t([3, 5, 4]), sequence_length=paddle.to_tensor([5, 2, 3]))",
            f"RNN/{kind}Cell gradient": f"net = formula(nn.RNN(nn.{kind}Cell(4, 2)))\n"
            "grad(lambda x: net(x)[0], t([3, 5, 4]))",
            f"BiRNN/{kind}Cell": f"formula(nn.BiRNN(nn.{kind}Cell(4, 2), nn.{kind}Cell(4, 2)))(t([3, 5, 4]))",
        }
    return calls


CALLS: dict[str, str] = {
    **_calls(),
    "SimpleRNN/relu": "formula(nn.SimpleRNN(4, 2, activation='relu'))(t([3, 5, 4]))",
    "SimpleRNN/relu gradient": "net = formula(nn.SimpleRNN(4, 2, activation='relu'))\n"
    "weighted([net(t([3, 5, 4]))[0]]).backward()\n[p.grad for p in net.parameters()]",
    "SimpleRNN/raises activation": "nn.SimpleRNN(4, 2, activation='elu')",
    "SimpleRNNCell/relu": "str(nn.SimpleRNNCell(4, 2, 'relu'))",
    "SimpleRNNCell/raises activation": "nn.SimpleRNNCell(4, 2, 'elu')",
    "LSTM/raises one state": "nn.LSTM(4, 2)(t([3, 5, 4]), t([1, 3, 2]))",
    "BiRNN/raises sizes": "nn.BiRNN(nn.GRUCell(4, 2), nn.GRUCell(3, 2))",
    "BiRNN/text": "str(nn.BiRNN(nn.GRUCell(4, 2), nn.GRUCell(4, 2)))",
    "RNN/own cell": "class Sum(nn.RNNCellBase):\n    state_shape = property(lambda self: (2,))\n"
    "    def forward(self, x, states):\n        s = states + x[:, :2]\n        return s * 2, s\n"
    "nn.RNN(Sum())(t([3, 5, 4]))",
    "RNN/own cell with nested states": "class Two(nn.RNNCellBase):\n"
    "    state_shape = property(lambda self: [[2], [4]])\n"
    "    def forward(self, x, states, scale):\n        a, b = states\n"
    "        return {'a': a, 'b': b + x}, [a + scale, b * 0.5 + x]\n"
    "out, last = nn.RNN(Two())(t([3, 5, 4]), [paddle.zeros([3, 2]), paddle.zeros([3, 4])], scale=2.0)\n"
    "[out['a'], out['b'], last]",
    "get_initial_states": "nn.LSTMCell(4, 2).get_initial_states(t([3, 4]), init_value=0.5)",
    "get_initial_states/shape": "nn.GRUCell(4, 2).get_initial_states(t([3, 4]), shape=(7,), dtype='float64')",
}
