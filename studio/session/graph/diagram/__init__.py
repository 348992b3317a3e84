"""The diagram of a Program: groups of operators, their layout, the scene to draw, and SVG; without Qt."""
