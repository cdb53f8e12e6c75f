"""Scenarios: help, and what is said to wrong commands. Differences here may be meant: they are listed apart."""
from .lab import HELP

COMMANDS = ("", "inject", "hook", "hook opencode", "hook claude-code", "hook amplifier", "serve", "explain", "handoff", "handoff create", "handoff list", "handoff show",
            "handoff pickup", "handoff release", "handoff archive", "handoff clear", "handoff prune", "handoff log", "handoff import", "handoff export",
            "handoff reconcile", "index", "search", "recent", "context", "check", "whoami", "config", "install", "uninstall", "doctor")


def help_texts(lab):
    for command in COMMANDS:
        lab.run(*command.split(), "--help", group=HELP)
        lab.run(*command.split(), "-h", group=HELP)
    lab.run("--version", group=HELP)


def wrong_usage(lab):
    lab.write("file.md", "x")
    (lab.path / "app/.kgctx").mkdir(parents=True)
    for command in ("--vault nowhere index", "--vault file.md search x", "--vault file.md/x search x", "--dir nowhere whoami", "--dir file.md whoami", "--dir app index",
                    "recent --timespan 24:00:00", "recent --timespan -1h", "recent --now soon", "recent --filter chat", "context x --depth 9", "search", "serach x", "",
                    "inject", "inject --session s --dry-run --server http://x", "inject --session s --dry-run --format yaml", "inject --session s --dry-run --host emacs",
                    "inject --session s --dry-run --budget many", "inject --session s --dry-run --source nowhere", "explain --json --html x", "explain --html /no/where/x.html",
                    "serve --json", "serve --status --server x", "index --watch --json", "check --format pdf", "check --init --base HEAD", "check --base HEAD --update-baseline",
                    "hook", "hook emacs", "install", "install emacs", "uninstall emacs", "doctor --server x", "config --yaml", "whoami x"):
        lab.run(*command.split())
    lab.run("whoami", env={"TOKEN_LIMIT": "many"})
    lab.run("whoami", env={"HOME": None, "KGCTX_HOME": None})


SCENARIOS = (help_texts, wrong_usage)
