"""What converted code calls while it runs, where only the running Program knows the values of Tensors."""
