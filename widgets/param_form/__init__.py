"""A form of settings made from a list of plain fields."""

from widgets.param_form.fields import Field
from widgets.param_form.form import ParamForm

__all__ = ["Field", "ParamForm"]
