"""Names of Paddle that are absent on purpose, with the reason that error messages give."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from engine.core.alias import alias_name

_LOD = "works on LoD tensors (rows of sequences of uneven lengths) in a way that is absent here; {instead}"
_IPU = "is for Graphcore's IPUs, which the engine does not support"

_PRUNING = "cuts networks smaller, which is not possible here; quantize them with paddleslim.quant"
_NAS = "searches for networks, which is not possible here; `model-studio sweep` tries a list of them"
_QUANT_HPO = "tries options of quantization one by one; call paddleslim.quant.quant_post_static for each"
_WITH_INFERMODEL = (
    "trains a network that was saved for prediction; build its Program and use paddleslim.quant.quant_aware"
)

ABSENT: dict[str, dict[str, str]] = {
    "paddle.static": {
        **dict.fromkeys(("IpuCompiledProgram", "IpuStrategy", "ipu_shard_guard", "set_ipu_shard"), _IPU),
        "xpu_places": "is for Baidu's XPUs, which the engine does not support; use cpu_places or cuda_places",
    },
    "paddle.nn.quant.quant_layers": dict.fromkeys(
        ("QuantizedColumnParallelLinear", "QuantizedRowParallelLinear"),
        "cuts a weight over several processes, which is not possible here; use QuantizedLinear",
    ),
    "paddle.fluid": {
        "communicator": "belongs to parameter servers, which do not exist here; use paddle.distributed",
        **dict.fromkeys(("debugger", "graphviz"), "draws Programs with Graphviz; print them"),
        "incubate": "has no form of fluid's here; use paddle.distributed.fleet and paddle.incubate",
        **dict.fromkeys(
            ("AsyncExecutor", "DataFeedDesc", "DatasetFactory", "dataset"),
            "reads files by Paddle's C++ data feed; yield their rows to fluid.io.DataLoader.from_generator",
        ),
        "recordio_writer": "writes recordio files, which do not exist here; use fluid.io.DataLoader",
    },
    "paddle.fluid.contrib": {
        "slim": "has no form of fluid's here; use paddle.quantization",
        "model_stat": "has no form of fluid's here; use paddle.summary and paddle.flops",
        **dict.fromkeys(
            ("memory_usage", "memory_usage_calc"),
            "estimates the memory of Paddle's operators; watch the process's memory instead",
        ),
        **dict.fromkeys(
            ("Calibrator", "QuantizeTranspiler", "quantize"),
            "has no form of fluid's here; use paddleslim.quant",
        ),
        **dict.fromkeys(
            ("BeamSearchDecoder", "InitState", "StateCell", "TrainingDecoder", "decoder"),
            "has no form here; use layers.DynamicRNN to train, and layers.beam_search in a While to decode",
        ),
        **dict.fromkeys(
            ("HDFSClient", "lookup_table_utils", "multi_download", "multi_upload", "utils"),
            "belongs to parameter servers, which do not exist here; read local files",
        ),
        **dict.fromkeys(
            ("CheckpointConfig", "Inferencer", "Trainer", "inferencer", "trainer"),
            "is the trainer of 0.13; use an Executor, or paddle.Model",
        ),
        **dict.fromkeys(
            ("extend_optimizer", "extend_with_decoupled_weight_decay"),
            "makes an optimizer's class; use paddle.optimizer.AdamW, or assign the decayed parameters first",
        ),
        "op_freq_statistic": "counts operators; count those of program.global_block().ops",
        "summary": "has no form of fluid's here; use paddle.summary and paddle.flops",
    },
    "paddle.fluid.contrib.layers": {
        **dict.fromkeys(
            (
                "batch_fc",
                "ctr_metric_bundle",
                "fused_embedding_seq_pool",
                "match_matrix_tensor",
                "partial_concat",
                "partial_sum",
                "rank_attention",
                "search_pyramid_hash",
                "sequence_topk_avg_pooling",
                "shuffle_batch",
                "tdm_child",
                "tdm_sampler",
                "var_conv_2d",
            ),
            "is a kernel for ranking models, which does not exist here; build it from fluid.layers",
        ),
        "fused_elemwise_activation": "is two operators in one; use layers.elementwise_add(x, y, act='relu')",
        "multiclass_nms2": "has no form of fluid's here; use layers.multiclass_nms",
        "tree_conv": "convolves trees given as edges; use geometric.send_u_recv on the edges",
    },
    "paddle.fluid.layers": {
        **dict.fromkeys(
            (
                "array_to_lod_tensor",
                "lod_tensor_to_array",
                "merge_lod_tensor",
                "shrink_memory",
                "split_lod_tensor",
                "filter_by_instag",
            ),
            _LOD.format(
                instead="use layers.dynamic_lstm or dynamic_gru, or layers.sequence_pad and layers.rnn"
            ),
        ),
        **dict.fromkeys(
            (
                "bipartite_match",
                "target_assign",
                "ssd_loss",
                "detection_map",
                "rpn_target_assign",
                "retinanet_target_assign",
                "retinanet_detection_output",
                "generate_proposal_labels",
                "generate_mask_labels",
                "box_decoder_and_assign",
                "collect_fpn_proposals",
            ),
            _LOD.format(
                instead="match boxes with layers.iou_similarity and code them with layers.box_coder, or use "
                "layers.yolov3_loss"
            ),
        ),
        "generate_proposals": (
            "scales boxes by an image's own factor; use vision.ops.generate_proposals, which takes sizes"
        ),
        "tree_conv": "convolves trees given as edges; use geometric.send_u_recv on the edges",
        "locality_aware_nms": "merges boxes while it drops them; use layers.multiclass_nms",
        **dict.fromkeys(
            ("prroi_pool", "deformable_roi_pooling", "roi_perspective_transform"),
            "has no kernel here; use layers.roi_align, or layers.grid_sampler for points of one's own",
        ),
        **dict.fromkeys(
            ("save", "load", "save_combine", "load_combine"),
            "reads or writes a file while the Program runs; use fluid.io.save_vars and load_vars",
        ),
        **dict.fromkeys(
            ("Send", "Recv", "ListenAndServ"),
            "belongs to parameter servers, which do not exist here; use paddle.distributed",
        ),
        **dict.fromkeys(
            ("batch", "shuffle"),
            "changes a reader within a Program; use paddle.batch and paddle.reader.shuffle on the generator",
        ),
        **dict.fromkeys(
            ("open_recordio_file", "open_files", "random_data_generator", "Preprocessor", "multi_pass"),
            "reads recordio files, which do not exist here; use fluid.io.DataLoader.from_generator",
        ),
        **{
            name: f"has no form of fluid's here; use {modern}"
            for name, modern in {
                "hash": "an Embedding of ids that Python hashes",
                "similarity_focus": "layers.argmax along the dimensions and layers.one_hot",
                "continuous_value_model": "layers.log of the columns and layers.concat",
            }.items()
        },
        **dict.fromkeys(
            ("merge_selected_rows", "get_tensor_from_selected_rows"),
            "works on gradients of the rows used only; gradients are dense here: use them as they are",
        ),
    },
    "paddle.static.quantization": {
        **dict.fromkeys(
            (
                "AddQuantDequantForInferencePass",
                "AddQuantDequantPass",
                "AddQuantDequantPassV2",
                "ConvertToInt8Pass",
                "OutScaleForInferencePass",
                "OutScaleForTrainingPass",
                "Quant2Int8MkldnnPass",
                "QuantInt8MkldnnPass",
                "QuantWeightPass",
                "QuantizationFreezePass",
                "QuantizationTransformPass",
                "QuantizationTransformPassV2",
                "ReplaceFakeQuantDequantPass",
                "TransformForMobilePass",
            ),
            "changes Paddle's IrGraphs, which do not exist here; use quant_aware and convert on Programs",
        ),
        "quant_config": "lists the operators of Paddle's backends; pass quantize_op_types, or deploy_backend",
        "cal_kl_threshold": "finds one threshold; use PostTrainingQuantization(algo='KL')",
        "adaround": "is chosen by PostTrainingQuantization(round_type='adaround')",
    },
    "paddleslim": {
        **dict.fromkeys(
            (
                "prune",
                "Pruner",
                "FilterPruner",
                "UnstructuredPruner",
                "L1NormFilterPruner",
                "L2NormFilterPruner",
                "FPGMFilterPruner",
                "GMPUnstructuredPruner",
            ),
            _PRUNING,
        ),
        "nas": _NAS,
        **dict.fromkeys(
            ("dist", "Distill", "lc"),
            "teaches one network by another; add both outputs to the loss of one's own training",
        ),
        **dict.fromkeys(
            ("auto_compression", "ACT"),
            "chooses among ways of compression; use paddleslim.quant",
        ),
        **dict.fromkeys(("analysis", "flops", "dygraph_flops"), "counts operations; use paddle.flops"),
        "model_size": "counts parameters; use paddle.summary, or len(program.all_parameters())",
        **dict.fromkeys(("common", "core"), "is PaddleSlim's inside; use Python's logging, and Programs"),
        **dict.fromkeys(
            ("Reparameter", "RepVGGConfig", "DBBRepConfig", "ACBRepConfig"),
            "merges branches of convolutions after training; save with optimize=True, which folds batch norm",
        ),
    },
    "paddleslim.models": {
        **dict.fromkeys(
            ("SlimFaceNet_A_x0_60", "SlimFaceNet_B_x0_75", "SlimFaceNet_C_x0_75", "SlimMobileNet_v1"),
            "is a network of a search; use paddleslim.models.MobileNetV2 or paddle.vision.models",
        ),
        "dygraph": "is the dynamic form; use paddle.vision.models",
    },
    "paddleslim.quant": {
        "quant_post_hpo": _QUANT_HPO,
        **dict.fromkeys(("quant_aware_with_infermodel", "export_quant_infermodel"), _WITH_INFERMODEL),
        "quant_recon_static": (
            "learns the rounding of weights block by block; use quant_post_static(round_type='adaround')"
        ),
        "analysis": "plots the cost of quantization; `model-studio quantize` prints it, layer by layer",
        **dict.fromkeys(
            ("SlimQAT", "SlimQuantConfig", "constraints", "nn"),
            "folds batch norms while it trains; use paddle.quantization.QAT and save with optimize=True",
        ),
        "advanced": "prepares large language models; use paddle.nn.quant.weight_quantize",
        "layers": "quantizes layers that are cut over several processes; those do not exist here",
    },
    "paddleslim.dygraph": {
        **dict.fromkeys(("prune", "L1NormFilterPruner", "L2NormFilterPruner", "FPGMFilterPruner"), _PRUNING),
        "dist": "teaches one network by another; add both outputs to the loss of one's own training",
        "rep": "merges branches of convolutions after training; save with optimize=True",
    },
    "paddle.distributed.fleet": {
        **dict.fromkeys(
            (
                "MultiSlotDataGenerator",
                "MultiSlotStringDataGenerator",
                "init_server",
                "run_server",
                "server_index",
                "load_model",
                "load_one_table",
                "save_one_table",
                "save_dense_params",
                "save_cache_model",
                "save_cache_table",
                "shrink",
                "init_coordinator",
                "get_fl_client",
                "make_fl_strategy",
                "is_coordinator",
            ),
            "belongs to parameter servers, which do not exist here; use fleet.init(is_collective=True)",
        ),
        **dict.fromkeys(
            (
                "CommunicateTopology",
                "HybridCommunicateGroup",
                "get_hybrid_communicate_group",
                "meta_parallel",
                "auto",
                "collective_perf",
                "layers",
            ),
            "belongs to training that cuts the network into parts; only data-parallel training exists: use "
            "paddle.distributed.get_rank, get_world_size and new_group",
        ),
        **dict.fromkeys(
            ("save_persistables", "load_inference_model"),
            "saves and loads for parameter servers; use paddle.static.save and load in one process",
        ),
        "save_inference_model": "is paddle.static.save_inference_model: call that in fleet's first worker",
        "distributed_scaler": "is for training in parts; use paddle.amp.GradScaler as it is",
    },
    "paddle.distributed.fleet.utils": {
        "DistributedInfer": "belongs to parameter servers, which do not exist here; use paddle.inference",
        "HDFSClient": "runs the hadoop command; call that with subprocess",
        "LocalFS": "wraps Python's own functions; use pathlib and shutil",
    },
    "paddle.incubate.nn.functional": {
        "block_multihead_attention": (
            "serves many requests on a GPU from paged caches; use masked_multihead_attention"
        ),
    },
}


def reason(owner: str, name: str) -> str | None:
    """The reason why ``name`` of Paddle's module ``owner`` is absent here; None where there is none."""
    return ABSENT.get(owner, {}).get(name)


def refusing(module: str) -> Callable[[str], Any]:
    """A ``__getattr__`` for a module of the engine, whose AttributeError gives the reason."""
    owner = alias_name(module)

    def __getattr__(name: str) -> Any:
        why = reason(owner, name)
        message = f"module {module!r} has no attribute {name!r}"
        if why is not None:
            message = f"{owner}.{name}: is absent: it {why}"
        raise AttributeError(message, name=name, obj=sys.modules[module])

    return __getattr__
