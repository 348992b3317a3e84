"""Program, Block, Variable, Region: the graph, checks of its form, lifetimes of its values."""
