"""Which test files are responsible for which module, in the order they are run: the fast first.

The lists are short on purpose: a module's own tests must notice what is wrong in it, not a report
three rooms away. Every module with code in it has a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_RESPONSIBLE = {
    "numerics/exact": {
        "arithmetic": "exact_crossings exact_transition exact_stability",
        "border": "exact_transition exact_spectrum",
        "configuration": "exact_configuration exact_transition",
        "constant_border": "exact_transition exact_stability",
        "contact": "exact_stability",
        "crossings": "exact_crossings exact_stability",
        "moments": "exact_moments",
        "oscillator": "exact_oscillator",
        "polynomial": "exact_configuration exact_crossings exact_transition exact_spectrum",
        "refresh": "exact_stability exact_spectrum",
        "sawtooth_border": "exact_transition exact_stability",
        "spectrum": "exact_transition exact_spectrum",
        "stability": "exact_stability",
        "starts": "exact_stability exact_spectrum",
        "transition": "exact_transition",
    },
    "numerics/dynamics": {
        "_contact_balls": "dynamics_enclosure dynamics_mean_square",
        "_delay_line": "dynamics_temperature dynamics_moments",
        "_linear_map": "dynamics_averaging dynamics_temperature dynamics_random_lag",
        "_mean_stability": "dynamics_temperature dynamics_random_lag dynamics_enclosure",
        "_path_recurrence": "dynamics_path",
        "_path_start": "dynamics_path",
        "_path_twofold": "dynamics_no_kl dynamics_path",
        "_runs": "dynamics_averaging dynamics_random_lag",
        "_sawtooth_moments": "dynamics_temperature dynamics_moments",
        "_single_run": "dynamics_edges dynamics_moments",
        "_stationary": "dynamics_temperature dynamics_random_lag dynamics_moments",
        "_winding": "dynamics_averaging dynamics_borders dynamics_random_lag",
        "_yule_walker": "dynamics_averaging dynamics_random_lag dynamics_mean_square",
        "averaging": "dynamics_averaging",
        "borders": "dynamics_borders",
        "characteristic": "dynamics_spectrum dynamics_mean_square",
        "enclosure": "dynamics_enclosure",
        "first_contact": "dynamics_borders dynamics_mean_square",
        "groups": "dynamics_groups",
        "mean_square": "dynamics_mean_square",
        "meeting": "dynamics_borders dynamics_mean_square",
        "model": "dynamics_borders dynamics_random_lag dynamics_temperature",
        "moments": "dynamics_random_lag dynamics_moments",
        "monodromy": "dynamics_spectrum",
        "no_kl": "dynamics_no_kl",
        "path": "dynamics_path",
        "phase_border": "dynamics_borders",
        "random_moments": "dynamics_random_lag",
        "roots": "dynamics_spectrum dynamics_mean_square",
        "sawtooth_border": "dynamics_borders",
        "spectrum": "dynamics_spectrum",
        "temperature": "dynamics_temperature",
    },
    "derivations": {
        "algebra": "vocabulary results_transition catalogue",
        "audit": "vocabulary audit",
        "book": "book",
        "catalogue": "catalogue",
        "characteristic": "results_onset results_sawtooth catalogue",
        "claim": "vocabulary audit",
        "claim_file": "vocabulary audit",
        "decide": "vocabulary audit",
        "derivation": "render results_no_kl catalogue",
        "domain": "vocabulary audit",
        "evidence": "evidence",
        "gain": "results_onset results_sawtooth catalogue",
        "markup": "render",
        "mutation": "explain",
        "notation": "vocabulary catalogue",
        "printers": "render catalogue",
        "reading": "render catalogue",
        "record": "vocabulary catalogue",
        "render": "render",
        "rings": "vocabulary explain",
        "taylor": "results_noise catalogue",
        "typeset": "render",
        "update": "vocabulary results_noise catalogue",
        "vocabulary": "vocabulary",
    },
    "derivations/explain": {
        "agreement": "explain",
        "conventions": "explain",
        "explanation": "explain",
        "screen": "explain",
        "slips": "explain",
        "twin": "explain",
    },
    "derivations/formula": {
        "bounded": "formula formula_hostile",
        "errors": "formula_latex formula_hostile",
        "implied": "formula_latex formula vocabulary",
        "juxtaposition": "formula_latex vocabulary",
        "language": "formula_latex formula",
        "latex": "formula_latex vocabulary formula_hostile",
        "latex_pieces": "formula_latex vocabulary",
        "latex_table": "formula_latex vocabulary",
        "parser": "formula formula_latex formula_hostile",
        "rendering": "formula",
        "spelling": "formula formula_latex vocabulary",
        "stream": "formula_latex formula formula_hostile",
        "tokens": "formula formula_latex formula_hostile",
    },
    "derivations/judge": {
        "balls": "survivors_judge vocabulary audit_adversarial",
        "comparison": "audit",
        "family": "audit",
        "order": "survivors_judge audit_adversarial audit",
        "region": "survivors_judge audit_adversarial",
        "search": "audit_adversarial",
        "smt": "vocabulary audit_adversarial",
        "trial": "survivors_judge",
        "value": "audit_adversarial",
    },
    "derivations/targets": {
        "bandit": "targets_new",
        "base": "vocabulary targets_new",
        "curve": "targets_new",
        "group": "targets_new",
        "law": "results_laws",
        "moment": "targets_new",
        "noise": "targets_new",
        "oscillator": "vocabulary audit_adversarial",
        "spectrum": "targets_new",
        "threshold": "audit_adversarial",
    },
}

#: The tests that mutants asked for, run before the others.
_ASKED_FOR = {
    "numerics/exact": "survivors_exact",
    "numerics/dynamics": "survivors_dynamics",
}

#: Path of a module -> names of test files.
TESTS: Mapping[str, Sequence[str]] = {
    f"{folder}/{module}.py": tuple(
        f"test_{name}" for name in (_ASKED_FOR.get(folder, "survivors_derivations"), *names.split())
    )
    for folder, modules in _RESPONSIBLE.items()
    for module, names in modules.items()
}
