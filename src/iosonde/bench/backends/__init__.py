"""Stores of objects that are Python objects, where a good Python client is the honest choice.

``protocol`` says what the core expects; ``nothing`` prices the bridge.
"""
