"""Images at another size, cut into windows, reordered and bent: values, gradients, layers, refusals."""

_X = {"linear": [2, 2, 5], "bilinear": [1, 2, 4, 3], "bicubic": [1, 2, 4, 5], "trilinear": [1, 2, 2, 3, 4]}
_SIZES = {1: ([8], [3], [1]), 2: ([7, 5], [2, 2], [1, 1]), 3: ([3, 5, 7], [1, 2, 3], [1, 1, 1])}
_FORMAT = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}

CALLS: dict[str, str] = {}
for _mode, _shape in _X.items():
    _rank = len(_shape) - 2
    _first, _last = _FORMAT[len(_shape)]
    _x, _moved = f"t({_shape})", f"t({[_shape[0], *_shape[2:], _shape[1]]})"
    for _n, _size in enumerate(_SIZES[_rank]):
        for _corners in (False, True):
            for _align in (0, 1):
                CALLS[f"{_mode}/size {_n} {_corners} {_align}"] = (
                    f"F.interpolate({_x}, {_size}, mode='{_mode}', align_corners={_corners}, "
                    f"align_mode={_align}, data_format='{_first}')"
                )
    CALLS |= {
        f"{_mode}/scale": f"F.interpolate({_x}, scale_factor=2, mode='{_mode}', data_format='{_first}')",
        f"{_mode}/scale of 1.7": f"F.interpolate({_x}, scale_factor=1.7, mode='{_mode}', "
        f"data_format='{_first}')",
        f"{_mode}/scale list": f"F.interpolate({_x}, scale_factor={[0.6, 1.5, 2.0][:_rank]}, mode='{_mode}', "
        f"data_format='{_first}')",
        f"{_mode}/scale tensor": f"F.interpolate({_x}, scale_factor=paddle.to_tensor([1.5] * {_rank}), "
        f"mode='{_mode}', data_format='{_first}')",
        f"{_mode}/size tensor": f"F.interpolate({_x}, paddle.to_tensor({_SIZES[_rank][0]}), mode='{_mode}', "
        f"data_format='{_first}')",
        f"{_mode}/size of tensors": f"F.interpolate({_x}, [paddle.to_tensor(n) for n in {_SIZES[_rank][0]}], "
        f"mode='{_mode}', data_format='{_first}')",
        f"{_mode}/last": f"F.interpolate({_moved}, {_SIZES[_rank][0]}, mode='{_mode}', "
        f"data_format='{_last}')",
        f"{_mode}/gradient": f"grad(lambda x: F.interpolate(x, {_SIZES[_rank][0]}, mode='{_mode}', "
        f"data_format='{_first}'), {_x})",
        f"{_mode}/gradient smaller": f"grad(lambda x: F.interpolate(x, {_SIZES[_rank][1]}, mode='{_mode}', "
        f"align_corners=True, data_format='{_first}'), {_x})",
        f"{_mode}/gradient last": f"grad(lambda x: F.interpolate(x, scale_factor=1.5, mode='{_mode}', "
        f"data_format='{_last}'), {_moved})",
        f"{_mode}/raises for rank": f"F.interpolate(t([2, 2]), [2], mode='{_mode}')",
        f"{_mode}/raises for size": f"F.interpolate({_x}, {[2] * (_rank + 1)}, mode='{_mode}', "
        f"data_format='{_first}')",
        f"{_mode}/raises for format": f"F.interpolate({_x}, {_SIZES[_rank][0]}, mode='{_mode}', "
        "data_format='CHW')",
    }
for _shape in ([1, 2, 4, 3], [1, 2, 2, 3, 4]):
    _rank = len(_shape) - 2
    _first, _last = _FORMAT[len(_shape)]
    _x, _moved = f"t({_shape})", f"t({[_shape[0], *_shape[2:], _shape[1]]})"
    CALLS |= {
        f"nearest/{_first} larger": f"F.interpolate({_x}, {_SIZES[_rank][0]}, data_format='{_first}')",
        f"nearest/{_first} smaller": f"F.interpolate({_x}, {_SIZES[_rank][1]}, data_format='{_first}')",
        f"nearest/{_first} scale": f"F.interpolate({_x}, scale_factor=2, data_format='{_first}')",
        f"nearest/{_first} scale of 1.3": f"F.interpolate({_x}, scale_factor=1.3, data_format='{_first}')",
        f"nearest/{_last}": f"F.interpolate({_moved}, {_SIZES[_rank][0]}, data_format='{_last}')",
        f"nearest/{_first} gradient": f"grad(lambda x: F.interpolate(x, {_SIZES[_rank][0]}, "
        f"data_format='{_first}'), {_x})",
        f"nearest/{_first} gradient smaller": f"grad(lambda x: F.interpolate(x, {_SIZES[_rank][1]}, "
        f"data_format='{_first}'), {_x})",
    }
