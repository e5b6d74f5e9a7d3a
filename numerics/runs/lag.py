"""The ``[lag]`` table of a run file."""

from __future__ import annotations

from numerics.inputs import InvalidInput
from numerics.runs.fields import Field, RunFileError, array, read_variant, whole
from numerics.simulation.schedule import ConstantLag, RandomLag, Sawtooth, Schedule

__all__ = ["schedule"]

#: The longest lag a run file may ask for, in steps.
_LONGEST = 100_000

_MODELS = {
    "constant": {"lag": Field(whole(least=0, most=_LONGEST))},
    "sawtooth": {"refresh": Field(whole(least=1, most=_LONGEST))},
    "random": {"lag_law": Field(array(1))},
}


def schedule(content: object, where: str) -> Schedule | RandomLag:
    """Return the schedule that a ``[lag]`` table describes.

    Raises
    ------
    RunFileError
        On a key that is unknown, missing or has a value it cannot have.
    """
    values = read_variant(content, "model", _MODELS, where)
    if values["model"] == "constant":
        return ConstantLag(values["lag"])
    if values["model"] == "sawtooth":
        return Sawtooth(values["refresh"])
    try:
        return RandomLag(tuple(values["lag_law"].tolist()))
    except InvalidInput as error:
        raise RunFileError(f"{where} lag_law: {error}") from error
