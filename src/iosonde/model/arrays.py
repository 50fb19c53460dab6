"""Type names of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Instants = NDArray[np.int64]
"""Ns since the epoch."""
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
Texts = NDArray[np.object_]
Column = NDArray[Any]
