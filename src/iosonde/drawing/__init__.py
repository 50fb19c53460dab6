"""Figures as marks on sheets, and the one place that speaks to the plotting library."""
