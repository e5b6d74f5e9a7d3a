"""See the head of `mutation`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before NumPy is imported; a fork has no other threads
os.environ["MPLBACKEND"] = "Agg"
sys.path[0] = str(Path(__file__).resolve().parents[1])  # this folder is no place to import from

from mutation.score import main  # noqa: E402  # needs the path

sys.exit(main(sys.argv[1:]))
