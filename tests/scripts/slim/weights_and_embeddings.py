"""The page of functions of PaddleSlim: weights alone, and embeddings, as integers."""

import logging

import numpy as np
import paddle
import paddleslim.quant as quant

logging.disable(logging.WARNING)
paddle.enable_static()
paddle.seed(3)
exe = paddle.static.Executor(paddle.CPUPlace())

image = paddle.static.data(name="x", shape=[None, 1, 8, 8], dtype="float32")
conv = paddle.static.nn.conv2d(image, 8, 3)
feat = paddle.static.nn.fc(conv, 10, activation="softmax")
exe.run(paddle.static.default_startup_program())
paddle.static.save_inference_model("./model/float", [image], [feat], exe)
quant.quant_post_dynamic(
    model_dir="./model",
    save_model_dir="./weights",
    model_filename="float.pdmodel",
    params_filename="float.pdiparams",
    generate_test_model=True,
)
data = np.random.default_rng(0).normal(size=(4, 1, 8, 8)).astype("float32")
for prefix in ("model/float", "weights/test_model/model"):
    program, feeds, fetches = paddle.static.load_inference_model(prefix, exe)
    (answer,) = exe.run(program, feed={feeds[0]: data}, fetch_list=fetches)
    print(prefix, " ".join(f"{v:.4f}" for v in answer[0, :5]))
paddle.static.load_inference_model("weights/quantized_model/model", exe)
for name in ("conv2d_0.w_0", "fc_0.w_0"):
    weight = np.array(paddle.static.global_scope().find_var(name).get_tensor())
    print(name, weight.dtype, weight.shape, np.abs(weight.astype("int32")).sum())

words = paddle.static.Program()
startup = paddle.static.Program()
with paddle.static.program_guard(words, startup):
    ids = paddle.static.data(name="word", shape=[None, 1], dtype="int64")
    uniform = paddle.nn.initializer.Uniform(-0.005, 0.005)
    rows = paddle.static.nn.embedding(ids, [100, 16], param_attr=paddle.ParamAttr("emb", initializer=uniform))
    total = paddle.sum(paddle.abs(rows), axis=-1)
infer = words.clone(for_test=True)
exe.run(startup)
feed = {"word": np.array([[0], [7], [99]])}
print(" ".join(f"{v:.5f}" for v in exe.run(infer, feed=feed, fetch_list=[total.name])[0].ravel()))
for kind in ("abs_max", "log"):
    exe.run(startup)
    config = {"quantize_op_types": ["lookup_table_v2"], "lookup_table_v2": {"quantize_type": kind}}
    made = quant.quant_embedding(infer, exe.place, config)
    (seen,) = exe.run(made, feed=feed, fetch_list=[total.name])
    print(kind, " ".join(f"{v:.5f}" for v in seen.ravel()))
    table = np.array(paddle.static.global_scope().find_var("emb.int").get_tensor())
    print(table.dtype, table.shape, table.min(), table.max())
    print([op.type for op in made.global_block().ops][:2])
