"""What GPFS says of itself: mmpmon, mmperfmon, mmdf."""
