"""The arithmetic of elementwise operators and optimizers, as rules that know no backend.

A rule is called with a :class:`~engine.kernels.steps.writer.Writer`, which writes LLVM code for the CPU
(``engine/kernels/fast``) or CUDA C for a GPU (``engine/kernels/cupy``). So each operator's arithmetic and its
order of operations are defined in one place.
"""
