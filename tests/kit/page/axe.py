"""axe-core over an open page: what a reader with a keyboard, a screen reader or weak eyes would trip over."""

from pathlib import Path

from playwright.sync_api import Page

SOURCE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
GRAVE = ("serious", "critical")


def grave(page: Page) -> list[str]:
    """Serious and critical violations: the rule, what is wrong, the first elements that break it."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(SOURCE.read_text())
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']} ({one['impact']}, {len(one['nodes'])}): {one['help']}: "
        + "; ".join(f"{node['html'][:160]} [{_why(node)}]" for node in one["nodes"][:3])
        for one in found["violations"]
        if one["impact"] in GRAVE
    ]


def _why(node: dict) -> str:
    return " ".join(check["message"] for check in (*node["any"], *node["all"], *node["none"]))[:200]
