"""The command ``iosonde``: one short file per command.

Commands parse, ask, and print; they never compute.
"""
