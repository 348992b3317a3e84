"""Functions and Layers in the manner of users, with the results that Paddle 2.6.2 gives converted.

Run by a Python with paddlepaddle 2.6.2 this file writes ``user_functions.json``.
"""

import json
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    import paddle
else:
    import engine as paddle

nn, F = paddle.nn, paddle.nn.functional
ROW = [1.0, -2.0, 3.0]
ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def filled(net):
    random = np.random.RandomState(1)
    for p in net.parameters():
        p.set_value(random.uniform(-0.5, 0.5, p.shape).astype("float32"))
    return net


# -- returns -----------------------------------------------------------------------------------------------
def nested_results(x):
    return {"a": x, "b": [x * 2, (x, None)], "c": "text", "n": 3}


def returns_none(x):
    x + 1


def early_return(x):
    if x.sum() > 0:
        return x, x + 1
    return x - 1, x


def other_number_of_results_by_a_flag(x, flag=True):
    if flag:
        return x, x
    return x


def return_in_a_loop(x):
    for _ in range(5):
        x = x + 1
        if x.sum() > 10:
            return x
    return x - 100


def pick(x, k):
    if k is None:
        return x
    if k > 2:
        return x * k
    return None


def results_of_a_helper(x):
    return pick(x, None), pick(x, 3), pick(x, 1) is None


# -- loops -------------------------------------------------------------------------------------------------
def while_a_tensor_is_small(x):
    i = 0
    while x.sum() < 20:
        x = x + 1
        i += 1
    return x


def collatz(n):
    steps = paddle.zeros([1], "int64")
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def grown_in_a_while(x, n):
    out = []
    i = paddle.to_tensor(0)
    while i < n:
        out.append(x + i.astype("float32"))
        i += 1
    return paddle.concat(out), out[1]


def enumerated_rows(m):
    total, last = paddle.zeros([2]), 0
    for i, row in enumerate(m):
        total = total + row * i
        last = i
    return total, last


def zipped_rows(m, x):
    total = paddle.zeros([2])
    for a, b in zip(m, x):  # noqa: B905 - as users write
        total = total + a * b
    return total


def a_range_of_a_tensor_with_continue(x, n):
    for i in range(n):
        if i == 1:
            continue
        x = x + i
    return x


def a_range_of_a_tensor_with_break(x, n):
    for _ in range(n):
        if x.sum() > 4:
            break
        x = x + 1
    return x


def loops_in_loops(m):
    total = paddle.zeros([1])
    for row in m:
        for value in row:
            if value > 2:
                total = total + value
    return total


def while_true(x):
    i, total = 0, paddle.zeros([1])
    while True:
        i += 1
        if i == 2:
            continue
        if i > 4:
            break
        total = total + i
    return total + x.sum(), i


# -- lists and dicts ---------------------------------------------------------------------------------------
def a_dict_changed_in_a_loop(x):
    d = {"a": x}
    for i in range(3):
        d["a"] = d["a"] + i
        d[str(i)] = x
    return d


def a_dict_changed_in_a_branch(x):
    d = {"a": x}
    if x.sum() > 0:
        d["a"] = x * 2
    else:
        d["a"] = x * 3
    return d["a"]


def a_list_changed(x):
    items = [x, x]
    items[0] = x + 1
    items.insert(0, x)
    last = items.pop()
    items.extend([x])
    items += [x]
    return items, last


def comprehensions(x):
    return [x * i for i in range(1, 3)], {str(i): x + i for i in range(2)}, sum([x * i for i in range(3)])


def a_comprehension_over_rows(m):
    return [row.sum() for row in m], [i for i in range(4) if i % 2]


def builtins_over_lists(a, b):
    products = []
    for i, (p, q) in enumerate(zip([a, b], [b + 2, a + 1])):  # noqa: B905 - as users write
        products.append(p * q + i)
    return products, sorted([3, 1], reverse=True), list(filter(None, [1, 0, 3]))


# -- conditions --------------------------------------------------------------------------------------------
def tensors_and_python_values(x, n=3):
    a = x.sum() > 0 and n > 2
    b = n > 5 or x.sum() > 100
    c = not (x.sum() > 0)
    d = (x.sum() > 0 and x.max() < 5) or n == 1
    return a, b, c, d


def ternaries(x, flag=None):
    y = x if x.sum() > 0 else -x
    return y, y if flag is None else y + flag


