"""``fluid.clip``: clipping of gradients in static mode, of all parameters of a Program or of some."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.alias.absent import refusing
from engine.core.errors import ArgumentError, DTypeError
from engine.fluid.renamed.refused import refused
from engine.nn.clip import ClipGradBase, ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue, Pairs
from engine.program.run.executor import default_main_program

__all__ = [
    "BaseGradientClipAttr",
    "ErrorClipByValue",
    "GradientClipBase",
    "GradientClipByGlobalNorm",
    "GradientClipByNorm",
    "GradientClipByValue",
    "OwnClips",
    "set_gradient_clip",
]

BaseGradientClipAttr = GradientClipBase = ClipGradBase
ErrorClipByValue = refused(
    "ErrorClipByValue",
    "fluid.clip",
    "clips gradients of values; use register_hook of the value, with layers.clip",
)
GradientClipByValue = ClipGradByValue
GradientClipByNorm = ClipGradByNorm
GradientClipByGlobalNorm = ClipGradByGlobalNorm


__getattr__ = refusing(__name__)


class OwnClips(ClipGradBase):
    """Clips each gradient as its parameter's ``gradient_clip`` says; ``rest`` clips those without one.

    Parameters with one and the same clip, or with global norms of one ``group_name``, are clipped together.
    """

    def __init__(self, rest: ClipGradBase | None = None) -> None:
        self.rest = rest

    def __call__(self, params_grads: Pairs) -> Pairs:
        """The pairs with clipped gradients, in their order."""
        groups: dict[Any, tuple[ClipGradBase | None, Pairs]] = {}
        for parameter, gradient in params_grads:
            clip = getattr(parameter, "gradient_clip_attr", None) or self.rest
            key = _group(clip)
            shared, pairs = groups.setdefault(key, (clip, []))
            if isinstance(clip, ClipGradByGlobalNorm) and clip.clip_norm != getattr(
                shared, "clip_norm", None
            ):
                raise ArgumentError(
                    "GradientClipByGlobalNorm: All parameters' 'clip_norm' of a same group should be the "
                    f"same: got {clip.clip_norm} for {parameter.name} in group {clip.group_name!r}"
                )
            pairs.append((parameter, gradient))
        made = {
            parameter.name: gradient
            for clip, pairs in groups.values()
            for parameter, gradient in (pairs if clip is None else clip(pairs))
        }
        return [(parameter, made.get(parameter.name, gradient)) for parameter, gradient in params_grads]


def _group(clip: ClipGradBase | None) -> Any:
    return ("norm of", clip.group_name) if isinstance(clip, ClipGradByGlobalNorm) else id(clip)


def set_gradient_clip(
    clip: ClipGradBase, param_list: Iterable[Any] | None = None, program: Any = None
) -> None:
    """Let ``minimize`` clip the gradients of these parameters (Variables or names) of ``program``.

    All parameters that it has by now where ``param_list`` is None; the default main Program where ``program``
    is None. Raises DTypeError for another clip, ArgumentError for a name that
    the Program does not have.
    """
    if not isinstance(clip, ClipGradBase):
        raise DTypeError(
            "set_gradient_clip: 'clip' should be an instance of BaseGradientClipAttr: got "
            f"{type(clip).__name__}; make e.g. fluid.clip.GradientClipByNorm(1.0)"
        )
    known = {p.name: p for p in (program or default_main_program()).global_block().all_parameters()}
    for each in known.values() if param_list is None else param_list:
        name = each if isinstance(each, str) else each.name
        if name not in known:
            raise ArgumentError(
                f"set_gradient_clip: {name!r} is not a parameter of the Program; it has {sorted(known)}"
            )
        known[name].gradient_clip_attr = clip
