"""The optimizer that a configuration names, in the theory's terms."""

from __future__ import annotations

import re
from fractions import Fraction

from numerics.inputs import InvalidInput
from numerics.trainers.settings import number
from numerics.trainers.table import Notice, Optimizer

__all__ = ["adam_notices", "named"]

_ARGUMENT = re.compile(r"(\w+)\s*=\s*([^,\s]+)")
#: Optimizers whose name holds "adam" and which are not Adam with another storage.
_NOT_ADAM = ("adamax", "galore", "apollo", "stable", "mini", "schedule", "anyprecision")


def named(
    name: str, beta1: Fraction, source: str, arguments: str = ""
) -> tuple[Optimizer | None, list[Notice]]:
    r"""Return the optimizer a trainer means by `name`, and what is to be said of it.

    Parameters
    ----------
    name
        As trl's ``optim`` or verl's ``optim.optimizer``; any kind of Adam, or SGD.
    beta1
        Adam's; SGD has its momentum in `arguments` (``momentum=0.9,nesterov=True``).
    source
        Where the name is from, for people.
    """
    plain = name.lower().lstrip("_")
    if "adam" in plain and not any(other in plain for other in _NOT_ADAM):
        return Optimizer("adam", beta1, source), adam_notices()
    if plain == "sgd":
        given = dict(_ARGUMENT.findall(arguments))
        try:
            mu = number(below=1)(given.get("momentum", "0"))
        except InvalidInput as error:
            raise InvalidInput(f"momentum of sgd {error}") from error
        nesterov = given.get("nesterov", "").lower() == "true"
        return Optimizer("nesterov" if nesterov else "heavy-ball", mu, source), []
    text = "the theory here has Adam and SGD; give --optimizer and --momentum for a threshold"
    return None, [Notice("optimizer-unknown", name, text)]


def adam_notices() -> list[Notice]:
    """Return what Adam's settings do not mean: heavy ball's step size and gain (D1)."""
    return [
        Notice(
            "learning-rate-is-not-eta",
            "learning_rate",
            "Adam's step is lr/(sqrt(v) + eps) in each coordinate: x = lr*K/(sqrt(v) + eps), and "
            "the learning rate alone says nothing of x",
        ),
        Notice(
            "beta1-has-no-gain",
            "adam_beta1",
            "Adam's momentum is an average: beta1 delays the step by about beta1/(1 - beta1) steps "
            "and does not enlarge it by 1/(1 - beta1), as heavy ball's mu does",
        ),
    ]
