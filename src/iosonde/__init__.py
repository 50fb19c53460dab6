"""iosonde: the weather station for shared storage.

Rust measures (``iosonde._core``), Python thinks, the browser draws. Importing this package does
nothing but name it: every command imports only the layers it needs.
"""

__version__ = "0.1.0"
