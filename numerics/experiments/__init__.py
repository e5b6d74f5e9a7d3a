"""Experiments: a claim of the record that no algebra decides, put to a simulation; one room each.

An experiment may use everything: what is measured comes from `numerics.simulation`, what it is held
against from `numerics.exact` and `numerics.kernels`.
"""
