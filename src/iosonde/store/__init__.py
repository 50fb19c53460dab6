"""Where samples live: ``layout`` (paths), ``state`` (live states, json only), ``spool`` and
``query`` (reading), ``seal`` and ``export`` (writing), ``store.Store`` (the face of it all).

Importing this package costs nothing; ``store.state`` must stay free of heavy imports.
"""
