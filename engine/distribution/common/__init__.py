"""What several distributions need: their arguments, functions, formulas of divergence."""
