"""Pooling of lines, images and volumes: windows, formats, positions, gradients, layers, refusals."""

_X = {1: [2, 2, 9], 2: [2, 2, 7, 6], 3: [1, 2, 5, 4, 6]}
_LAST = {1: "NLC", 2: "NHWC", 3: "NDHWC"}


def _windows(kind: str, rank: int) -> dict[str, str]:
    name = f"{kind}_pool{rank}d"
    x = f"t({_X[rank]})"
    pairs = [[0, 0], [0, 0]] + [[1, 0]] * rank
    found = {
        "": f"F.{name}({x}, 2)",
        "kernel list": f"F.{name}({x}, {[3, 2, 1][:rank]})",
        "stride": f"F.{name}({x}, 3, stride=1)",
        "stride list": f"F.{name}({x}, 2, stride={[1, 2, 3][:rank]})",
        "padding": f"F.{name}({x}, 3, stride=2, padding=1)",
        "padding list": f"F.{name}({x}, 3, stride=2, padding={[1, 0, 1][:rank]})",
        "same": f"F.{name}({x}, 3, stride=2, padding='SAME')",
        "valid": f"F.{name}({x}, 3, stride=2, padding='VALID')",
        "ceil_mode": f"F.{name}({x}, 2, stride=2, ceil_mode=True)",
        "ceil_mode padded": f"F.{name}({x}, 3, stride=2, padding=1, ceil_mode=True)",
        "kernel of one": f"F.{name}({x}, 1, stride=2)",
        "float64": f"F.{name}({x[:-1]}, 'float64'), 2)",
        "gradient": f"grad(lambda x: F.{name}(x, 2), {x})",
        "gradient overlapping": f"grad(lambda x: F.{name}(x, 3, stride=2, padding=1), {x})",
        "raises for rank": f"F.{name}(t({_X[rank][1:]}), 2)",
        "raises for kernel_size": f"F.{name}({x}, {[2] * (rank + 1)})",
        "raises for a padding": f"F.{name}({x}, 2, padding='HALF')",
        "raises for ceil_mode": f"F.{name}({x}, 2, padding='VALID', ceil_mode=True)",
        "raises for a padded channel": f"F.{name}({x}, 2, padding={[[0, 0], [1, 1]] + [[0, 0]] * rank})",
    }
    if rank > 1:
        found |= {
            "padding both sides": f"F.{name}({x}, 3, stride=2, padding={[1, 0] * rank})",
            "padding pairs": f"F.{name}({x}, 3, stride=2, padding={pairs})",
            "channels last": f"F.{name}(t({[_X[rank][0], *_X[rank][2:], 2]}), 2, padding=1, "
            f"data_format='{_LAST[rank]}')",
            "raises for a format": f"F.{name}({x}, 2, data_format='NWHC')",
        }
    if kind == "avg":
        found |= {
            "inclusive": f"F.{name}({x}, 3, stride=2, padding=1, exclusive=False)",
            "inclusive ceil_mode": f"F.{name}({x}, 3, stride=2, padding=1, exclusive=False, ceil_mode=True)",
            "inclusive gradient": f"grad(lambda x: F.{name}(x, 3, stride=2, padding=1, exclusive=False), "
            f"{x})",
        }
        if rank > 1:
            found["divisor"] = f"F.{name}({x}, 2, divisor_override=3)"
            found["divisor padded"] = f"F.{name}({x}, 3, padding=1, divisor_override=2.5)"
    else:
        found |= {
            "mask": f"F.{name}({x}, 2, return_mask=True)",
            "mask overlapping": f"F.{name}({x}, 3, stride=2, padding=1, return_mask=True)",
            "mask dtype": f"F.{name}({x}, 2, return_mask=True)[1].dtype",
            "mask gradient": f"grad(lambda x: F.{name}(x, 3, stride=1, return_mask=True)[0], {x})",
            "infinite": f"F.{name}(paddle.full({_X[rank]}, -float('inf')), 2)",
            "ties": f"grad(lambda x: F.{name}(x, 2), paddle.ones({_X[rank]}))",
        }
        if rank > 1:
            found["raises for a mask of channels last"] = (
                f"F.{name}({x}, 2, return_mask=True, data_format='{_LAST[rank]}')"
            )
    return {f"{name}/{k}".rstrip("/"): v for k, v in found.items()}


