"""What elementwise operators and optimizers compute, without any backend.

A :class:`~engine.kernels.steps.writer.Writer` writes LLVM code for the CPU (``engine/kernels/fast``) or CUDA
C for a GPU (``engine/kernels/cupy``). ``traced`` runs an operator's own kernel on symbolic values of a
writer; ``cost`` counts what it would write, which decides what is fused; ``updates`` has the rules of
optimizers.
"""
