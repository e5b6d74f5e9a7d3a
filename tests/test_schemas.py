"""Every command's JSON is what the schema it names says: no key more, no key less."""

from __future__ import annotations

import contextlib
import copy
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_trainer import Loop, rising
from schema_cases import CASES, Case, files
from schema_check import check, faults, fixed, objects

from numerics import cli
from numerics.experiments.transformer.catalogue import EXPERIMENTS
from numerics.experiments.transformer.comparison import compare
from numerics.experiments.transformer.findings import Findings
from numerics.experiments.transformer.run import Found
from numerics.integrations import Monitor, StopOnFault
from numerics.report import generated
from numerics.schemas import load

TESTS = Path(__file__).parent

#: Keys that are there or not, whatever else is.
FREE = {
    "grpo-dynamics/predict/1": {"tau", "p_ref"},
}
#: The one object of an output that holds whatever a stranger's file does.
ANYTHING = "$.configuration"


def printed(arguments: list[str]) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = cli.main([*arguments, "--json"])
    return status, out.getvalue()


class Outputs:
    """What each case printed; each is run once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._done: dict[Case, tuple[int, str]] = {}
        for name, text in files().items():
            (folder / name).write_text(text, encoding="utf-8")

    def of(self, case: Case) -> tuple[int, str]:
        if case not in self._done:
            here = [
                str(self._folder / part[1:]) if part.startswith("@") else part
                for part in case.arguments
            ]
            self._done[case] = printed(here)
        return self._done[case]

    def all(self) -> Iterator[dict[str, Any]]:
        for case in CASES:
            yield json.loads(self.of(case)[1])


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    return Outputs(tmp_path_factory.mktemp("inputs"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.line)
def test_an_output_is_what_its_schema_says(case: Case, outputs: Outputs) -> None:
    status, text = outputs.of(case)
    assert status == case.status
    assert check(text)["schema"] == case.schema


def test_every_command_prints_json_and_is_run_here() -> None:
    """But for those that take long, which are checked where they are tested."""
    commands = cli.parser()._commands
    assert [name for name, command in commands.items() if "--json" not in command._flags] == []
    assert commands.keys() == {case.arguments[0] for case in CASES} | {"report", "experiment"}
    tested = (TESTS / name for name in ("test_report.py", "test_experiment_bandit.py"))
    assert all("schema_check import check" in path.read_text(encoding="utf-8") for path in tested)


@pytest.mark.parametrize(
    ("flag", "drift", "status"),
    [("--check", [], 0), ("--check", ["a.md: differs"], 1), ("--update", [], 0)],
)
def test_generated_files(
    flag: str, drift: list[str], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = generated.Part("docs", lambda folder: drift, lambda folder: None)
    monkeypatch.setattr(generated, "PARTS", (part,))
    monkeypatch.setattr(generated, "source_tree", lambda: tmp_path)
    found, text = printed(["report", flag])
    assert found == status
    assert check(text)["schema"] == "grpo-dynamics/generated/1"


def test_what_transformers_were_found_to_do() -> None:
    """Without training any: the command prints what this is."""
    experiment = next(iter(EXPERIMENTS.values()))
    rows = compare(experiment.id, [("a case", "a time", "exact", 2.0, [1.0, 2.0, 2.5])])
    findings = Findings((Found(experiment, (), tuple(rows)),), quick=True)
    found = check(json.dumps(findings.json(), allow_nan=False))
    assert found["schema"] == "grpo-dynamics/experiment-transformer/1"
    assert found["experiments"][0]["rows"][0]["agrees"] is True


@pytest.mark.parametrize("rows", [100, 3])
def test_the_file_of_a_monitor(rows: int, tmp_path: Path) -> None:
    rule = [StopOnFault("policy concentration")]
    for stop, after in ((rule, 0), ((), None)):
        monitor = Monitor(every=2 if rows < 9 else 20, stop=stop, after=after, file="found.json",
                          say=lambda line: None)  # fmt: skip
        Loop(monitor, tmp_path).train(rising(rows, narrows_at=20))
        found = check((tmp_path / "found.json").read_text(encoding="utf-8"))
        assert found["schema"] == "grpo-dynamics/monitor/1"


# --- the schemas are strict ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_of_each(outputs: Outputs) -> dict[str, list[dict[str, Any]]]:
    """All outputs of the cases, by the schema they name."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for document in outputs.all():
        found[document["schema"]].append(document)
    return found


def test_no_object_takes_a_key_that_it_does_not_know(
    one_of_each: dict[str, list[dict[str, Any]]],
) -> None:
    taken = []
    for name, (document, *_) in one_of_each.items():
        mine = copy.deepcopy(document)
        for path, inner in dict(objects(mine)).items():  # one object of each place
            inner["no such key"] = {"of no": ["known", "kind"]}
            if not faults(mine):
                taken.append((name, path))
            del inner["no such key"]
    assert taken == [("grpo-dynamics/read/1", ANYTHING)]


def test_no_key_can_be_missing(one_of_each: dict[str, list[dict[str, Any]]]) -> None:
    for name, documents in one_of_each.items():
        for document in documents:
            for key in document.keys() - {"schema"} - FREE.get(name, set()):
                rest = {other: value for other, value in document.items() if other != key}
                assert faults(rest), f"{name} is complete without {key}"


def test_no_schema_has_a_key_that_no_output_has(
    one_of_each: dict[str, list[dict[str, Any]]],
) -> None:
    for name, documents in one_of_each.items():
        seen = {key for document in documents for _, inner in objects(document) for key in inner}
        told = {key for part in fixed(load(name)) for key, value in part["properties"].items()}
        assert told - seen == set(), name
