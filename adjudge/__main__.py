"""`python -m adjudge` is `adjudge`."""

from adjudge.cli import main

main()
