"""Print the description of the server's routes and answers, as ``/openapi.json`` has it: input of the page's types."""

import json
import tempfile
from pathlib import Path

from iosonde.serve.app import create

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        print(json.dumps(create(Path(empty)).openapi()))
