"""Arguments of the public functions: operands, sizes, and the errors that explain them."""
