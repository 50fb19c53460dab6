"""Layout of the store folder.

::

    spool/<host>/<run_id>-<segment>.spool                       appended by the probe
    samples/date=YYYY-MM-DD/host=<host>/<run_id>-<segment>.parquet   sealed, never edited
    rollups/date=YYYY-MM-DD/host=<host>/<run_id>-<segment>.parquet   summed up from it, kept when it goes
    state/<host>/<target slug>.json                             replaced by the probe every few seconds
    windows/<host>/<target slug>.<period>ms-<window>s.YYYY-MM.windows    appended, kept when samples go
    events/<host>/YYYY-MM.jsonl                                 appended, one JSON object a line
    events/<host>/found-YYYY-MM.jsonl                           computed from samples, replaced as a whole
    judged/<host>/<target slug>/<date>-<period>.npz             computed from samples; may go at any time
    runs/<run slug>.<process>.part.jsonl                        appended by a benchmark in flight
    runs/date=YYYY-MM-DD/<run slug>.parquet                     a run that has ended
    transfers/, rates/                                          of a bandwidth run (``bench.bandwidth.tables``)
"""
