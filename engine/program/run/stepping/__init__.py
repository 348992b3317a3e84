"""Plans that stop after each operator, to look at its values and to change them."""
