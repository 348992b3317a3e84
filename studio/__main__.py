"""``python -m studio`` is ``model-studio``."""

from studio.cli import main

if __name__ == "__main__":
    main()
