"""``paddle.distributed.launch``: a script in several processes, which end together."""
