"""``fluid.dygraph.dygraph_to_static``: the conversion of functions, under the names of 1.8."""

from engine.jit.dy2static import ProgramTranslator, program_translator

__all__ = ["ProgramTranslator", "program_translator"]
