"""Colours as people without one kind of cone see them, and how far apart two of them then are.

Simulation: Machado, Oliveira, Fernandes, IEEE TVCG 15 (2009), table 1, severity 1.0, on linear RGB. Distance:
Euclidean in OKLab (Ottosson 2020); 0.02 is just seen between large areas side by side.
"""

import re
from itertools import combinations
from pathlib import Path

import numpy as np

STYLES = Path(__file__).parents[3] / "web/styles"
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def tokens() -> dict[str, tuple[str, str]]:
    """Opaque colours of the style sheets by name: in the light and in the dark theme."""
    found = {}
    for path in sorted(STYLES.rglob("*.css")):
        for name, light, dark in re.findall(
            r"(--[\w-]+):\s*light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", path.read_text()
        ):
            found[name] = light, dark
    return found


def seen(colour: str, vision: str) -> np.ndarray:
    """A colour ``#rrggbb`` in OKLab, as seen."""
    srgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    left = np.clip(VISIONS[vision] @ linear, 0, 1)
    return _LAB @ np.cbrt(_LMS @ left)


def nearest(colours: dict[str, str], vision: str) -> tuple[float, str, str]:
    """The two categories that are the hardest to tell apart, and their distance."""
    return min(
        (float(np.linalg.norm(seen(colours[a], vision) - seen(colours[b], vision))), a, b)
        for a, b in combinations(colours, 2)
    )
