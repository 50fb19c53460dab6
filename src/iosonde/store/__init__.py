"""Where samples and states live.

``layout`` paths, ``state`` live states (json only), ``spool`` ``reader`` ``slices`` ``windows``
reading, ``derive`` ``rollups`` ``rolled`` what is summed up, ``seal`` ``export`` writing,
``store.Store`` the face of it all. Importing this package costs
nothing; ``store.state`` must stay free of heavy imports.
"""
