"""What a training says of the layers of its network: readings, reports and alerts."""
