"""Small things that scripts lean on: flags, devices, places, older paths, helpers of nested values, seeds."""

CALLS: dict[str, str] = {
    "version": "paddle.__version__",
    "in_dynamic_mode": "paddle.in_dynamic_mode()",
    "in_dynamic_mode/static": (
        "paddle.enable_static()\nfound = paddle.in_dynamic_mode()\npaddle.disable_static()\nfound"
    ),
    "is_compiled_with_cuda": "paddle.is_compiled_with_cuda()",
    "is_compiled_with": (
        "(paddle.is_compiled_with_rocm(), paddle.is_compiled_with_xpu(), paddle.is_compiled_with_cinn(), "
        "paddle.is_compiled_with_custom_device('npu'))"
    ),
    "device/get": "paddle.device.get_device()",
    "device/set": "str(paddle.set_device('cpu'))",
    "device/all types": "paddle.device.get_all_device_type()",
    "device/cuda count": "paddle.device.cuda.device_count()",
    "CPUPlace": "(str(paddle.CPUPlace()), repr(paddle.CPUPlace()))",
    "CPUPlace/is": "t([1]).place.is_cpu_place()",
    "to_tensor/place": "str(paddle.to_tensor([1.0], place=paddle.CPUPlace()).place)",
    "seed/type": "type(paddle.seed(3)).__name__",
    "rng state/repeats": (
        "paddle.seed(5)\ns = paddle.get_rng_state()\na = paddle.rand([3])\npaddle.set_rng_state(s)\n"
        "bool((a == paddle.rand([3])).all())"
    ),
    "utils/flatten": "paddle.utils.flatten({'b': [1, (2, 3)], 'a': 4})",
    "utils/map_structure": "paddle.utils.map_structure(lambda x: x + 1, {'a': [1, 2], 'b': (3,)})",
    "utils/pack_sequence_as": "paddle.utils.pack_sequence_as({'a': [0, 0], 'b': 0}, [1, 2, 3])",
    "utils/unique_name": (
        "with paddle.utils.unique_name.guard():\n"
        "    names = [paddle.utils.unique_name.generate('fc') for n in range(3)]\nnames"
    ),
    "utils/unique_name prefix": (
        "with paddle.utils.unique_name.guard('A_'):\n    name = paddle.utils.unique_name.generate('fc')\nname"
    ),
    "utils/unique_name layer": (
        "with paddle.utils.unique_name.guard('A_'):\n    l = nn.Linear(1, 1)\n(l.full_name(), l.weight.name)"
    ),
    "utils/try_import": "paddle.utils.try_import('json').dumps([1])",
    "utils/try_import/raises": "paddle.utils.try_import('no_such_module_at_all')",
    "batch": "[b for b in paddle.batch(lambda: iter(range(5)), 2)()]",
    "batch/drop_last": "[b for b in paddle.batch(lambda: iter(range(5)), 2, drop_last=True)()]",
    "reader/shuffle": "sorted(paddle.reader.shuffle(lambda: iter(range(5)), 3)())",
    "reader/firstn": "list(paddle.reader.firstn(lambda: iter(range(5)), 2)())",
    "reader/chain": "list(paddle.reader.chain(lambda: iter([1]), lambda: iter([2]))())",
    "reader/map_readers": "list(paddle.reader.map_readers(lambda x: x * 2, lambda: iter(range(3)))())",
    "reader/compose": "list(paddle.reader.compose(lambda: iter([1, 2]), lambda: iter([3, 4]))())",
    "reader/buffered": "list(paddle.reader.buffered(lambda: iter(range(3)), 2)())",
    "reader/cache": "list(paddle.reader.cache(lambda: iter(range(3)))())",
    "base/to_variable": "paddle.base.dygraph.to_variable(np.array([1.5, 2.5], 'float32'))",
    "base/guard": "with paddle.base.dygraph.guard():\n    x = t([2]) * 2\nx",
    "base/names": "(paddle.base.ParamAttr is paddle.ParamAttr, str(paddle.base.CPUPlace()))",
    "framework/use_pir_api": "paddle.framework.use_pir_api()",
    "framework/in_pir_mode": "paddle.framework.in_pir_mode()",
    "ParamAttr/fields": (
        "a = paddle.ParamAttr(name='w', learning_rate=0.5, trainable=False)\n"
        "(a.name, a.learning_rate, a.trainable, a.do_model_average, a.need_clip, a.initializer, "
        "a.regularizer)"
    ),
    "regularizer/text": "(str(paddle.regularizer.L2Decay(0.5)), str(paddle.regularizer.L1Decay(0.25)))",
    "get_flags": "paddle.get_flags('FLAGS_check_nan_inf')",
    "set_flags/raises for another type": "paddle.set_flags('FLAGS_check_nan_inf')",
    "get_flags/raises for none": "paddle.get_flags('FLAGS_that_is_none')",
    "iinfo/text": "str(paddle.iinfo('int16'))",
    "finfo/text": "str(paddle.finfo('float64'))",
    "iinfo/raises for floats": "paddle.iinfo('float32')",
    "image backend": (
        "paddle.vision.set_image_backend('cv2')\nfound = paddle.vision.get_image_backend()\n"
        "paddle.vision.set_image_backend('pil')\n(found, paddle.vision.get_image_backend())"
    ),
    "image backend/raises": "paddle.vision.set_image_backend('jpeg')",
    "create_parameter/function": (
        "p = paddle.create_parameter([2], 'float32', default_initializer=nn.initializer.Constant(0.5))\n"
        "(p.name, p.detach())"
    ),
    "numel/type": "(type(t([2]).size).__name__, paddle.numel(t([2, 3])).shape)",
    "Tensor/is a type": (
        "(isinstance(t([1]), paddle.Tensor), isinstance(nn.Linear(1, 1).weight, paddle.Tensor))"
    ),
    "Tensor/name": "t([1]).name.rpartition('_')[0]",
    "Tensor/set name": "x = t([1])\nx.name = 'mine'\nx.name",
    "Tensor/persistable": (
        "x = t([1])\nx.persistable = True\n(x.persistable, nn.Linear(1, 1).weight.persistable)"
    ),
    "Tensor/type": "str(t([1]).type)",
    "Tensor/block": "nn.Linear(1, 1).weight.trainable",
    "add_n": "paddle.add_n([t([2]), t([2], seed=1)])",
    "increment": "paddle.increment(paddle.to_tensor([1.0]), 2.0)",
    "shape": "paddle.shape(t([2, 3]))",
    "rank": "paddle.rank(t([2, 3]))",
    "is_empty": "(paddle.is_empty(paddle.zeros([0])), paddle.is_empty(t([1])))",
    "tolist": "paddle.tolist(paddle.to_tensor([[1, 2]]))",
    "DataParallel": "paddle.DataParallel(formula(nn.Linear(2, 1)))(t([1, 2])).detach()",
    "jit/InputSpec text": "repr(paddle.static.InputSpec([None, 3], 'float32', 'x'))",
    "jit/InputSpec from_tensor": "repr(paddle.static.InputSpec.from_tensor(t([2, 3]), name='x'))",
    "jit/InputSpec batch": "s = paddle.static.InputSpec([3], 'float32', 'x')\ns.batch(4)\nrepr(s)",
    "jit/InputSpec unbatch": "s = paddle.static.InputSpec([4, 3], 'float32', 'x')\ns.unbatch()\nrepr(s)",
    "jit/InputSpec equal": (
        "S = paddle.static.InputSpec\n"
        "(S([1], 'float32') == S([1], 'float32'), S([1], 'float32') == S([2], 'float32'))"
    ),
}
