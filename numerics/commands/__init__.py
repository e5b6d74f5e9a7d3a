"""The commands of the command line, one module each: ``configure(parser)``, ``run(args) -> int``.

Importing this package costs argparse and nothing else: each ``run`` imports what it needs.
"""
