"""Readers for GPFS commands: mmpmon, mmperfmon, mmdf, mmhealth, mmdiag, mmlsdisk, mmlsqos."""
