"""The JSON of every answer, for ``/openapi.json``. Answers leave as bytes; a test holds real ones to these."""
