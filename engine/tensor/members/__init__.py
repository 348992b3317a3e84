"""Members of tensors: methods, operators, properties, changes in place, their text."""
