"""What every Layer has: parameters, names, hooks, state, another dtype or device."""
