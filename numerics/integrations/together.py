"""One decision in all processes of a distributed training."""

from __future__ import annotations

import sys

__all__ = ["decided_by_first"]


def decided_by_first(stop: bool) -> bool:
    """Return the decision of process 0 in every process.

    All processes must call it at the same step: one that stopped alone would leave the others
    waiting for it for ever. Outside a distributed run the decision is returned as it is.
    """
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return stop
    told = [stop]
    distributed.broadcast_object_list(told, src=0)
    return told[0]
