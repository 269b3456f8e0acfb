"""`python -m huimem`: the same as the command `huimem`."""

import sys

from huimem.surfaces.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
