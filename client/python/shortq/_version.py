"""The version, the same as the server's it comes with; a test holds it to CMakeLists.txt."""

__version__ = "0.1.0"
