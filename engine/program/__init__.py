"""Static graphs: Program, Block, Variable; building, checking, differentiating and running them.

Importing any part of it imports the modules that define the functions that methods of the graph delegate to
(``graph/delegates.py`` and ``core/operator.py``).
"""

from engine.program.build import builder, by_slot
from engine.program.passes import clone
from engine.program.run import scope
from engine.program.text import describe, printed
