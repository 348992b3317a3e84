"""What a value is before it has numbers: its data type, its shape, their limits."""
