"""Statistics of arrays: no clock, no files, no plots.

The truth is in the native core; here it gets types.
"""
