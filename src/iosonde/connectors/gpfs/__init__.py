"""What GPFS says of itself: mmpmon, mmperfmon, mmdf, mmhealth, mmdiag, mmlsdisk, mmlsqos."""
