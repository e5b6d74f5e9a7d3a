r"""What is near a refuted claim: where it holds, how else it may be meant, which slip it may be."""

from __future__ import annotations

from derivations.explain.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
