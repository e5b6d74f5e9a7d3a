"""The command line: what it accepts, and how it refuses the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import derivations.update
import numerics.exact.configuration
import numerics.simulation
from derivations.catalogue import CATALOGUE
from numerics import cli
from numerics.commands import arguments
from numerics.commands.arguments import exact, one_line
from numerics.commands.derive import CHOICES

ROOT = Path(__file__).resolve().parent.parent
PREDICT = {
    "--momentum": "0.9",
    "--x": "0.01",
    "--optimizer": "heavy-ball",
    "--lag-model": "constant",
    "--lag": "3",
}


def run(*argv: str, capture: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Run the command line in this process; return status, standard output, standard error."""
    try:
        status = cli.main(argv)
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    return status, *capture.readouterr()


def predict(capture: pytest.CaptureFixture[str], **changes: str | None) -> tuple[int, str, str]:
    flags = PREDICT | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
    given = [part for name, value in flags.items() if value is not None for part in (name, value)]
    return run("predict", *given, "--json", capture=capture)


def assert_refused(outcome: tuple[int, str, str], *words: str) -> None:
    """Assert status 2, nothing on standard output, one line of complaint with these words."""
    status, out, err = outcome
    assert status == 2
    assert out == ""
    assert err.startswith("grpo-dynamics: error: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    for word in words:
        assert word in err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], ["report", "derive", "audit", "predict"]),
        (["predct"], ["'predct'", "did you mean 'predict'"]),
        (["--jsn", "report"], ["'--jsn'"]),
        (["--verison"], ["did you mean '--version'"]),
        (["predict", "--momentun", "0.9"], ["'--momentun'", "did you mean '--momentum'"]),
        (["predict", "--mom=0.9"], ["'--mom'", "did you mean '--momentum'"]),
        (["report", "--chek"], ["did you mean '--check'"]),
        (["report", "somewhere"], ["somewhere"]),
        (["report", "--check", "--update"], ["--check", "--update"]),
        (["audit"], ["FILE"]),
        (["predict", "-q"], ["'-q'"]),
        (["derive"], ["ID", "--list"]),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(
    argv: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(run(*argv, capture=capsys), *words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"momentum": "1"}, ["momentum", "[0, 1)"]),
        ({"momentum": "-0.1"}, ["momentum", "[0, 1)"]),
        ({"momentum": "-1/3"}, ["momentum", "[0, 1)"]),
        ({"momentum": "nan"}, ["--momentum", "'nan'", "not a number"]),
        ({"momentum": "1/0"}, ["--momentum", "'1/0'"]),
        ({"momentum": None}, ["--momentum"]),
        ({"x": "0"}, ["x", "0"]),
        ({"x": "-1e-3"}, ["x"]),
        ({"x": "inf"}, ["--x", "'inf'"]),
        ({"x": "-inf"}, ["--x", "'-inf'"]),
        ({"x": "1e-999999999"}, ["--x", "1e-999999999"]),
        ({"x": "1e-301"}, ["--x", "1e-301"]),
        ({"x": "9" * 5000}, ["--x", "not a number"]),
        ({"x": "0x10"}, ["--x", "'0x10'"]),
        ({"x": "1_000"}, ["--x", "'1_000'"]),
        ({"x": "__import__('os').system('x')"}, ["--x", "not a number"]),
        ({"lag": "-1"}, ["lag", "-1"]),
        ({"lag": "2.5"}, ["--lag", "'2.5'", "whole"]),
        ({"lag": "3e0"}, ["--lag", "whole"]),
        ({"lag": "1" * 40}, ["--lag", "whole"]),
        ({"lag": None}, ["constant", "--lag"]),
        ({"refresh": "4"}, ["--refresh", "constant"]),
        ({"lag_model": "sawtooth", "lag": None}, ["sawtooth", "--refresh"]),
        ({"lag_model": "sawtooth", "refresh": "4"}, ["--lag", "sawtooth"]),
        ({"lag_model": "sawtooth", "lag": None, "refresh": "0"}, ["refresh", "0"]),
        ({"lag_model": "sawtoth"}, ["did you mean 'sawtooth'"]),
        ({"lag_model": None}, ["--lag-model"]),
        ({"optimizer": "heavy_bal"}, ["did you mean 'heavy-ball'"]),
        ({"optimizer": "new\nline"}, ["optimizer"]),
        ({"optimizer": None}, ["--optimizer"]),
        ({"stale_share": "half"}, ["--stale-share", "'half'"]),
        ({"times": "0,,1"}, ["--times"]),
        ({"times": "-1"}, ["-1"]),
    ],
)
def test_predict_refuses_bad_input_in_one_line(
    changes: dict[str, str | None], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(predict(capsys, **changes), *words)


@pytest.mark.parametrize("share", ["-0.5", "-1/2", "3/2", "0"])
def test_any_stale_share_is_legal_and_echoed(
    share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = predict(capsys, stale_share=share)
    assert (status, err) == (0, "")
    assert Fraction(str(json.loads(out)["stale_share"])) == Fraction(share)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-16", Fraction(1, 10**16)),
        ("-.5E1", Fraction(-5)),
        ("1/3", Fraction(1, 3)),
        (" 2. ", Fraction(2)),
        ("0e999", Fraction(0)),
    ],
)
def test_numbers_are_read_as_written(text: str, value: Fraction) -> None:
    assert exact(text) == value


