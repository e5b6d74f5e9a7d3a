"""The performance table of docs/performance.md: one module a row, ratios within one process.

python tests/benchmarks            measure every row and print the table
python tests/benchmarks NAME ...   only these rows (module names)
python tests/benchmarks --quick    each row on a small problem, to see that it runs
python tests/benchmarks --write    measure every row and write docs/performance.md
"""
