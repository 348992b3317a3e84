"""Programs written as Paddle's ProgramDesc; ``program/text/forms.py`` has the names of operators there."""
