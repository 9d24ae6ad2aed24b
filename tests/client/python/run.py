"""Runs one test file: run.py [--without-numpy] FILE [UNITTEST-ARGUMENT...]

Exit status as unittest's; 77 (ctest: skipped) if a package that the client needs is missing.
The environment says where things are: SHORTQ_PROGRAMS, the folder of shortq and shortq-worker.
"""

import importlib
import importlib.util
import os
import pathlib
import sys
import unittest

_NEEDED = {"zmq": "python3-zmq", "msgpack": "python3-msgpack"}
_SKIPPED = 77


def main() -> None:
    for module, package in _NEEDED.items():
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {package} is not installed (tools/setup installs it)")
            sys.exit(_SKIPPED)
    if "SHORTQ_PROGRAMS" not in os.environ:
        sys.exit("run.py: set SHORTQ_PROGRAMS to the folder of shortq: build/release/bin")
    arguments = sys.argv[1:]
    if arguments[0] == "--without-numpy":
        sys.modules["numpy"] = None  # type: ignore[assignment]  # Importing it fails from now on.
        sys.modules["pandas"] = None  # type: ignore[assignment]
        del arguments[0]
    folder = pathlib.Path(__file__).parent
    sys.path[:0] = [str(folder), str(folder.parents[2] / "client" / "python")]
    module = pathlib.Path(arguments[0]).stem
    try:
        importlib.import_module(module)
    except unittest.SkipTest as reason:
        print(f"skipped: {reason}")
        sys.exit(_SKIPPED)
    unittest.main(module=module, argv=[module, *arguments[1:]], verbosity=2)


if __name__ == "__main__":
    main()