def several_conditions(x, flag=True):
    if x.mean() > 0 and flag:
        y = 1
    elif x.mean() < -1 or not flag:
        y = 2
    else:
        y = 3
    return x * y


def a_name_of_one_branch(x):
    if x.mean() > 100:
        z = x + 1
    y = x * 2
    if x.mean() > 100:
        y = y + z
    return y


def a_name_of_each_branch_in_turn(x):
    if x.sum() > 0:
        y = x + 1
    if x.sum() < 0:
        y = x - 1
    return y


def a_flag_that_a_tensor_decides(x):
    flag = False
    if x.sum() > 0:
        flag = True
    if flag:
        return x + 1
    return x


def chained_comparisons(x):
    if 0 < x.sum() < 10:
        return x
    return x + 100


# -- numbers and texts -------------------------------------------------------------------------------------
def casts(x):
    return int(x), float(x), bool(x), x.astype("int32"), x.astype(int), x.astype(float)


def lengths_and_shapes(x):
    items = [x, x]
    items.append(x)
    return len(items), len(x), x.shape[0] + len(items), paddle.reshape(x, [int(x.shape[0]), 1])


def texts(x):
    assert x.shape[0] == 3, f"expected 3, got {x.shape[0]}"
    return f"{x.shape}", f"{x.shape[0]}", str(x.ndim) + " dims"


def accuracies(x, label):
    return paddle.static.accuracy(x, label), paddle.metric.accuracy(x, label)


# -- functions ---------------------------------------------------------------------------------------------
def closures_and_nonlocal(x):
    k = 1

    def inner(y):
        nonlocal k
        k = k + 1
        return y * k

    a, b = inner(x), inner(x)
    return a, b, k


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def recursion_and_lambdas(x):
    chosen = lambda v: v * 2 if v.sum() > 0 else v * 3  # noqa: E731 - as users write
    return x * factorial(4), chosen(x), (lambda a, b=2: a + b)(x)


def scaled(first, *rest, scale=1, **others):
    return (first + sum(rest)) * scale + others.get("bias", 0)


def starred_calls(x):
    args, kwargs = (x, x), {"scale": 2, "bias": 1}
    return scaled(*args, **kwargs)


def tries(x):
    try:
        y = x + 1
    except ValueError:
        y = x
    finally:
        y = y * 2
    try:
        raise ValueError("a")
    except ValueError as error:
        return y + len(str(error))


def a_dict_of_tensors(batch):
    out = {}
    for key, value in batch.items():
        out[key] = value * 2
    for key in sorted(out.keys()):
        out[key] = out[key] + 1
    return out, list(out.keys()), len(out)


def written_elements(x):
    y = paddle.zeros([3, 3])
    for i in range(3):
        y[i, i] = x[i]
    y[0] = x
    return y


def parts(x, n):
    return x[:n], x[n:], x[-1], x[::2], x[paddle.to_tensor([0, 2])], x[x > 0]


# -- Layers ------------------------------------------------------------------------------------------------
class Decoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding, self.cell, self.out = nn.Embedding(6, 4), nn.GRUCell(4, 4), nn.Linear(4, 6)

    def forward(self, h, longest=5):
        token = paddle.zeros([h.shape[0]], "int64")
        tokens = []
        for _ in range(longest):
            o, h = self.cell(self.embedding(token), h)
            token = self.out(o).argmax(-1)
            tokens.append(token)
        return paddle.stack(tokens, 1)


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, mask=None):
        b, length, d = x.shape
        s = paddle.matmul(self.q(x), self.k(x), transpose_y=True) / d**0.5
        if mask is not None:
            s = s + (1.0 - mask.astype("float32")).unsqueeze(1) * -1e4
        return F.softmax(s, -1).reshape([b, length * length])


