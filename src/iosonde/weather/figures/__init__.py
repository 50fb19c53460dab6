"""Pictures of samples: densities, points, intervals, distributions."""
