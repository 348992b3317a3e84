"""Updates of parameters and the scaling of losses on a GPU."""
