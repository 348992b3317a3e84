"""Program -> Program, one subject a file; ``optimize`` runs the pipeline of passes."""

from engine.program.passes.pipeline import level, optimize
