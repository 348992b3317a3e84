"""The tiers of the tests: what every run does, and which groups wait for ``--deep``.

A plain ``pytest`` checks every behaviour once. ``--deep`` adds the groups of ``DEEP``: more dtypes and
devices, real processes that are killed, whole scripts. ``--deep-only`` runs what ``--deep`` adds and nothing
else. A file that the command line names runs whatever its tier; a folder obeys the tier.

``python -m tests.tiers LASTFAILED`` is for CI: it succeeds if the tests that pytest's cache lists as failed
may be repeated once.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Group:
    """Tests that only ``--deep`` runs.

    ``name`` is a folder, a file, ``file::function`` or ``file::function[parameters]``; ``*`` stands for any
    text. ``waits``: its tests wait for other processes, so CI may repeat one that failed once, alone.
    """

    name: str
    reason: str
    waits: bool = False


# ----- the table: tests/arch/test_tiers.py checks that every row matches a test -----

_KILLS = "processes are killed at many points"
_FUZZ = "many damaged inputs; tests/robust/corpus replays the known ones in every run"
_HOST = "CUDA sources are compiled and run on the host"
_STAND_IN = "repeats on the stand-in for a GPU what runs on the CPU"
_DTYPES = "repeats the operator table in other dtypes"
_COMPILED = "compiles many variants of one kernel"
_SCRIPTS = "whole programs, each in a process"
_RANDOM = "many random cases; every run has the chosen ones"
_STEPS = "repeats a step until a leak would show"
_SIZES = "repeats a check of the window at other sizes"
_PROCESSES = "starts a process for each test"
_SEVERAL = "trains or runs in several processes"
_CLUSTER = "starts a cluster of Dask"
_OPTUNA = "imports optuna, 17 MB and 0.2 s"
_STATISTICS = "imports scikit-learn or SciPy"
_RESUMED = "resumes at further steps and with further schedules"
_WINDOW = "repeats in the window what tests of the session check"
_LARGE = "builds or trains a large network"
_LIMIT = "runs until a limit of time ends it"
_BENCH = "checks the tools that measure, not the product"

DEEP = (
    Group("tests/arch/test_conftest.py::test_each_check_*[Qt hidden]", "repeats the checks with Qt hidden"),
    Group("tests/arch/test_tiers.py::test_options_and_names_*", "starts pytest once for each option"),
    Group("tests/bench", _BENCH, waits=True),
    Group("tests/cupy_stand_in", _HOST),
    Group(
        "tests/studio/windows/runs/test_one_name_and_colour.py::test_every_place_shows_the_same_*",
        "opens all pages that show a run",
    ),
    Group(
        "tests/studio/windows/test_number_formats.py::test_the_main_screens_*",
        "reads all texts of all pages",
    ),
    Group("tests/studio/language/test_dialogs.py", "opens each dialog in another language"),
    Group("tests/studio/language/test_pages_with_content.py", "opens pages with content"),
    Group("tests/studio/language/test_switch.py::test_many_switches_*", _STEPS),
    Group("tests/differential/layers/test_with_paddle.py", "applies 700 layers in two processes", waits=True),
    Group(
        "tests/differential/test_with_paddle.py", "calls thousands of functions in two processes", waits=True
    ),
    Group("tests/docs/test_exit_codes.py", "starts the program once for each row", waits=True),
    Group("tests/docs/test_guide.py::test_the_page_on_onnx_runs", _PROCESSES, waits=True),
    Group("tests/docs/test_messages.py::test_each_translated_message_*", "parses the whole engine"),
    Group("tests/docs/test_messages.py::test_messages_of_real_errors_*", "parses the whole engine"),
    Group("tests/docs/test_recipes.py", "copies the repository and runs tests in the copy", waits=True),
    Group("tests/engine/amp/test_on_gpu.py", _STAND_IN),
    Group("tests/engine/debugger/subjects/test_training.py::test_a_later_step_*[further*", _RESUMED),
    Group("tests/engine/device/test_gpu_streams.py", _STAND_IN),
    Group("tests/engine/distributed/launch/test_jobs.py", _SEVERAL, waits=True),
    Group("tests/engine/distributed/test_data_parallel.py", _SEVERAL, waits=True),
    Group("tests/engine/distributed/test_processes.py", _SEVERAL, waits=True),
    Group("tests/engine/distributed/test_spawn.py", _SEVERAL, waits=True),
    Group("tests/engine/distribution/test_samples.py::test_moments", "draws many samples"),
    Group("tests/engine/eager/test_memory.py::test_a_thousand_steps_do_not_grow", _STEPS),
    Group("tests/engine/explain/test_guarded.py::test_errors_*", _PROCESSES, waits=True),
    Group("tests/engine/explain/test_guarded.py::test_limits_*", _PROCESSES, waits=True),
    Group("tests/engine/explain/test_guarded.py::test_answers_*", _PROCESSES, waits=True),
    Group("tests/engine/explain/test_models.py::test_models_of_other_*[onnx]", _PROCESSES),
    Group("tests/engine/explain/test_gpu.py", _STAND_IN),
    Group("tests/engine/explain/test_masking.py", "trains LeNet and explains a hundred digits"),
    Group("tests/engine/explain/test_runs.py", _PROCESSES, waits=True),
    Group("tests/engine/files/test_kills.py", _KILLS, waits=True),
    Group("tests/engine/gpu", _STAND_IN),
    Group("tests/engine/hapi/test_tables.py::test_printed_text_and_result[*ResNet-18]", _LARGE),
    Group(
        "tests/engine/inference/test_verify_model.py::test_a_clean_process_checks_*", _PROCESSES, waits=True
    ),
    Group("tests/engine/inference/test_process.py", _PROCESSES, waits=True),
    Group("tests/engine/io/test_workers.py", _PROCESSES, waits=True),
    Group(
        "tests/engine/jit/constructs/test_constructs.py::test_loaded_*", "repeats each construct from files"
    ),
    Group("tests/engine/jit/convert/test_engine.py::test_random_programs", _RANDOM),
    Group("tests/engine/jit/convert/test_random_programs.py", _RANDOM),
    Group("tests/engine/jit/paddle/test_read.py::test_a_model_gives_the_outputs_*", "reads further models"),
    Group(
        "tests/engine/jit/paddle/test_write.py::test_every_kind_of_model_is_read_again_with_the_same_outputs*",
        "writes further models",
    ),
    Group("tests/engine/jit/test_whole_models.py::test_resnet18", _LARGE),
    Group("tests/engine/kernels/cupy", _HOST),
    Group("tests/engine/kernels/fast/sequences/test_attention.py", _COMPILED),
    *(
        Group(
            f"tests/engine/kernels/fast/sequences/test_recurrent.py::test_compiled_loops_*[*{case}", _COMPILED
        )
        for case in ("sizes1*", "sizes3*", "RNN_RELU]")
    ),
    Group("tests/engine/kernels/fast/sequences/test_recurrent.py::test_weights_that_*[float64*", _COMPILED),
    *(
        Group(f"tests/engine/kernels/fast/test_register_tiles.py::test_{which}_*[avx2*", _COMPILED)
        for which in ("products", "direct", "convolutions")
    ),
    Group("tests/engine/kernels/fast/images/test_pooling_of_planes.py::test_*[*float64*", _COMPILED),
    Group("tests/engine/kernels/fast/images/test_transposed.py::test_they_agree_*[((8, 32*", _COMPILED),
    Group("tests/engine/kernels/fast/images/test_transposed.py::test_they_agree_*[((8, 6*", _COMPILED),
    Group("tests/engine/kernels/fast/images/test_convolution.py", _COMPILED),
    Group("tests/engine/kernels/fast/test_elementwise.py", _COMPILED),
    Group("tests/engine/kernels/fast/images/test_winograd.py", _COMPILED),
    Group("tests/engine/kernels/steps/test_traced.py::test_*_what_kernels_compute", _COMPILED),
    Group("tests/engine/networks/test_eager_and_static.py", "trains whole networks in two dtypes"),
    Group("tests/engine/networks/test_networks.py::test_resnet18", _LARGE),
    Group("tests/engine/ops/test_complex.py", _DTYPES),
    Group("tests/engine/ops/test_dtypes.py", _DTYPES),
    Group("tests/engine/ops/test_freed.py", "repeats the operator table to count what stays in memory"),
    Group("tests/engine/ops/test_on_gpu.py", _STAND_IN),
    Group("tests/engine/ops/test_table.py::test_dtype_is_preserved", _DTYPES),
    Group("tests/engine/ops/test_table.py::test_second_order", "differentiates the operator table twice"),
    Group("tests/engine/onnx/test_layers.py", "runs many layers in two runtimes of ONNX"),
    Group("tests/engine/framework/test_torch_weights.py::test_child_process_reads_*", _PROCESSES, waits=True),
    Group("tests/engine/files/test_packed.py::test_a_foreign_packed_model_*", _PROCESSES, waits=True),
    Group("tests/engine/files/test_packed.py::test_params_must_be_*", _PROCESSES, waits=True),
    Group("tests/golden/test_library.py::test_packed_models_predict[foreign-*", _PROCESSES, waits=True),
    Group("tests/studio/session/runs/report/test_report.py::test_the_command_*", _PROCESSES, waits=True),
    Group("tests/studio/cli/export/test_convert.py::test_an_image_is_classified_*", _PROCESSES, waits=True),
    Group("tests/studio/cli/export/test_deploy.py", _PROCESSES, waits=True),
    Group("tests/studio/cli/export/test_packed_models.py::test_a_third_party_*", _PROCESSES, waits=True),
    Group("tests/engine/onnx/test_limits.py", _PROCESSES, waits=True),
    Group(
        "tests/engine/training/sources/test_memory.py::test_an_npz_is_read_in_place",
        "takes 18 MB to show that no more is taken",
    ),
    Group("tests/engine/training/exporting/test_reverify.py", _PROCESSES, waits=True),
    Group("tests/engine/training/test_several_inputs.py::test_an_export_*", _PROCESSES, waits=True),
    Group("tests/engine/training/quantize/test_run.py::test_one_packed_file_*", _PROCESSES, waits=True),
    Group(
        "tests/engine/training/quantize/test_run.py::test_a_saved_model_is_quantized_*",
        _PROCESSES,
        waits=True,
    ),
    Group("tests/engine/training/quantize/test_run.py::test_the_report_says_*", _PROCESSES, waits=True),
    Group("tests/engine/training/sources/test_memory.py::test_a_csv_file_beyond_*", "reads a large table"),
    Group("tests/engine/files/native/test_installation.py::test_processes_that_*", _PROCESSES, waits=True),
    Group("tests/engine/vision/test_digits.py::test_the_cache_does_not_*", "draws many digits"),
    Group("tests/resources/test_json_documents.py::test_a_short_*", _RANDOM),
    Group("tests/docs/test_model_page.py", _PROCESSES, waits=True),
    Group("tests/docs/test_several_inputs_page.py", _PROCESSES, waits=True),
    Group("tests/engine/onnx/test_networks.py", _LARGE, waits=True),
    Group("tests/engine/onnx/test_node_tests.py", "builds the package's own tests of operators"),
    Group("tests/engine/onnx/test_read_file.py::test_model_is_read_*", _PROCESSES, waits=True),
    Group("tests/engine/onnx/test_read_file.py::test_ten_megabytes_*", "walks over many fields"),
    Group("tests/engine/onnx/test_round_trips.py::test_networks_*", _LARGE),
    Group("tests/engine/onnx/test_regions.py", "runs pooled regions in ONNX Runtime"),
    Group("tests/engine/onnx/test_table.py", "repeats the operator table in two runtimes of ONNX"),
    Group("tests/engine/comparison/test_zoo.py::test_networks_of_the_zoo*", _LARGE),
    Group("tests/engine/comparison/test_pairs.py::*[resnet18]", _LARGE),
    Group("tests/engine/comparison/test_saved_models.py::test_a_model_without_an_end_*", _LIMIT),
    Group("tests/engine/debugger/subjects/test_prediction.py::test_an_endless_loop_*", _LIMIT),
    Group("tests/engine/debugger/subjects/test_rounding.py::*[fast]", _LARGE),
    Group("tests/widgets/program_diagram/test_program_diagram.py::test_random_scenes_*", _RANDOM),
    Group("tests/engine/program/run/stepping/test_networks.py::test_the_model_zoo*", _LARGE),
    Group("tests/engine/program/run/stepping/test_networks.py::test_trainings*", _LARGE),
    Group("tests/engine/program/run/stepping/test_networks.py::test_tutorials*", _SCRIPTS),
    Group("tests/engine/program/run/test_lesser_cpu.py", _RANDOM),
    Group("tests/engine/program/run/frozen/test_blocks.py::test_convolutions[3*", _COMPILED),
    *(
        Group(f"tests/engine/program/run/frozen/test_blocks.py::test_{which}_*[{odd}*", _COMPILED)
        for which in ("activations", "few", "convolutions")
        for odd in ("nan", "inf", "-inf", "3e+38")
    ),
    Group("tests/engine/program/run/test_random_networks.py", _RANDOM),
    Group("tests/engine/program/run/test_training_curves.py", "trains with three seeds"),
    Group("tests/engine/slim/test_models.py::test_a_training_is_made_*", _LARGE),
    Group("tests/engine/static/test_lenet_files.py", _PROCESSES, waits=True),
    Group("tests/engine/test_lenet.py::test_a_thousand_steps_*", _STEPS),
    Group("tests/engine/test_run.py", _PROCESSES, waits=True),
    Group("tests/engine/training/test_gpu_run.py", _STAND_IN),
    Group("tests/engine/training/test_kernel_swap.py::test_a_killed_*", _RESUMED),
    Group("tests/engine/training/test_kernel_swap.py::test_a_resumed_training_*[2]", _RESUMED),
    Group("tests/engine/training/test_kernel_swap.py::test_a_resumed_training_*[5]", _RESUMED),
    Group("tests/engine/training/layers/test_alerts.py::test_built_in_*", "trains all networks"),
    Group("tests/engine/training/test_numbers.py::test_a_quantized_*", "trains and quantizes"),
    Group("tests/engine/training/test_numbers.py::test_other_losses_*", "trains with other losses"),
    Group("tests/engine/training/team/test_processes.py", _SEVERAL, waits=True),
    Group("tests/engine/training/rules/test_rate.py::test_a_resumed_run_*[c*]", _RESUMED),
    Group("tests/engine/training/rules/test_rate.py::test_several_workers_*", _SEVERAL, waits=True),
    Group("tests/engine/training/test_real_training.py::test_a_resumed_run_*[3*]", _RESUMED),
    Group("tests/engine/training/test_real_training.py::test_a_resumed_run_*[9*]", _RESUMED),
    Group("tests/engine/training/test_real_training.py::test_every_checkpoint_*", _RESUMED),
    Group("tests/engine/training/test_real_training.py::test_optimizers_and_*", "resumes every optimizer"),
    Group(
        "tests/engine/training/network/test_recomputing.py::test_a_training_and_its_resume_*[True]", _RESUMED
    ),
    Group("tests/engine/training/suggesting/test_suggested_figures.py", "trains on whole data sets"),
    Group("tests/engine/training/test_training_run.py::test_a_resumed_run_*[1*]", _RESUMED),
    Group("tests/engine/vision/models", "builds and runs every model of the zoo"),
    Group("tests/oracle/test_recorded.py::test_recorded[vision_models*", "builds every model of the zoo"),
    Group("tests/packaging/test_wheel.py", "builds the wheel twice"),
    Group("tests/resources/test_families.py::test_the_largest_*", _LARGE),
    Group("tests/resources/test_json_documents.py::test_eight_*", "documents as large as the limit"),
    Group("tests/resources/test_system_libraries.py::test_a_window_without_*", _PROCESSES, waits=True),
    Group("tests/robust/test_no_network.py::test_commands_and_window_*", _PROCESSES),
    Group("tests/packaging/test_installed.py", "builds the bundle and installs it", waits=True),
    Group("tests/robust/test_agreed_code.py", _PROCESSES, waits=True),
    Group("tests/robust/test_huge_calls.py::test_all_calls_*", "9,000 calls in processes with limits"),
    Group("tests/robust/test_attribute_walk.py", "changes every number of every operator", waits=True),
    Group("tests/robust/test_concurrency.py", "many threads and processes at once", waits=True),
    Group("tests/robust/test_failed_allocations.py", "fails allocations of forked processes", waits=True),
    Group("tests/robust/test_faults_of_*.py", "each file operation of a job fails once", waits=True),
    Group("tests/robust/test_fuzz_readers.py", _FUZZ, waits=True),
    Group("tests/robust/test_hostile_code.py", "opens large sources in a window", waits=True),
    Group("tests/robust/test_hostile_models.py", _FUZZ, waits=True),
    Group("tests/robust/test_killed_processes.py", _KILLS, waits=True),
    Group("tests/robust/test_kills.py", _KILLS, waits=True),
    Group("tests/robust/test_listening.py", _SEVERAL, waits=True),
    Group("tests/robust/test_little_memory.py", "starts processes with little memory", waits=True),
    Group("tests/robust/test_monkey.py", "random actions on the real window", waits=True),
    Group("tests/robust/test_places.py", _PROCESSES, waits=True),
    Group("tests/robust/test_properties_of_programs.py", "many random programs"),
    Group("tests/robust/test_repeated_runs.py", "trains in processes, twice each", waits=True),
    Group("tests/robust/test_shorter_data.py", "trains in processes whose data becomes shorter", waits=True),
    Group("tests/robust/test_slow_disk.py", "waits for a slow disk", waits=True),
    Group("tests/robust/test_slow_window.py", "waits for a slow disk", waits=True),
    Group("tests/robust/test_soak.py", "repeats each action until a leak would show", waits=True),
    Group("tests/robust/test_taken_names.py", _SEVERAL, waits=True),
    Group("tests/robust/test_two_hosts.py", _SEVERAL, waits=True),
    Group("tests/robust/test_wild_calls.py::test_many_*", _RANDOM),
    Group("tests/robust/test_writers.py", _KILLS, waits=True),
    Group("tests/scripts", _SCRIPTS, waits=True),
    Group("tests/seeds", "the blocks of the specification documents", waits=True),
    Group("tests/studio/cli/export/test_raw_export.py", _PROCESSES, waits=True),
    Group("tests/studio/cli/sweep/test_killed_search.py", _CLUSTER, waits=True),
    Group("tests/studio/cli/sweep/test_sweep.py::test_a_search_lists_*", "trains on the command line"),
    Group("tests/studio/cli/sweep/test_sweep.py::test_real_processes_*", _PROCESSES, waits=True),
    Group("tests/studio/cli/test_cli.py::test_ctrl_c_*", _PROCESSES, waits=True),
    Group("tests/studio/cli/test_cli.py::test_an_untrusted_*", _PROCESSES, waits=True),
    Group("tests/studio/cli/export/test_quantize.py::test_the_run_gets_*", _PROCESSES, waits=True),
    Group(
        "tests/studio/cli/export/test_prediction_output.py::test_a_file_that_*[waves*", "three kinds of data"
    ),
    Group("tests/studio/session/test_worker.py::test_a_users_model_*", _PROCESSES, waits=True),
    Group("tests/studio/session/test_worker.py::test_a_mistake_in_*", _PROCESSES, waits=True),
    Group("tests/studio/session/train/test_stall_detector.py::test_a_forward_*", _PROCESSES, waits=True),
    Group("tests/studio/session/sweep/test_runner.py::test_a_halving_goes_on_*", _RESUMED),
    Group("tests/studio/session/predict/test_predict_models.py::test_cancelling_*", _PROCESSES, waits=True),
    Group("tests/studio/session/predict/test_predict_models.py::test_a_stuck_*", _PROCESSES, waits=True),
    Group("tests/studio/windows/checkpoints/test_checkpoints_texts.py", _WINDOW),
    Group("tests/studio/windows/predict/test_raw_inputs.py::test_all_rows_*", _WINDOW),
    Group("tests/studio/windows/predict/test_runs.py::test_a_run_answers_*", _WINDOW, waits=True),
    Group("tests/studio/windows/project/test_session_state.py::test_two_starts_*", _WINDOW),
    Group("tests/studio/windows/project/test_session_state.py::test_damaged_files_*[memory]", _WINDOW),
    Group("tests/studio/windows/test_help.py::test_the_palette_*", _WINDOW),
    Group("tests/studio/cli/test_cli.py::test_two_workers_*", _SEVERAL, waits=True),
    Group("tests/studio/cli/train/test_labelled_images.py::test_a_labelled_*", "trains on the command line"),
    Group("tests/studio/program", "starts the real program on a screen", waits=True),
    Group("tests/studio/session/code/test_templates.py::test_the_text_builds_*[resnet18]", _LARGE),
    Group("tests/studio/session/code/test_process.py", _PROCESSES, waits=True),
    Group("tests/studio/session/debug/test_debug_child.py::test_a_killed_child_*", _PROCESSES, waits=True),
    Group("tests/studio/session/explain/test_explain_client.py::test_cancelling_*", _PROCESSES, waits=True),
    Group("tests/studio/session/explain/test_explain_client.py::test_limit_*", _PROCESSES, waits=True),
    Group("tests/studio/session/explain/test_explain_client.py::test_sample_*", _PROCESSES, waits=True),
    Group("tests/studio/cli/explain/test_explain.py::test_table_*", "trains on the command line"),
    Group("tests/studio/cli/explain/test_explain_rows.py", "trains on the command line"),
    Group("tests/studio/session/debug/test_debug_child.py::test_stop_holds_*", _PROCESSES, waits=True),
    Group("tests/studio/session/debug/test_debug_child.py::test_values_so_far_*", _PROCESSES, waits=True),
    Group(
        "tests/studio/session/debug/test_debug_child.py::test_a_model_that_cannot_*", _PROCESSES, waits=True
    ),
    Group("tests/studio/session/export/quantization/test_process.py", _PROCESSES, waits=True),
    Group("tests/studio/windows/runs/diagrams/test_diagrams_page.py", _WINDOW),
    Group("tests/studio/windows/runs/table/test_runs_table.py::test_the_table_shows_*", _WINDOW),
    Group("tests/studio/windows/runs/table/test_runs_table.py::test_a_click_sorts_*", _WINDOW),
    Group("tests/studio/windows/runs/table/test_runs_table.py::test_names_of_columns_*", _WINDOW),
    Group("tests/studio/windows/runs/table/test_runs_table.py::test_columns_are_chosen_*", _WINDOW),
    Group("tests/studio/windows/runs/table/test_runs_table.py::test_selected_rows_*", _WINDOW),
    Group("tests/studio/windows/runs/table/test_runs_table.py::test_a_missing_folder_*", _WINDOW),
    Group("tests/studio/session/runs/diagrams/test_importance.py::test_rank_correlation_is_*", _STATISTICS),
    Group("tests/studio/session/runs/diagrams/test_importance.py::test_the_forest_*", _STATISTICS),
    Group("tests/studio/session/sweep/search/test_tpe.py", _OPTUNA),
    Group("tests/studio/session/sweep/test_cluster.py", _CLUSTER, waits=True),
    Group("tests/studio/session/test_worker.py::test_a_child_whose_*[SIGHUP]", _KILLS, waits=True),
    Group("tests/studio/session/work/test_late_child.py::test_a_child_whose_window_*", _KILLS, waits=True),
    Group("tests/studio/session/train/test_several_processes.py", _SEVERAL, waits=True),
    Group("tests/studio/test_app.py", "starts trainings under a whole window", waits=True),
    Group("tests/studio/windows/code/test_code_page.py::test_nothing_is_cut_off_*[(1*", _SIZES),
    Group("tests/studio/windows/code/test_plan.py::test_nothing_is_cut_off[size0]", _SIZES),
    Group("tests/studio/windows/data/test_labelling.py::test_images_*", "labels, then trains in a window"),
    Group("tests/studio/windows/data/test_labelling.py::test_labels_*", "a second window"),
    Group("tests/studio/windows/data/test_labelling.py::test_a_class_*", "a third window"),
    Group("tests/studio/windows/data/test_labelling.py::test_the_classes_*", _SIZES),
    Group(
        "tests/studio/windows/data/test_labelling.py::test_classes_are_*", "types, then trains in a window"
    ),
    Group("tests/studio/windows/project/test_drop_anywhere.py::test_no_widget_*", "all pages of a window"),
    Group("tests/studio/windows/project/test_drop_anywhere.py::test_a_floating_*", "a second window"),
    Group("tests/studio/windows/project/test_drop_anywhere.py::test_a_modal_*", "dialogs of a third window"),
    Group("tests/studio/windows/data/test_own_data.py::test_a_table_with_classes", "a second table"),
    Group("tests/studio/windows/predict/test_predict_page.py::test_the_models_list_*", _WINDOW, waits=True),
    Group("tests/studio/windows/predict/test_slow_models.py::test_a_stuck_*", _WINDOW, waits=True),
    Group("tests/studio/windows/project/test_new_project.py::test_measurements_of_*", _WINDOW),
    Group("tests/studio/windows/runs/test_one_selection.py", "a window for each", waits=True),
    Group(
        "tests/studio/windows/runs/test_walk_of_all_pages.py",
        "loads each of three runs and two models in a process, and walks over all pages",
        waits=True,
    ),
    Group("tests/studio/windows/test_first_window.py::test_the_window_is_*[size1]", _SIZES),
    Group(
        "tests/studio/windows/test_cut_off.py::test_every_control_*",
        "test_accessibility.py checks names and roles of every control",
    ),
    Group("tests/studio/windows/test_cut_off.py::test_longer_texts_fit", "repeats it with longer texts"),
    Group("tests/studio/windows/test_long_names.py::test_long_names_*", _WINDOW),
    Group("tests/studio/windows/test_long_names.py::test_a_question_*", _WINDOW),
    Group("tests/studio/windows/test_narrow_pages.py", _SIZES),
    Group("tests/studio/windows/test_status_bar.py::test_a_trial_*", _WINDOW),
    Group(
        "tests/studio/session/graph/diagram/test_diagram.py::test_large_programs_*[100000]",
        "lays out a hundred thousand operators",
    ),
    Group(
        "tests/studio/session/graph/diagram/test_diagram.py::test_of_a_million_*",
        "indexes two hundred thousand operators",
    ),
    Group("tests/studio/windows/test_cut_off.py::test_nothing_is_cut_off[*1280x800]", _SIZES),
    Group("tests/widgets/plot/test_curve_plot.py::test_of_a_million_*", "draws a million points"),
    Group(
        "tests/widgets/program_tree/test_tree.py::test_of_a_hundred_*", "shows a hundred thousand operators"
    ),
)

# Cases of those groups that every run keeps: one of each kind.
KEPT = {
    "tests/engine/distributed/test_processes.py::test_checks_of_each_rank[programs.py-2]": "MPI",
    "tests/engine/kernels/cupy/arrays/test_taking.py": "a CUDA kernel on the host",
    "tests/engine/networks/test_eager_and_static.py::test_bit_equal_as_built[float32-bert]": "one network",
    "tests/engine/networks/test_eager_and_static.py::test_with_passes[float32-tsm]": "one network",
    "tests/engine/io/test_workers.py::test_batches_and_their_order_are_those_of_one_process": "workers",
    "tests/engine/test_run.py::test_a_traceback_shows_the_users_lines_only": "a script that fails",
    "tests/engine/test_run.py::test_wrong_use": "the runner",
    "tests/scripts/test_tutorials.py::test_prints_what_paddle_prints[image_classification]": "a tutorial",
    "tests/scripts/test_tutorials.py::test_a_number_that_differs_is_found": "the comparison itself",
}

# Cases of those groups that only --long runs: --deep has others of their kind, and CI has 20 minutes.
ONLY_LONG = (
    "tests/bench/test_mutants.py",
    "tests/engine/comparison/test_zoo.py::test_networks_of_the_zoo_*[vgg11]",
    "tests/engine/distributed/test_processes.py::test_checks_of_each_rank[ranks.py-3]",
    "tests/engine/distribution/test_samples.py::test_moments[Beta]",
    "tests/engine/jit/test_whole_models.py::test_resnet18",
    "tests/engine/kernels/fast/sequences/test_recurrent.py::test_weights_that_*[float64*",
    "tests/engine/kernels/steps/test_traced.py::test_*_what_kernels_compute[bool]",
    "tests/engine/kernels/steps/test_traced.py::test_*_what_kernels_compute[float16]",
    "tests/engine/kernels/steps/test_traced.py::test_*_what_kernels_compute[float64]",
    "tests/engine/kernels/steps/test_traced.py::test_*_what_kernels_compute[int32]",
    "tests/engine/kernels/steps/test_traced.py::test_*_what_kernels_compute[int64]",
    "tests/engine/onnx/test_networks.py::test_both_runtimes_give_the_results[resnet18*",
    "tests/engine/onnx/test_round_trips.py::test_networks_are_read_as_they_were[resnet18]",
    *(
        f"tests/engine/program/run/stepping/test_networks.py::test_the_model_zoo[{name}]"
        for name in ("resnet101", "resnet152", "wide_resnet50_2", "wide_resnet101_2")
    ),
    "tests/engine/program/run/stepping/test_networks.py::test_the_model_zoo[resnext1*",
    *(
        f"tests/engine/program/run/stepping/test_networks.py::test_the_model_zoo[{name}*"
        for name in ("densenet", "vgg", "inception", "googlenet", "shufflenet", "resnet50", "resnet34")
    ),
    "tests/engine/program/run/stepping/test_networks.py::test_the_model_zoo[resnext50_64x4d]",
    "tests/engine/program/run/test_training_curves.py::test_curves_*[ResNet-18]",
    "tests/engine/test_lenet.py::test_a_thousand_steps_*[False]",
    "tests/engine/training/team/test_processes.py::test_the_curve_is_that_of_one_process[False-1-3]",
    "tests/engine/training/team/test_processes.py::test_several_inputs_*",
    "tests/engine/training/rules/test_rate.py::test_several_workers_*",
    "tests/engine/training/suggesting/test_suggested_figures.py::test_a_regression_*",
    "tests/engine/training/suggesting/test_suggested_figures.py::test_a_folder_of_shapes_*",
    "tests/engine/training/suggesting/test_suggested_figures.py::test_sums_of_sines_*",
    "tests/engine/training/suggesting/test_suggested_figures.py::test_the_adding_problem_*",
    "tests/packaging/test_installed.py",
    "tests/robust/test_agreed_code.py::test_a_training_between_*[2]",
    "tests/robust/test_attribute_walk.py::test_commands_refuse_*",
    "tests/robust/test_concurrency.py::test_two_sessions_*",
    "tests/robust/test_kills.py::test_a_power_cut_in_a_training",
    "tests/robust/test_kills.py::test_a_training_that_is_killed_while_*",
    "tests/robust/test_places.py::test_commands_run_without_locks[EIO]",
    "tests/robust/test_places.py::test_two_users_share_a_folder[private]",
    "tests/robust/test_repeated_runs.py::test_a_parted_*",
    "tests/robust/test_shorter_data.py::*[data.npz-2]",
    "tests/robust/test_soak.py::test_work_leaves_nothing[pages]",
    "tests/studio/cli/export/test_deploy.py::test_rows_with_words_*",
    "tests/studio/cli/export/test_deploy.py::test_drawn_digits_without_*",
    "tests/studio/program/test_own_data.py::test_sequences_*",
    "tests/studio/session/sweep/test_cluster.py::test_a_halving_with_a_model_*",
    "tests/studio/session/graph/diagram/test_diagram.py::test_large_programs_*[100000]",
    "tests/studio/test_app.py::test_a_killed_training_*",
    *(
        f"tests/widgets/program_diagram/test_program_diagram.py::test_random_scenes_*[{seed}]"
        for seed in (2, 3)
    ),
)

# ----- what decides -----


@cache
def _pattern(row: str) -> re.Pattern[str]:
    return re.compile(re.escape(row).replace(r"\*", ".*") + r"((/|::|\[).*)?")


def matches(row: str, name: str) -> bool:
    """Whether the folder, file or node id ``name`` is what a row names, or lies in it."""
    return name.startswith(row.partition("*")[0]) and _pattern(row).fullmatch(name) is not None


@cache
def group_of(name: str) -> Group | None:
    """The deep group of a node id (or of a file's path from the top folder); None in every run."""
    file = name.partition("::")[0]
    function = name.partition("[")[0]
    if not KEPT.keys().isdisjoint({file, function, name}):
        return None
    return next((group for group in DEEP if matches(group.name, name)), None)


def is_only_long(name: str) -> bool:
    """Whether only ``--long`` runs the test."""
    return any(matches(row, name) for row in ONLY_LONG)


def _kept_below(path: str) -> bool:
    """Whether some case in the file or folder runs always though its group is deep."""
    return any(name == path or name.startswith((f"{path}/", f"{path}::")) for name in KEPT)


def _deep_below(path: str) -> bool:
    return any(group.name.startswith((f"{path}/", f"{path}::")) for group in DEEP)


class Tiers:
    """A plugin of pytest: leaves out, before it is imported, what this run does not ask for."""

    def __init__(self, deep: bool, only: bool, long: bool = False) -> None:
        self.plain, self.deep, self.long = not only, deep or only, long

    def _runs(self, name: str) -> bool:
        return self.deep if group_of(name) else self.plain

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        if not collection_path.is_relative_to(ROOT) or (self.plain and self.deep):
            return None
        name = collection_path.relative_to(ROOT).as_posix()
        if not self.deep and group_of(name) and not _kept_below(name):
            return True
        if not self.plain and collection_path.suffix == ".py":
            some = group_of(name) or _deep_below(name)
            return None if some else True
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Module | pytest.Class, name: str
    ) -> list[pytest.Item] | None:
        """No items for a function that does not run: thousands would be built only to be deselected."""
        if (self.plain and self.deep) or not name.startswith("test") or self._named(collector):
            return None
        if not isinstance(collector, pytest.Module):
            return None
        function = f"{collector.nodeid}::{name}"
        return None if self._runs(function) or _cases_differ(function) else []

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        left = [item for item in items if not self._named(item) and not self._takes(item.nodeid)]
        if left:
            config.hook.pytest_deselected(items=left)
            gone = set(map(id, left))
            items[:] = [item for item in items if id(item) not in gone]

    def _takes(self, name: str) -> bool:
        if self.deep and not self.long and is_only_long(name):
            return False
        return (self.plain and self.deep) or self._runs(_deciding(name))

    @staticmethod
    def _named(node: pytest.Collector | pytest.Item) -> bool:
        """Whether the command line names the file (or a test in it)."""
        return node.session.isinitpath(node.path)


def _deciding(name: str) -> str:
    """What of a node id decides about its tier: the function, for thousands of items, unless its cases
    differ."""
    function = name.partition("[")[0]
    return name if _cases_differ(function) else function


@cache
def _cases_differ(function: str) -> bool:
    """Whether some cases of a function are deep and others are not."""
    rows = (group.name for group in DEEP if "[" in group.name)
    return any(name.startswith(f"{function}[") for name in KEPT) or any(
        matches(row.partition("[")[0], function) for row in rows
    )


# ----- for CI -----

MOST_REPEATED = 3


def may_be_repeated(failed: list[str]) -> bool:
    """Whether the tests that failed are few, and all of them wait for other processes."""
    groups = [group_of(name) for name in failed]
    return 0 < len(failed) <= MOST_REPEATED and all(group is not None and group.waits for group in groups)


if __name__ == "__main__":
    names = list(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    print("failed:", *names, sep="\n  ")
    sys.exit(not may_be_repeated(names))
