"""Program, Block, Variable, Region: the graph, what is ill-formed in it, how long its values live."""
