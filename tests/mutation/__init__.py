"""Mutation testing of the code, with Cosmic Ray's mutants; docs/reliability.md is its page.

python tests/mutation                    judge the sample of every module and print the scores
python tests/mutation MODULE ...         only these modules (paths, as numerics/exact/border.py)
python tests/mutation --write            and write docs/reliability.md; it names what was not judged
python tests/mutation --session FILE     keep what was killed in FILE and do not judge it again

Needs `pip install -e ".[mutation]"`. The tree is copied and only the copy is changed.
"""
