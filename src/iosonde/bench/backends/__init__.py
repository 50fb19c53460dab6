"""Object stores in Python, for storage whose best client is a Python library.

``protocol`` says what the core expects; ``nothing`` prices the bridge.
"""
