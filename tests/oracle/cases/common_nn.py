"""Linear and bilinear maps, dropout, embeddings, distances, masks, beams."""

_BEAMS = (
    "emb = formula(nn.Embedding(7, 4))\ncell = formula(nn.{cell}(4, 4))\nhead = formula(nn.Linear(4, 7))\n"
    "decoder = nn.BeamSearchDecoder(cell, start_token=0, end_token=1, beam_size={beams}, embedding_fn=emb, "
    "output_fn=lambda x: head(x) * 4)\nstart = cell.get_initial_states(t([2, 4]))\n"
)
_DROPPED = "x = paddle.ones([64, 64])\ny = {}\n[y.shape, round(float((y == 0).astype('float32').mean()), 1), "
_KEPT = "float(y.max())]"

CALLS: dict[str, str] = {
    "linear": "F.linear(t([2, 3, 4]), t([4, 5], seed=1), t([5], seed=2))",
    "linear/no bias": "F.linear(t([4]), t([4, 5], seed=1))",
    "linear/gradient": "grad(F.linear, t([2, 4]), t([4, 3], seed=1), t([3], seed=2))",
    "linear/raises": "F.linear(t([2, 3]), t([4, 5]))",
    "Linear/text": "[str(nn.Linear(3, 4)), str(nn.Linear(3, 4, bias_attr=False, name='x')), "
    "nn.Linear(2, 3, bias_attr=False).bias is None]",
    "bilinear": "F.bilinear(t([2, 3]), t([2, 4], seed=1), t([5, 3, 4], seed=2), t([1, 5], seed=3))",
    "bilinear/no bias": "F.bilinear(t([2, 3]), t([2, 4], seed=1), t([5, 3, 4], seed=2))",
    "bilinear/gradient": "grad(F.bilinear, t([2, 3]), t([2, 4], seed=1), t([5, 3, 4], seed=2), t([1, 5], "
    "seed=3))",
    "bilinear/raises": "F.bilinear(t([2, 3]), t([2, 4]), t([5, 4, 3]))",
    "Bilinear": "net = formula(nn.Bilinear(3, 4, 5))\n[net(t([2, 3]), t([2, 4])), str(net), "
    "list(net.state_dict())]",
    "cosine_similarity": "F.cosine_similarity(t([2, 3, 4]), t([2, 3, 4], seed=1))",
    "cosine_similarity/axis": "F.cosine_similarity(t([2, 3]), t([3], seed=1), axis=-1)",
    "cosine_similarity/zero": "F.cosine_similarity(paddle.zeros([1, 3]), t([1, 3]))",
    "cosine_similarity/gradient": "grad(F.cosine_similarity, t([2, 3]), t([2, 3], seed=1))",
    "CosineSimilarity": "[nn.CosineSimilarity(0, 0.5)(t([2, 3]), t([2, 3], seed=1)), "
    "str(nn.CosineSimilarity(0, 0.5))]",
    "pairwise_distance": "F.pairwise_distance(t([2, 3]), t([2, 3], seed=1))",
    **{
        f"pairwise_distance/{name}": f"F.pairwise_distance(t([2, 3]), t([2, 3], seed=1), p={p}, keepdim=True)"
        for name,
        p in (("1", "1"), ("3", "3.0"), ("inf", "float('inf')"), ("-inf", "float('-inf')"), ("0", "0"))
    },
    **{
        f"pairwise_distance/{p} gradient": f"grad(lambda x, y: F.pairwise_distance(x, y, p={p}), t([2, 3]), "
        "t([2, 3], seed=1))"
        for p in ("1", "2", "3", "float('inf')")
    },
    "pairwise_distance/broadcast": "F.pairwise_distance(t([2, 3]), t([3], seed=1), epsilon=0.0)",
    "pairwise_distance/vectors": "F.pairwise_distance(t([3]), t([3], seed=1))",
    "PairwiseDistance/text": "[str(nn.PairwiseDistance()), str(nn.PairwiseDistance(1, 0.1, True, "
    "name='d'))]",
    "dropout/eval": "F.dropout(t([2, 3]), 0.4, training=False)",
    "dropout/eval downscale": "F.dropout(t([2, 3]), 0.4, training=False, mode='downscale_in_infer')",
    "dropout/eval axis downscale": "F.dropout(t([2, 3]), 0.4, axis=0, training=False, "
    "mode='downscale_in_infer')",
    "dropout/none": "F.dropout(t([2, 3]), 0.0)",
    "dropout/all": "F.dropout(t([2, 3]), 1.0)",
    "dropout/share": _DROPPED.format("F.dropout(x, 0.3)") + _KEPT,
    "dropout/downscale": _DROPPED.format("F.dropout(x, 0.3, mode='downscale_in_infer')") + _KEPT,
    "dropout/axis": _DROPPED.format("F.dropout(x, 0.5, axis=1)") + "float(y.std(axis=0).max())]",
    "dropout/axes": _DROPPED.format("F.dropout(x, 0.3, axis=[0, 1])") + _KEPT,
    "dropout/gradient eval": "grad(lambda x: F.dropout(x, 0.4, training=False), t([2, 3]))",
    "dropout/raises p": "F.dropout(t([2]), 1.5)",
    "dropout/raises type": "F.dropout(t([2]), 'half')",
    "dropout/raises mode": "F.dropout(t([2]), 0.5, mode='scale')",
    "dropout/raises axis": "F.dropout(t([2, 3]), 0.5, axis=2)",
    "dropout2d/eval": "F.dropout2d(t([1, 2, 2, 2]), training=False)",
    "dropout2d/whole channels": "y = F.dropout2d(paddle.ones([32, 8, 3, 3]))\nfloat(y.std(axis=[2, "
    "3]).max())",
    "dropout2d/channels last": "y = F.dropout2d(paddle.ones([32, 3, 3, 8]), data_format='NHWC')\n"
    "float(y.std(axis=[1, 2]).max())",
    "dropout2d/raises rank": "F.dropout2d(t([2, 3]))",
    "dropout2d/raises format": "F.dropout2d(t([1, 2, 2, 2]), data_format='NCWH')",
    "dropout3d/whole channels": "y = F.dropout3d(paddle.ones([32, 8, 2, 2, 2]))\nfloat(y.std(axis=[2, 3, "
    "4]).max())",
    "dropout3d/raises rank": "F.dropout3d(t([2, 3, 4, 5]))",
    "dropout3d/raises format": "F.dropout3d(t([1, 2, 2, 2, 2]), data_format='NCHW')",
    "alpha_dropout/eval": "F.alpha_dropout(t([2, 3]), training=False)",
    "alpha_dropout/all": "F.alpha_dropout(t([2, 3]), 1.0)",
    "alpha_dropout/values": "y = F.alpha_dropout(paddle.ones([64, 64]), 0.3)\n"
    "[float(y.min()), float(y.max()), round(float((y == y.min()).astype('float32').mean()), 1)]",
    "alpha_dropout/raises p": "F.alpha_dropout(t([2]), -0.1)",
    "alpha_dropout/raises type": "F.alpha_dropout(t([2]), 'half')",
    "Dropout/texts": "[str(nn.Dropout(0.3)), str(nn.Dropout(axis=[0, 1], mode='downscale_in_infer', "
    "name='d')), "
    "str(nn.Dropout2D()), str(nn.Dropout3D(0.2)), str(nn.AlphaDropout(name='a'))]",
    "Dropout/eval": "nets = [nn.Dropout(), nn.Dropout2D(), nn.AlphaDropout()]\n[n.eval() for n in nets]\n"
    "[n(t([1, 2, 2, 2])) for n in nets]",
    "embedding": "F.embedding(ints([2, 3], 5), t([5, 2]))",
    "embedding/int32": "F.embedding(ints([3], 5, 'int32'), t([5, 2]))",
    "embedding/0d": "F.embedding(paddle.to_tensor(2), t([5, 2]))",
    "embedding/padding": "F.embedding(paddle.to_tensor([0, 1, 4]), t([5, 2]), padding_idx=1)",
    "embedding/negative padding": "F.embedding(paddle.to_tensor([0, 1, 4]), t([5, 2]), padding_idx=-1)",
    "embedding/gradient": "grad(lambda w: F.embedding(paddle.to_tensor([0, 1, 4, 0]), w, padding_idx=1), "
    "t([5, 2]))",
    "embedding/raises padding": "F.embedding(ints([2], 5), t([5, 2]), padding_idx=5)",
    "embedding/raises row": "F.embedding(paddle.to_tensor([5]), t([5, 2]))",
    "embedding/raises dtype": "F.embedding(t([2]), t([5, 2]))",
    "Embedding": "net = formula(nn.Embedding(5, 2, padding_idx=1))\n[net(ints([3], 5)), str(net), "
    "net.weight.shape]",
    "Embedding/raises rows": "nn.Embedding(0, 2)",
    "Embedding/raises size": "nn.Embedding(3, 0)",
    "Embedding/raises padding": "nn.Embedding(3, 2, padding_idx=3)",
    "one_hot": "F.one_hot(ints([2, 3], 4), 5)",
    "one_hot/0d": "F.one_hot(paddle.to_tensor(2), 4)",
    "label_smooth": "F.label_smooth(F.one_hot(ints([3], 4), 4), epsilon=0.2)",
    "label_smooth/prior": "F.label_smooth(F.one_hot(ints([3], 4), 4), pos([1, 4]), epsilon=0.2)",
    "label_smooth/raises": "F.label_smooth(pos([3, 4]), epsilon=1.5)",
    "Flatten": "[nn.Flatten()(t([2, 3, 4])), nn.Flatten(0, 1)(t([2, 3, 4])), str(nn.Flatten())]",
    "Unflatten": "[nn.Unflatten(1, [2, -1])(t([2, 6])), nn.Unflatten(-1, (3, 2))(t([2, 6])), "
    "str(nn.Unflatten(1, [2, 3]))]",
    "Identity": "[nn.Identity(3, a=4)(t([2])), str(nn.Identity())]",
    "sequence_mask": "F.sequence_mask(paddle.to_tensor([1, 3, 0]))",
    "sequence_mask/maxlen": "F.sequence_mask(paddle.to_tensor([[1, 3], [2, 2]]), maxlen=4, dtype='float32')",
    "sequence_mask/shorter": "F.sequence_mask(paddle.to_tensor([1, 3, 2]), maxlen=2, dtype='int32')",
    "gather_tree": "F.gather_tree(ints([3, 2, 2], 9), paddle.to_tensor([[[0, 0], [1, 1]], [[1, 0], [1, 0]], "
    "[[0, 0], [0, 1]]]))",
    "gather_tree/raises rank": "F.gather_tree(ints([3, 2], 9), ints([3, 2], 2))",
    "diag_embed": "[F.diag_embed(t([2, 3])), F.diag_embed(t([3]), offset=1), F.diag_embed(t([2, 3]), "
    "dim1=0, dim2=2)]",
    "class_center_sample": "label, classes = F.class_center_sample(paddle.to_tensor([3, 7, 3, 9]), 20, 6)\n"
    "[label, classes[:3], len(set(classes.tolist())), classes.dtype]",
    "class_center_sample/too many": "F.class_center_sample(paddle.to_tensor([3, 7, 3, 9]), 20, 2)",
    "class_center_sample/raises samples": "F.class_center_sample(paddle.to_tensor([3]), 5, 6)",
    "class_center_sample/raises rank": "F.class_center_sample(paddle.to_tensor([[3]]), 5, 2)",
    "decode/GRU": _BEAMS.format(cell="GRUCell", beams=3)
    + "out, states, lengths = nn.dynamic_decode(decoder, start, max_step_num=5, return_length=True)\n"
    "[out, lengths, states.log_probs, states.cell_states, states.finished]",
    "decode/LSTM": _BEAMS.format(cell="LSTMCell", beams=2)
    + "out, states = nn.dynamic_decode(decoder, start, max_step_num=4, output_time_major=True)\n"
    "[out, states.lengths]",
    "decode/one beam": _BEAMS.format(cell="SimpleRNNCell", beams=1)
    + "out, states = nn.dynamic_decode(decoder, start, max_step_num=6)\nout",
    "decode/tile": "nn.BeamSearchDecoder.tile_beam_merge_with_batch(t([2, 3, 2]), 2)"
}
