"""Python and notebook interface: ``iosonde.open`` and ``iosonde.read_jobs``.

::

    Station ──► Imported, Names, Block      files in, series of servers out        series.py
       │  └───► Slowdown, Happened, Comparison   what probes saw                   probed.py, compared.py
       ▼
     Jobs ────► Diagram, Explained          one job among its kind                 job_answers.py
          └───► Correlations, Climates      all of them                            jobs_answers.py

It only wires, like ``cli``: every answer holds the typed data of ``analysis`` (``.data``), shows itself with sentences
of ``findings`` and pictures of ``plots``, and becomes columns (``.columns``, numpy) or a data frame (``.to_pandas()``).
Instants are UTC; missing is NaN, NaT or None.
"""