def test_names_are_the_same_everywhere() -> None:
    theory, exactly = derivations.update, numerics.exact.configuration
    assert tuple(theory.OPTIMIZERS) == exactly.OPTIMIZERS == arguments.OPTIMIZERS
    assert set(numerics.simulation.OPTIMIZERS) == set(arguments.OPTIMIZERS)
    assert tuple(theory.LAG_MODELS) == exactly.LAG_MODELS == arguments.LAG_MODELS
    assert {name for entry in CATALOGUE.values() for name in entry.choices} == set(CHOICES)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["theorem-8"], ["'theorem-8'", "did you mean 'theorem-7'"]),
        (["theorem-7", "--list"], ["ID", "--list"]),
        (["theorem-7", "--format", "latx"], ["did you mean 'latex'"]),
        (["theorem-7", "--optimizer", "adam"], ["not available in this version"]),
        (["theorem-7", "--lag-model", "random"], ["not available in this version"]),
        (["theorem-7", "--lag", "-1"], ["--lag", "-1"]),
        (["theorem-7", "--refresh", "0"], ["--refresh", "0"]),
        (["theorem-7", "--lag", "1", "--refresh", "1"], ["--refresh", "sawtooth"]),
        (["theorem-7", "--lag", "1", "--lag-model", "sawtooth"], ["--lag", "constant"]),
        (["theorem-7", "--ddof", "1"], ["'ddof'"]),
        (["prop-10", "--ddof", "2"], ["ddof", "0, 1"]),
        (["kl-force", "--kl", "k3-rato"], ["'k3-ratio'"]),
        (["prop-10", "--optimizer", "ema"], ["optimizer"]),
    ],
)
def test_derive_refuses_bad_input_in_one_line(
    argv: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(run("derive", *argv, capture=capsys), *words)


def test_derive_follows_its_premises(capsys: pytest.CaptureFixture[str]) -> None:
    def damping(*flags: str) -> str:
        status, out, err = run("derive", "theorem-7", "--json", *flags, capture=capsys)
        assert (status, err) == (0, "")
        text: str = json.loads(out)["results"]["damping"]["text"]
        return text

    results = {
        damping(*flags)
        for flags in (
            [],
            ["--optimizer", "ema"],
            ["--optimizer", "nesterov"],
            ["--stale-share", "-1/2"],
            ["--lag", "3"],
            ["--refresh", "3"],
            ["--lag-model", "sawtooth"],
        )
    }
    assert len(results) == 7


def test_derive_lists_every_result(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("derive", "--list", "--json", capture=capsys)
    assert (status, err) == (0, "")
    rows = json.loads(out)["derivations"]
    assert [row["id"] for row in rows] == list(CATALOGUE)
    assert all(row["summary"] for row in rows)
    status, out, err = run("derive", "--list", capture=capsys)
    assert (status, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80


CLAIM = """
[[claim]]
id = "a"
quantity = "mass"
says = {says}
relation = "exact"
model = {{ optimizer = "heavy-ball", lag_model = "constant", stale_share = 1, lag = 0 }}
"""


@pytest.mark.parametrize(
    ("says", "expect", "status", "verdict"),
    [
        ("(1 + mu)/2", "holds", 0, "HOLDS (proved)"),
        ("mu", "refuted", 0, "REFUTED (proved)"),
        ("mu", "holds", 1, "REFUTED (proved), expected holds"),
        ("(1 + mu)/2", "refuted", 1, "HOLDS (proved), expected refuted"),
    ],
)
def test_audit_status_is_about_the_expected(
    says: str, expect: str, status: int, verdict: str,
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(CLAIM.format(says=json.dumps(says)) + f'expect = "{expect}"\n')
    got, out, err = run("audit", str(path), capture=capsys)
    assert (got, err) == (status, "")
    assert verdict in " ".join(out.split())
    got, out, err = run("audit", str(path), "--json", capture=capsys)
    assert (got, err) == (status, "")
    (row,) = json.loads(out)["claims"]
    assert row.keys() >= {"id", "verdict", "evidence", "derived", "difference", "counterexample"}
    assert row["evidence"].keys() >= {"rung", "method", "domain"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CLAIM.format(says='"mu"')[:-3], ["line"]),
        (CLAIM.format(says='"mu"') * 2, ["'a'", "twice"]),
        (CLAIM.format(says='"muu"'), ["'a'", "muu"]),
        (CLAIM.format(says="\"__import__('os').system('x')\""), ["'a'"]),
        (CLAIM.format(says=json.dumps("1+" * 500_000 + "1")), ["'a'"]),
        (CLAIM.format(says='"mu"').replace("mass", "mas"), ["'a'", "did you mean 'mass'"]),
        (CLAIM.format(says='"mu"').replace("heavy-ball", "heavyball"), ["'a'", "'heavy-ball'"]),
        ("", ["claim"]),
        (None, ["No such file"]),
    ],
)
def test_audit_refuses_bad_input_in_one_line(
    text: str | None, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claims.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert_refused(run("audit", str(path), capture=capsys), str(path), *words)


def test_a_complaint_is_one_short_printable_line() -> None:
    line = one_line("a\n\tb\x1b[31m\u202e" + "c" * 10**6)
    assert line.startswith("a b [31m c")
    assert line.isprintable()
    assert len(line) <= 600


class OurError(ValueError):
    """Stands for any error class of this project."""


OurError.__module__ = "numerics.somewhere"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (OurError("no\ngood"), 2),
        (FileNotFoundError(2, "No such file", "a b"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_named_errors_become_one_line(
    error: BaseException, status: int, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_run", fail)
    got, out, err = run("report", capture=capsys)
    assert (got, out) == (status, "")
    assert err.startswith("grpo-dynamics: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "error", [ValueError("a bug"), ArithmeticError("a bug"), TypeError("a bug")]
)
def test_bugs_keep_their_traceback(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_run", fail)
    with pytest.raises(type(error), match="a bug"):
        cli.main(["report"])


@pytest.mark.parametrize(
    ("shell", "status"), [("| head -c 1 >/dev/null; exit ${PIPESTATUS[0]}", 141), (">/dev/full", 2)]
)
def test_an_output_that_cannot_be_written(shell: str, status: int) -> None:
    code = (
        "import sys; from numerics import cli\n"
        "cli._run = lambda args: print('x' * 10**6) or 0\n"  # more than a pipe holds
        "sys.exit(cli.main(['report']))"
    )
    done = subprocess.run(
        ["bash", "-c", f'"$0" -c "$1" {shell}', sys.executable, code],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )
    assert done.returncode == status
    assert done.stderr.count("\n") == (1 if status == 2 else 0)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["report", "derive", "audit", "predict"])
def test_every_command_explains_itself_and_speaks_json(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(command, "--help", capture=capsys)
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: grpo-dynamics {command} ")
    assert "--json" in out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("--version", capture=capsys)
    assert (status, err) == (0, "")
    assert out.startswith("grpo-dynamics ")
    assert f'\nversion: {out.split()[1]}\n' in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
