"""TensorBoard event files, with the reader of the library that owns the format."""

from __future__ import annotations

from pathlib import Path

from numerics.inputs import InvalidInput
from numerics.logs.store import Reading, Store

__all__ = ["event_files", "is_event_file", "read_events"]

_MARK = "tfevents"


def is_event_file(path: Path, start: bytes) -> bool:
    """Whether it is an event file, by its name or by the record every one starts with."""
    return _MARK in path.name or b"brain.Event:" in start[:64]


def event_files(directory: Path) -> list[Path]:
    """Return the event files in a directory."""
    return sorted(path for path in directory.iterdir() if _MARK in path.name and path.is_file())


def read_events(path: Path) -> Reading:
    r"""Read the scalars of an event file, or of a directory with the files of one run.

    Raises
    ------
    InvalidInput
        The optional extra is not installed, or the file holds no scalar.
    """
    try:
        from tensorboard.backend.event_processing.event_accumulator import (
            TENSORS,
            EventAccumulator,
        )
        from tensorboard.util import tensor_util
    except ImportError:
        raise InvalidInput(
            "reading TensorBoard event files needs the optional extra: "
            "pip install 'grpo-dynamics[tensorboard]'"
        ) from None
    # The library thins series out unless asked not to, and drops what a resume went back on.
    events = EventAccumulator(str(path), size_guidance={"scalars": 0, TENSORS: 0})
    events.Reload()
    tags = events.Tags()
    rows: dict[int, dict[str, object]] = {}
    for tag in tags["scalars"]:
        for event in events.Scalars(tag):
            rows.setdefault(event.step, {})[tag] = float(event.value)
    for tag in tags["tensors"]:  # scalars as TensorFlow 2 writes them
        for event in events.Tensors(tag):
            value = tensor_util.make_ndarray(event.tensor_proto)
            if value.size == 1 and value.dtype.kind in "fiu":
                rows.setdefault(event.step, {})[tag] = float(value.reshape(()))
    if not rows:
        raise InvalidInput("a TensorBoard event file without scalars")
    store = Store()
    for step in sorted(rows):
        store.add({"step": step, **rows[step]})
    reading = Reading("TensorBoard event file", store)
    reading.notes.append("of resumed runs the later rows count, as TensorBoard shows them")
    return reading
