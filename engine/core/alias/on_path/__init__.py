"""A folder for ``sys.path``: see ``engine.core.alias.CHILDREN_PATH``."""
