"""The Program of a whole step of a training as plain data: forward, backward, and a row for each update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.program.graph.program import OPTIMIZE
from engine.program.saved.serialize import to_plain
from engine.training.network.describe import with_sources
from resources.operator_keys import LOSS, within_network
from resources.training_events import ProgramShown

if TYPE_CHECKING:
    from engine.training.config import TrainingConfig
    from engine.training.stepper import Stepper


def step_event(stepper: Stepper, config: TrainingConfig) -> ProgramShown:
    """The Program that ``stepper`` runs, after the passes, with the operators of its backward.

    Updates are not in it: an optimizer takes the gradients that it gives. They follow as operators that read
    a parameter and its gradient. Paths of layer calls begin within the network.

    Raises:
        ConversionError: the step can't be converted. Errors of the forward itself are raised unchanged.
    """
    from engine.jit.differentiated import differentiate

    concrete = stepper.traced()
    assert concrete is not None, "a static step"
    runner = concrete.runner
    given = [v.tensor for v in runner.bound]
    begin = len(runner.inputs)
    wanted = tuple(
        [begin + n for n, tensor in enumerate(given) if tensor is not None and not tensor.stop_gradient]
    )
    whole = differentiate(runner, wanted, (0,))
    plain: dict[str, Any] = within_network(to_plain(whole.program), stepper.network_call)
    names = {id(p): name for name, p in stepper.network.named_parameters()}
    rule = type(stepper.optimizer)._rule
    kind = type(stepper.optimizer).__name__.lower() if rule is None else rule.opdef.name
    updates = [
        _update(kind, names.get(id(given[n - begin]), ""), whole.everything[n].name, gradient.name)
        for n, gradient in zip(whole.made, whole.gradients, strict=True)
    ]
    plain["blocks"][0]["ops"] += updates
    shown = "".join(f"{each['outputs']} = {kind}(inputs={each['inputs']})\n" for each in updates)
    text = f"{whole.program}\n// updates, by the optimizer\n{shown}"
    return with_sources(stepper.network, config, plain, text, concrete_code(stepper))


def concrete_code(stepper: Stepper) -> str:
    """The converted source of the network's forward; empty where it was not converted alone."""
    from engine import jit

    return str(jit.to_static(stepper.network.forward, full_graph=True).code)


def _update(kind: str, name: str, parameter: str, gradient: str) -> dict[str, Any]:
    """The row of one parameter's update, in the layer that has it."""
    return {
        "type": kind,
        "inputs": {"Param": [parameter], "Grad": [gradient]},
        "outputs": {"ParamOut": [parameter]},
        "attrs": {},
        "regions": [],
        "notes": {"attrs": {"op_role": OPTIMIZE}},
        "file": None,
        "line": None,
        "layer": name.rpartition(".")[0] if name else LOSS,
    }
