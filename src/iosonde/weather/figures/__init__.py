"""Figures of samples: densities, points, intervals, distributions."""
