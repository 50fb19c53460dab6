"""Verdicts as data (``verdicts``) and the only place that writes sentences about storage
(``sentences``)."""
