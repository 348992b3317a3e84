"""Padding: forms of its argument, modes, formats, gradients, layers, refusals."""

_VOLUME = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
_SHAPE = {3: [2, 3, 4], 4: [1, 3, 3, 4], 5: [1, 2, 3, 3, 4]}
_PADS = {3: [1, 2], 4: [1, 2, 2, 0], 5: [1, 2, 2, 0, 0, 1]}

CALLS: dict[str, str] = {
    "all dimensions": "F.pad(t([2, 3]), [0, 1, 2, 0], value=1.5)",
    "all dimensions of four": "F.pad(t([1, 2, 2, 3]), [0, 0, 1, 0, 0, 2, 1, 1])",
    "one dimension": "F.pad(t([3]), [1, 2])",
    "tuple": "F.pad(t([3]), (1, 2), value=2)",
    "integers": "F.pad(ints([2, 3], 9), [0, 1, 2, 0], value=7)",
    "integers of an image": "F.pad(ints([1, 1, 2, 3], 9), [0, 1, 2, 0], value=7)",
    "float64": "F.pad(t([1, 1, 2, 3], 'float64'), [0, 1, 2, 0], mode='reflect') if 0 else "
    "F.pad(t([1, 1, 3, 3], 'float64'), [0, 1, 2, 0], mode='reflect')",
    "tensor": "F.pad(t([1, 1, 2, 3]), paddle.to_tensor([1, 0, 2, 1], dtype='int32'))",
    "tensor of a line": "F.pad(t([1, 2, 3]), paddle.to_tensor([1, 2], dtype='int32'), mode='replicate', "
    "data_format='NCL')",
    "cut off": "F.pad(t([1, 1, 4, 4]), [-1, 1, 0, -2])",
    "gradient of all dimensions": "grad(lambda x: F.pad(x, [0, 1, 2, 0], value=1.5), t([2, 3]))",
    "gradient cut off": "grad(lambda x: F.pad(x, [-1, 1, 0, -2]), t([1, 1, 4, 4]))",
    "more than the image": "F.pad(t([1, 1, 2, 2]), [5, 4, 3, 0], mode='circular')",
    "zeropad2d": "F.zeropad2d(t([1, 2, 2, 3]), [1, 0, 2, 1])",
    "zeropad2d/last": "F.zeropad2d(t([1, 2, 3, 2]), [1, 0, 2, 1], data_format='NHWC')",
    "raises for a mode": "F.pad(t([1, 1, 2, 2]), [1, 1, 1, 1], mode='edge')",
    "raises for a format": "F.pad(t([1, 1, 2, 2]), [1, 1, 1, 1], data_format='CHW')",
    "raises for the format of another rank": "F.pad(t([1, 1, 2]), [1, 1], data_format='NCHW')",
    "raises for rank": "F.pad(t([2, 2]), [1, 1], mode='reflect')",
    "raises for a large mirror": "F.pad(t([1, 1, 2, 2]), [2, 0, 0, 0], mode='reflect')",
    "ZeroPad2D": "nn.ZeroPad2D([1, 0, 2, 1])(t([1, 2, 2, 3]))",
    "ZeroPad2D/number": "nn.ZeroPad2D(1)(t([1, 2, 2, 3]))",
    "ZeroPad2D/text": "str([nn.ZeroPad2D(1), nn.ZeroPad2D([1, 0, 2, 1], data_format='NHWC', name='z')])",
}
for _rank, (_first, _last) in _VOLUME.items():
    _pads, _shape = _PADS[_rank], _SHAPE[_rank]
    _moved = [_shape[0], *_shape[2:], _shape[1]]
    _cls = f"Pad{_rank - 2}D"
    for _mode in ("constant", "reflect", "replicate", "circular"):
        _end = f"mode='{_mode}'" + (", value=0.5" if _mode == "constant" else "")
        CALLS |= {
            f"{_first}/{_mode}": f"F.pad(t({_shape}), {_pads}, {_end}, data_format='{_first}')",
            f"{_last}/{_mode}": f"F.pad(t({_moved}), {_pads}, {_end}, data_format='{_last}')",
            f"{_first}/{_mode} gradient": f"grad(lambda x: F.pad(x, {_pads}, {_end}, "
            f"data_format='{_first}'), "
            f"t({_shape}))",
            f"{_cls}/{_mode}": f"nn.{_cls}({_pads}, {_end})(t({_shape}))",
            f"{_cls}/{_mode} text": f"str([nn.{_cls}({_pads}, {_end}), nn.{_cls}(1, '{_mode}', "
            f"data_format='{_last}', name='p')])",
        }
    CALLS[f"{_cls}/number"] = f"nn.{_cls}(1, mode='replicate')(t({_shape}))"
