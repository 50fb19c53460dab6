"""Checks of the probe's validity: gather facts, then judge them.

::

    expendable.py   whatever touches a target or a store: in a child process that may hang
    gather_*.py     facts: plain data, as the kernel and the files say it
    judge_*.py      facts in, findings out; no clock, no file
    checks.py       every check: what it looks at, why that matters, what to do
    examine.py      all of it, for this host, some targets and a store

Nothing is ever written to a target, and no lock is taken: a doctor must not change what he measures.
"""
