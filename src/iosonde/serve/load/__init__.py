"""Routes of loads: operations of each contributor over time; as arrays; the jobs behind a place.

::

    query       parameters
    histories   the history of a store, kept, its names under the policy
    answer      /api/load, /api/load/cells, /api/load/jobs
"""
