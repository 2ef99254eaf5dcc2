"""No rule of seeds/RULES.md without a test named by it, and no test of a rule that is not there."""

import ast
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SEEDS = HERE.parents[1] / "seeds"
RULE_ID = r"[A-Z]\d+"
FAMILIES = {"C": 9, "F": 13, "T": 13, "A": 9, "S": 5, "D": 17}


def written_rules(text: str) -> list[str]:
    """The ids in the first column of the tables of RULES.md, in order."""
    return re.findall(rf"^\| ({RULE_ID}) \|", text, flags=re.MULTILINE)


def named_rules(source: str) -> list[str]:
    """The rule ids in the names of the test functions of a module."""
    functions = [n.name for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    matches = [re.match(rf"test_({RULE_ID})_\w", name) for name in functions]
    return [match[1] for match in matches if match]


def missing_and_unknown(rules: list[str], tested: list[str]) -> tuple[list[str], list[str]]:
    """The rules without a test, and the ids that tests name though no rule has them."""
    missing = [rule for rule in rules if rule not in tested]
    return missing, sorted(set(tested) - set(rules))


def rules_in_seeds() -> list[str]:
    return written_rules((SEEDS / "RULES.md").read_text(encoding="utf-8"))


def test_every_rule_has_a_test() -> None:
    sources = [path.read_text(encoding="utf-8") for path in sorted(HERE.glob("test_*.py"))]
    tested = [rule for source in sources for rule in named_rules(source)]
    missing, unknown = missing_and_unknown(rules_in_seeds(), tested)
    assert not missing, f"no test named test_<rule>_... for {', '.join(missing)}"
    assert not unknown, f"tests name rules that seeds/RULES.md does not have: {', '.join(unknown)}"


def test_the_rules_are_read_whole() -> None:
    expected = [f"{family}{n}" for family, last in FAMILIES.items() for n in range(1, last + 1)]
    assert rules_in_seeds() == expected, "a new rule belongs into FAMILIES, too"


def test_golden_cases_name_rules_that_exist() -> None:
    vectors: dict[str, Any] = json.loads((SEEDS / "rules-vectors.json").read_text(encoding="utf-8"))
    cases = [case for cases in vectors["cases"].values() for case in cases]
    golden = [rule for case in cases for rule in case["rules"]] + list(vectors["cases"])
    missing, unknown = missing_and_unknown(rules_in_seeds(), golden)
    assert not unknown, f"golden cases name rules that are not there: {', '.join(unknown)}"
    print(f"rules without a golden case: {', '.join(missing) or 'none'}")


def test_a_rule_without_a_test_would_be_found() -> None:
    rules = written_rules("| id | rule |\n|---|---|\n| F1 | Deal. |\n| F12 | Target (F9). |\n")
    assert rules == ["F1", "F12"], "ids in the text of a rule are not rules"
    source = (
        "def test_F1_deal() -> None: ...\ndef test_F3_lead() -> None: ...\ndef helper_F12_x(): ..."
    )
    assert missing_and_unknown(rules, named_rules(source)) == (["F12"], ["F3"])
    assert named_rules("def test_F1(): ...") == [], "a name says more than the id"
