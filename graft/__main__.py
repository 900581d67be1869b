"""``python -m graft``."""
from graft.cli import main

raise SystemExit(main())