class Blocks(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([nn.Linear(3, 3) for _ in range(3)])
        self.act = {"relu": F.relu, "tanh": F.tanh}["tanh"]

    def forward(self, x):
        features = []
        for i, block in enumerate(self.blocks):
            x = self.act(block(x))
            if i % 2 == 0:
                features.append(x)
        return features, x


class Counting(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", paddle.zeros([1]))

    def forward(self, x):
        self.n = self.n + 1
        return x + self.n


class WithMethods(nn.Layer):
    K = 3

    @property
    def twice(self):
        return self.K * 2

    @staticmethod
    def add(a, b):
        return a + b

    @classmethod
    def times(cls, a):
        return a * cls.K

    def forward(self, x):
        return self.add(self.times(x), self.twice)


# What each is called with, once or several times in a row.
CASES = [
    (nested_results, [[ROW]]),
    (returns_none, [[ROW]]),
    (early_return, [[ROW], [[-1.0, -2.0]]]),
    (other_number_of_results_by_a_flag, [[ROW], [ROW, False]]),
    (return_in_a_loop, [[ROW]]),
    (results_of_a_helper, [[ROW]]),
    (while_a_tensor_is_small, [[ROW]]),
    (collatz, [[[6]], [[7]]]),
    (grown_in_a_while, [[ROW, 3]]),
    (enumerated_rows, [[ROWS]]),
    (zipped_rows, [[ROWS, ROW]]),
    (a_range_of_a_tensor_with_continue, [[ROW, np.int64(3)]]),
    (a_range_of_a_tensor_with_break, [[ROW, np.int64(3)]]),
    (loops_in_loops, [[ROWS]]),
    (while_true, [[ROW]]),
    (a_dict_changed_in_a_loop, [[ROW]]),
    (a_dict_changed_in_a_branch, [[ROW], [[-1.0]]]),
    (a_list_changed, [[ROW]]),
    (comprehensions, [[ROW]]),
    (a_comprehension_over_rows, [[ROWS]]),
    (builtins_over_lists, [[ROW, ROW]]),
    (tensors_and_python_values, [[ROW], [ROW, 1]]),
    (ternaries, [[ROW], [[-1.0, -5.0]]]),
    (several_conditions, [[ROW], [ROW, False], [[-1.0, -3.0]]]),
    (a_name_of_one_branch, [[ROW], [[200.0, 300.0]]]),
    (a_name_of_each_branch_in_turn, [[ROW], [[-1.0]]]),
    (a_flag_that_a_tensor_decides, [[ROW]]),
    (chained_comparisons, [[ROW]]),
    (casts, [[2.6], [ROW], [[[2.9]]]]),
    (lengths_and_shapes, [[ROW]]),
    (texts, [[ROW]]),
    (accuracies, [[[[0.1, 0.9], [0.8, 0.2]], [[1], [1]]]]),
    (closures_and_nonlocal, [[ROW]]),
    (recursion_and_lambdas, [[ROW]]),
    (starred_calls, [[ROW]]),
    (tries, [[ROW]]),
    (a_dict_of_tensors, [[{"a": ROW, "b": [0.0, 1.0, 2.0]}]]),
    (written_elements, [[ROW]]),
    (parts, [[ROW, np.int64(2)]]),
    (Decoder, [[np.ones([2, 4], "float32")]]),
    (Attention, [[np.ones([2, 3, 4], "float32")], [np.ones([2, 3, 4], "float32"), [[1, 1, 0], [1, 0, 0]]]]),
    (Blocks, [[np.ones([1, 3], "float32")]]),
    (Counting, [[ROW], [ROW]]),
    (WithMethods, [[ROW]]),
]


def argument(value):
    """A Tensor for lists and NumPy's values, other values as they are."""
    if isinstance(value, dict):
        return {k: argument(v) for k, v in value.items()}
    if isinstance(value, (list, np.ndarray, np.generic, float)):
        array = np.asarray(value)
        return paddle.to_tensor(array.astype("float32") if array.dtype == np.float64 else array)
    return value


def plain(value):
    """A result as values of JSON: Tensors with dtype, shape and numbers."""
    if isinstance(value, paddle.Tensor):
        return {
            "dtype": str(value.dtype).replace("paddle.", ""),
            "shape": value.shape,
            "values": value.tolist(),
        }
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def results(function, calls):
    """What the converted function, or Layer, gives for its calls, one after the other."""
    target = filled(function()) if isinstance(function, type) else function
    static = paddle.jit.to_static(target, full_graph=True)
    with paddle.no_grad():
        return [plain(static(*map(argument, call))) for call in calls]


if __name__ == "__main__":
    found = {function.__name__: results(function, calls) for function, calls in CASES}
    recorded = {"paddle": paddle.__version__, "results": found}
    Path(__file__).with_suffix(".json").write_text(json.dumps(recorded, indent=1) + "\n")
