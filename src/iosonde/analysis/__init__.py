"""Questions answered with numbers: slowdown over history, the demo's comparison.

No sentences, no pictures.
"""
