"""The configuration that verl prints, over many lines, before it trains."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

__all__ = ["PrintedConfig"]

#: Where verl has what the table says of a run.
_WANTED = {
    "group_size": "actor_rollout_ref.rollout.n",
    "prompts_per_step": "data.train_batch_size",
    "ppo_mini_batch_size": "actor_rollout_ref.actor.ppo_mini_batch_size",
    "ppo_epochs": "actor_rollout_ref.actor.ppo_epochs",
    "learning_rate": "actor_rollout_ref.actor.optim.lr",
    "advantage_estimator": "algorithm.adv_estimator",
    "normalised_by_std": "algorithm.norm_adv_by_std_in_grpo",
    "kl_in_loss": "actor_rollout_ref.actor.use_kl_loss",
    "kl_in_reward": "algorithm.use_kl_in_reward",
    "filter_groups": "algorithm.filter_groups.enable",
}
_FLAG = re.compile(r"(?<![\w.])\+{0,2}([a-z_]+(?:\.[a-z_]+)+)=([\w.+-]+)")
_PREFIX = re.compile(r"^\s*\([^()]*pid=\d+[^()]*\)\s?")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_STARTS = ("{'actor_rollout_ref'", "{'algorithm'", "{'data'")
_MOST_LINES = 3000


class PrintedConfig:
    """Fed with the lines that are no rows; what was found is in `found`."""

    def __init__(self) -> None:
        self.found: dict[str, object] = {}
        self._open: list[str] = []
        self._depth = 0

    def line(self, line: str) -> None:
        """Take a line."""
        if "=" in line and "." in line and len(line) < 20_000:
            flags = dict(_FLAG.findall(line))
            for name, path in _WANTED.items():
                if path in flags:
                    self.found.setdefault(name, _plain(flags[path]))
        text = _PREFIX.sub("", line)
        if not self._open and not text.startswith(_STARTS):
            return
        self._open.append(text)
        bare = _QUOTED.sub("", text)
        self._depth += sum(map(bare.count, "{[(")) - sum(map(bare.count, "}])"))
        if self._depth <= 0 or len(self._open) > _MOST_LINES:
            self._close()

    def _close(self) -> None:
        text, self._open, self._depth = "\n".join(self._open), [], 0
        try:
            config = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return  # other processes wrote between its lines; the rows do not depend on it
        for name, path in _WANTED.items():
            value = config
            for part in path.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            if isinstance(value, int | float | str | bool):
                self.found[name] = value


def _plain(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(text.lower(), text)