def _adaptive(rank: int) -> dict[str, str]:
    x = f"t({_X[rank]})"
    found = {}
    for kind in ("avg", "max"):
        name = f"adaptive_{kind}_pool{rank}d"
        found |= {
            name: f"F.{name}({x}, 3)",
            f"{name}/one": f"F.{name}({x}, 1)",
            f"{name}/uneven": f"F.{name}({x}, 4)",
            f"{name}/larger": f"F.{name}({x}, 10)",
            f"{name}/gradient": f"grad(lambda x: F.{name}(x, 3), {x})",
            f"{name}/gradient uneven": f"grad(lambda x: F.{name}(x, 4), {x})",
            f"{name}/raises for rank": f"F.{name}(t([3]), 2)",
        }
        if rank > 1:
            found[f"{name}/list"] = f"F.{name}({x}, {[2, 3, 4][:rank]})"
            found[f"{name}/None"] = f"F.{name}({x}, {[None, 2, 3][:rank]})"
    name = f"adaptive_max_pool{rank}d"
    found[f"{name}/mask"] = f"F.{name}({x}, 3, return_mask=True)"
    found[f"{name}/mask uneven"] = f"F.{name}({x}, 4, return_mask=True)"
    if rank > 1:
        found[f"adaptive_avg_pool{rank}d/channels last"] = (
            f"F.adaptive_avg_pool{rank}d(t({[_X[rank][0], *_X[rank][2:], 2]}), 2, "
            f"data_format='{_LAST[rank]}')"
        )
    return found


def _unpool(rank: int) -> dict[str, str]:
    name, pool = f"max_unpool{rank}d", f"max_pool{rank}d"
    shape = {1: [2, 2, 8], 2: [1, 2, 4, 6], 3: [1, 2, 4, 2, 6]}[rank]
    odd = [n + 1 for n in shape[2:]]
    made = f"y, mask = F.{pool}(t({shape}), 2, return_mask=True)\n"
    return {
        name: f"{made}F.{name}(y, mask, 2)",
        f"{name}/output_size": f"y, mask = F.{pool}(t({shape[:2] + odd}), 2, return_mask=True)\n"
        f"F.{name}(y, mask, 2, output_size={[1] * (rank == 1) + odd})",
        f"{name}/whole output_size": f"{made}F.{name}(y, mask, 2, "
        f"output_size={shape[:2] + [1] * (rank == 1) + shape[2:]})",
        f"{name}/padding": f"y, mask = F.{pool}(t({shape}), 2, padding=1, return_mask=True)\n"
        f"F.{name}(y, mask, 2, padding=1)",
        f"{name}/gradient": f"{made}grad(lambda y: F.{name}(y, mask, 2), y)",
        f"{name}/raises for output_size": f"{made}F.{name}(y, mask, 2, output_size={[99] * rank})",
        f"{name}/raises for a format": f"{made}F.{name}(y, mask, 2, data_format='{_LAST[rank]}')",
        f"MaxUnPool{rank}D": f"{made}nn.MaxUnPool{rank}D(2, stride=2)(y, mask)",
        f"MaxUnPool{rank}D/text": f"str([nn.MaxUnPool{rank}D(2), nn.MaxUnPool{rank}D(2, output_size={odd})])",
    }


def _layers(rank: int) -> dict[str, str]:
    x = f"t({_X[rank]})"
    found = {}
    for kind in ("Max", "Avg"):
        name = f"{kind}Pool{rank}D"
        found[name] = f"nn.{name}(2, stride=1, padding=1)({x})"
        found[f"{name}/text"] = (
            f"str([nn.{name}(2), nn.{name}({[3, 2, 1][:rank]}, 2, padding=1, ceil_mode=True)])"
        )
        adaptive = f"Adaptive{kind}Pool{rank}D"
        found[adaptive] = f"nn.{adaptive}(2)({x})"
        found[f"{adaptive}/text"] = f"str([nn.{adaptive}(2), nn.{adaptive}({[3, 2, 1][:rank]})])"
    found[f"MaxPool{rank}D/mask"] = f"nn.MaxPool{rank}D(2, return_mask=True)({x})"
    found[f"AdaptiveMaxPool{rank}D/mask"] = f"nn.AdaptiveMaxPool{rank}D(2, return_mask=True)({x})"
    found[f"AvgPool{rank}D/inclusive"] = f"nn.AvgPool{rank}D(3, padding=1, exclusive=False)({x})"
    return found


CALLS: dict[str, str] = {}
for _rank in (1, 2, 3):
    CALLS |= _windows("max", _rank) | _windows("avg", _rank)
    CALLS |= _adaptive(_rank) | _unpool(_rank) | _layers(_rank)