CALLS |= {
    "nearest/many": "F.interpolate(t([1, 1, 1, 17]), [1, 50])",
    "nearest/many fewer": "F.interpolate(t([1, 1, 1, 49]), [1, 13])",
    "nearest/integers": "F.interpolate(ints([1, 1, 2, 3], 9, 'int32'), scale_factor=2)",
    "bilinear/float64": "F.interpolate(t([1, 1, 2, 4], 'float64'), [4, 8], mode='bilinear')",
    "bilinear/upper case": "F.interpolate(t([1, 1, 2, 4]), [4, 8], mode='BILINEAR', data_format='nchw')",
    "area": "F.interpolate(t([1, 2, 4, 6]), [2, 3], mode='area')",
    "area/uneven": "F.interpolate(t([1, 2, 5, 7]), [2, 3], mode='area')",
    "area/line": "F.interpolate(t([1, 2, 6]), [3], mode='area')",
    "area/volume": "F.interpolate(t([1, 2, 2, 4, 4]), [1, 2, 2], mode='area')",
    "upsample": "F.upsample(t([1, 2, 2, 3]), scale_factor=2, mode='bilinear')",
    "raises for a mode": "F.interpolate(t([1, 1, 2, 2]), [2, 2], mode='cubic')",
    "raises for nothing": "F.interpolate(t([1, 1, 2, 2]))",
    "raises for both": "F.interpolate(t([1, 1, 2, 2]), [2, 2], 2.0)",
    "raises for a scale": "F.interpolate(t([1, 1, 2, 2]), scale_factor=-1)",
    "raises for scales": "F.interpolate(t([1, 1, 2, 2]), scale_factor=[1.0, 2.0, 3.0])",
    "raises for align_mode": "F.interpolate(t([1, 1, 2, 2]), [2, 2], mode='bilinear', align_mode=2)",
    "raises for align_corners": "F.interpolate(t([1, 1, 2, 2]), [2, 2], mode='bilinear', align_corners=1)",
    "raises for corners of nearest": "F.interpolate(t([1, 1, 2, 2]), [2, 2], align_corners=True)",
    "raises for area with a scale": "F.interpolate(t([1, 1, 2, 2]), scale_factor=2, mode='area')",
    "raises for a number as size": "F.interpolate(t([1, 1, 2, 2]), 4)",
    "Upsample": "nn.Upsample(size=[4, 5], mode='bilinear')(t([1, 2, 2, 3]))",
    "Upsample/scale": "nn.Upsample(scale_factor=2, mode='bicubic', align_corners=True)(t([1, 2, 3, 3]))",
    "Upsample/text": "str([nn.Upsample([2, 2]), nn.Upsample(scale_factor=2, mode='BILINEAR', "
    "align_corners=True, align_mode=1, data_format='NHWC', name='u')])",
    "UpsamplingNearest2D": "nn.UpsamplingNearest2D(scale_factor=2)(t([1, 2, 2, 3]))",
    "UpsamplingNearest2D/text": "str([nn.UpsamplingNearest2D(4), nn.UpsamplingNearest2D(scale_factor=2, "
    "name='n')])",
    "UpsamplingBilinear2D": "nn.UpsamplingBilinear2D(size=[3, 5])(t([1, 2, 2, 3]))",
    "UpsamplingBilinear2D/text": "str(nn.UpsamplingBilinear2D(scale_factor=[2, 3], data_format='NHWC'))",
    # -- windows
    "unfold": "F.unfold(t([2, 2, 4, 3]), 2)",
    "unfold/all": "F.unfold(t([1, 2, 6, 5]), [2, 3], strides=[2, 1], paddings=[1, 0], dilations=[2, 1])",
    "unfold/four paddings": "F.unfold(t([1, 2, 4, 3]), 3, paddings=[1, 0, 2, 1])",
    "unfold/gradient": "grad(lambda x: F.unfold(x, 2, strides=1, paddings=1), t([1, 2, 3, 3]))",
    "unfold/raises for rank": "F.unfold(t([2, 3, 3]), 2)",
    "unfold/raises for kernel": "F.unfold(t([1, 1, 3, 3]), [2, 2, 2])",
    "unfold/raises for paddings": "F.unfold(t([1, 1, 3, 3]), 2, paddings=[1, 1, 1])",
    "unfold/raises for a large window": "F.unfold(t([1, 1, 3, 3]), 5)",
    "Unfold": "nn.Unfold([2, 2], strides=2)(t([1, 2, 4, 4]))",
    "Unfold/text": "str([nn.Unfold(2), nn.Unfold([2, 3], dilations=2, paddings=1, strides=2, name='u')])",
    "fold": "F.fold(t([2, 8, 6]), [3, 4], 2)",
    "fold/all": "F.fold(t([1, 12, 20]), [6, 5], [2, 3], strides=[2, 1], paddings=[2, 1], dilations=[2, 1])",
    "fold/four paddings": "F.fold(t([1, 4, 4]), [3, 4], 2, strides=[2, 2], paddings=[1, 0, 1, 0])",
    "fold/gradient": "grad(lambda x: F.fold(x, [3, 3], 2, paddings=1), t([1, 8, 16]))",
    "fold/raises for rank": "F.fold(t([1, 1, 4, 4]), 3, 2)",
    "fold/raises for windows": "F.fold(t([1, 4, 5]), [3, 3], 2)",
    "fold/raises for channels": "F.fold(t([1, 5, 4]), [3, 3], 2)",
    "Fold": "nn.Fold([3, 4], 2)(t([2, 8, 6]))",
    "Fold/text": "str(nn.Fold([3, 4], 2))",
    # -- reordered
    "pixel_shuffle": "F.pixel_shuffle(t([2, 8, 2, 3]), 2)",
    "pixel_shuffle/last": "F.pixel_shuffle(t([1, 2, 3, 8]), 2, 'NHWC')",
    "pixel_shuffle/gradient": "grad(lambda x: F.pixel_shuffle(x, 2), t([1, 4, 2, 2]))",
    "pixel_shuffle/raises for channels": "F.pixel_shuffle(t([1, 6, 2, 2]), 2)",
    "pixel_shuffle/raises for a factor": "F.pixel_shuffle(t([1, 4, 2, 2]), 2.0)",
    "pixel_shuffle/raises for a format": "F.pixel_shuffle(t([1, 4, 2, 2]), 2, 'CHW')",
    "PixelShuffle": "nn.PixelShuffle(2)(t([1, 4, 2, 3]))",
    "PixelShuffle/text": "str([nn.PixelShuffle(2), nn.PixelShuffle(3, 'NHWC', 'p')])",
    "PixelShuffle/raises for a factor": "nn.PixelShuffle('2')",
    "pixel_unshuffle": "F.pixel_unshuffle(t([2, 2, 4, 6]), 2)",
    "pixel_unshuffle/last": "F.pixel_unshuffle(t([1, 4, 6, 2]), 2, 'NHWC')",
    "pixel_unshuffle/gradient": "grad(lambda x: F.pixel_unshuffle(x, 2), t([1, 1, 4, 2]))",
    "pixel_unshuffle/raises for a factor": "F.pixel_unshuffle(t([1, 1, 4, 4]), -1)",
    "pixel_unshuffle/raises for size": "F.pixel_unshuffle(t([1, 1, 5, 4]), 2)",
    "PixelUnshuffle": "nn.PixelUnshuffle(2)(t([1, 1, 4, 2]))",
    "PixelUnshuffle/text": "str(nn.PixelUnshuffle(2, 'NHWC'))",
    "channel_shuffle": "F.channel_shuffle(t([1, 6, 2, 2]), 3)",
    "channel_shuffle/last": "F.channel_shuffle(t([1, 2, 2, 6]), 2, 'NHWC')",
    "channel_shuffle/gradient": "grad(lambda x: F.channel_shuffle(x, 3), t([1, 6, 1, 2]))",
    "channel_shuffle/raises for groups": "F.channel_shuffle(t([1, 6, 2, 2]), 4)",
    "ChannelShuffle": "nn.ChannelShuffle(2)(t([1, 6, 2, 2]))",
    "ChannelShuffle/text": "str([nn.ChannelShuffle(2), nn.ChannelShuffle(2, 'NHWC', 'c')])",
    "temporal_shift": "F.temporal_shift(t([6, 8, 2, 1]), 3)",
    "temporal_shift/ratio": "F.temporal_shift(t([4, 5, 1, 2]), 2, shift_ratio=0.4)",
    "temporal_shift/last": "F.temporal_shift(t([4, 1, 2, 8]), 2, 0.2, data_format='NHWC')",
    "temporal_shift/gradient": "grad(lambda x: F.temporal_shift(x, 2), t([4, 4, 1, 2]))",
    "temporal_shift/raises for a format": "F.temporal_shift(t([4, 4, 1, 2]), 2, data_format='HW')",
    "temporal_shift/raises for frames": "F.temporal_shift(t([5, 4, 1, 2]), 2)",
    # -- bent
    "affine_grid": "F.affine_grid(t([2, 2, 3]), [2, 1, 3, 4])",
    "affine_grid/edges": "F.affine_grid(t([2, 2, 3]), [2, 1, 3, 4], align_corners=False)",
    "affine_grid/volume": "F.affine_grid(t([1, 3, 4]), [1, 1, 2, 3, 2])",
    "affine_grid/volume edges": "F.affine_grid(t([1, 3, 4]), [1, 1, 2, 3, 2], align_corners=False)",
    "affine_grid/tensor": "F.affine_grid(t([1, 2, 3]), paddle.to_tensor([1, 3, 2, 3], dtype='int32'))",
    "affine_grid/gradient": "grad(lambda x: F.affine_grid(x, [2, 1, 3, 4]), t([2, 2, 3]))",
    "affine_grid/raises for theta": "F.affine_grid([[1.0]], [1, 1, 2, 2])",
}
for _mode in ("bilinear", "nearest"):
    for _padding in ("zeros", "border", "reflection"):
        for _corners in (True, False):
            _end = f"mode='{_mode}', padding_mode='{_padding}', align_corners={_corners}"
            _name = f"grid_sample/{_mode} {_padding} {_corners}"
            CALLS[_name] = f"F.grid_sample(t([2, 2, 4, 3]), t([2, 3, 5, 2], seed=1) * 1.7, {_end})"
            CALLS[f"{_name} gradient"] = (
                f"grad(lambda x, g: F.grid_sample(x, g, {_end}), t([1, 2, 4, 3]), t([1, 3, 2, 2], seed=1) * "
                "1.7)"
            )
            CALLS[f"{_name} volume"] = (
                f"F.grid_sample(t([1, 2, 2, 3, 4]), t([1, 2, 3, 2, 3], seed=1) * 1.5, {_end})"
            )
            CALLS[f"{_name} volume gradient"] = (
                f"grad(lambda x, g: F.grid_sample(x, g, {_end}), t([1, 1, 2, 3, 2]), "
                "t([1, 1, 3, 2, 3], seed=1) * 1.5)"
            )
CALLS |= {
    "grid_sample/identity": "F.grid_sample(t([1, 1, 3, 4]), F.affine_grid(paddle.to_tensor([[[1.0, 0, 0], "
    "[0, 1, 0]]]), [1, 1, 3, 4]))",
    "grid_sample/raises for a mode": "F.grid_sample(t([1, 1, 3, 3]), t([1, 2, 2, 2]), mode='bicubic')",
    "grid_sample/raises for padding": "F.grid_sample(t([1, 1, 3, 3]), t([1, 2, 2, 2]), padding_mode='wrap')",
    "grid_sample/raises for align_corners": "F.grid_sample(t([1, 1, 3, 3]), t([1, 2, 2, 2]), "
    "align_corners=1)",
    "grid_sample/raises for a grid": "F.grid_sample(t([1, 1, 3, 3]), t([1, 2, 2, 3]))",
    "grid_sample/raises for batch": "F.grid_sample(t([1, 1, 3, 3]), t([2, 2, 2, 2]))",
}
