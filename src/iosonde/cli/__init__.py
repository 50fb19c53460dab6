"""The command ``iosonde``: one short file a command.

Commands parse, ask, and print; they never compute.
"""
