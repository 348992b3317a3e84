"""Special functions over an array module (numpy or cupy), computed in float64 unless noted otherwise."""
