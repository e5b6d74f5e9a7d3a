"""See the head of `benchmarks`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # a ratio of two uses of one core; before NumPy is imported
sys.path[:0] = [str(Path(__file__).resolve().parents[n]) for n in (1, 2)]

from benchmarks.table import main  # noqa: E402  # needs the path

sys.exit(main(sys.argv[1:]))
