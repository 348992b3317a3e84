"""Static graphs: Program, Block, Variable; building, checking, differentiating and running them."""
