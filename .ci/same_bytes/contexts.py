"""Scenarios: contexts, their explanations, questions about notes, identity and settings."""
import json
import lzma
import os
import pathlib

from . import notes
from .lab import HOUR, NOW, REPOSITORY

BUDGETS = (0, 1, 60, 100, 150, 200, 260, 320, 500, 1_000, 100_000)
HOSTS = ("plain", "opencode", "claude-code", "codex")
QUERIES = ("renderer", "tile cache", "stale while revalidate", "memory://docs/overview", "nothing like this", "\"unbalanced", "-x OR *", "Rate-Limiting", "")


def inject(lab, *more, **options):
    return lab.run("inject", "--session", "s", "--dry-run", "--now", NOW, *more, **options)


def explained(lab, *more):
    """The same context explained in three ways."""
    lab.run("explain", *more)
    lab.run("explain", "--json", *more)
    lab.run("explain", "--html", lab.path / "page.html", *more)
    lab.file("page.html", "explained as a page")
    (lab.path / "page.html").unlink(missing_ok=True)


def injection(lab):
    """A small project: every host, format and budget."""
    lab.atlas()
    lab.cwd = lab.path / "atlas"
    lab.run("explain", label="explain, when there is nothing to explain")
    for budget in BUDGETS:
        inject(lab, "--budget", budget)
        inject(lab, "--budget", budget, "--format", "json")
    for host in HOSTS:
        inject(lab, "--host", host, "--format", "json")
        explained(lab)
    inject(lab, "--timings")
    explained(lab, "--session", "s")
    explained(lab, "--dry-run", "--now", NOW, "--budget", "300")
    lab.run("explain", "--session", "unknown")
    for env in ({"TOKEN_LIMIT": "200"}, {"KGCTX_ENCODING": "cl100k_base"}, {"SESSION_START_ENABLED": "false"}, {"KGCTX_LINKS": "obsidian"},
                {"KGCTX_MAX_FILE_BYTES": "400"}, {"KGCTX_DEFAULT_VAULTS": "false"}, {"TOKEN_LIMIT": "many"}, {"KGCTX_SOURCE": "cli"}):
        inject(lab, "--format", "json", env=env)
    for source in ("auto", "index", "database", "cli"):
        inject(lab, "--source", source, "--format", "json")
        explained(lab)
    inject(lab, "--vault", "docs", "--format", "json")
    inject(lab, "--vault", "docs", "--vault", ".kgctx/memory")
    lab.run("inject", "--session", "s", "--dry-run", "--now", "2025-04-01", "--format", "json")
    lab.state("after injections")


def generated(lab):
    """Vaults of several sizes, for several projects."""
    for count, seed in ((12, 1), (80, 2), (400, 3)):
        vault = f"vault-{count}"
        notes.ordinary(lab, vault, count, seed)
        for project in ("auth-service", "cache", "nobody"):
            (lab.path / project / ".kgctx").mkdir(parents=True, exist_ok=True)
            for budget in ("120", "700", "4000"):
                inject(lab, "--dir", project, "--vault", vault, "--budget", budget)
            inject(lab, "--dir", project, "--vault", vault, "--format", "json")
            explained(lab)
        inject(lab, "--dir", "cache", "--vault", vault, "--host", "claude-code", "--budget", "100000")
        lab.run("index", "--vault", vault, "--json")
        lab.run("index", "--vault", vault, "--full")
    for query in ("auth service", "latency", "alias 7", "changed", "設計", "fact #graph"):
        lab.run("search", query, "--vault", "vault-400", "--limit", "8")
        lab.run("search", query, "--vault", "vault-400", "--json")
    for concept in ("auth service", "Cache_Layer", "naïve", "absent"):
        for depth in ("0", "1", "2", "3"):
            lab.run("context", concept, "--depth", depth, "--now", NOW, "--vault", "vault-400", "--json")
        lab.run("context", concept, "--now", NOW, "--vault", "vault-400", "--max-entities", "3")
    for span in ("24h", "90m", "7d", "2w", "1.00:00:00"):
        lab.run("recent", "--timespan", span, "--now", NOW, "--vault", "vault-400", "--json")
        lab.run("recent", "--timespan", span, "--now", NOW, "--vault", "vault-400", "--limit", "3")


def hostile(lab):
    """Notes that try to break a fence, a budget or a terminal."""
    notes.hostile(lab, "zephyr/docs")
    lab.git("zephyr", "init", "-q")
    lab.cwd = lab.path / "zephyr"
    for budget in BUDGETS + (4_000,):
        inject(lab, "--budget", budget)
    inject(lab, "--format", "json", "--host", "codex")
    explained(lab)
    lab.run("index")
    lab.run("index", "--json")
    for query in ("secret", "zephyr", "system-reminder", "größer", "]] [["):
        lab.run("search", query)
        lab.run("search", query, "--json", "--limit", "20")
    lab.run("recent", "--now", NOW)
    lab.run("recent", "--now", NOW, "--json", "--limit", "100")
    for concept in ("secret 1", "system-reminder", "[[", "\x1b[31m"):
        lab.run("context", concept, "--now", NOW)
        lab.run("context", concept, "--now", NOW, "--json")


def questions(lab):
    """search, recent, context and index on a small project, and as its notes change."""
    lab.atlas()
    lab.cwd = lab.path / "atlas"
    for query in QUERIES:
        lab.run("search", query)
        lab.run("search", query, "--json", "--limit", "2")
    for span in ("24h", "3d", "100d", "1.00:00:00", "0h"):
        lab.run("recent", "--timespan", span, "--now", NOW)
        for kept in ("all", "memory", "thinking"):
            lab.run("recent", "--timespan", span, "--now", NOW, "--filter", kept, "--json")
    for concept in ("renderer", "Tile Cache", "tile_cache", "vector data", "unknown", ""):
        lab.run("context", concept, "--now", NOW)
        lab.run("context", concept, "--now", NOW, "--depth", "2", "--json")
        lab.run("context", concept, "--now", NOW, "--depth", "2", "--max-entities", "2")
    lab.run("index", "--json")
    lab.write("atlas/docs/new.md", "# New\n\nA [[renderer]] of [[New Things]].\n", HOUR)
    lab.rest()
    lab.run("index")
    (lab.path / "atlas/docs/overview.md").unlink()
    lab.run("index", "--json")
    lab.run("index", "--full", "--json")
    lab.run("search", "new things", "--json")
    lab.write("kgctx-home/cache/index/README", "x")
    for index in (lab.path / "kgctx-home/cache/index").glob("*/index.db"):
        index.write_text("this is no database" * 400)
    lab.run("index", label="index, which is damaged")
    lab.run("search", "renderer")


def identity(lab):
    """Which project a folder belongs to."""
    for folder in ("work/app/src/deep", "plain/folder", "marked/.kgctx", "home/inner"):
        (lab.path / folder).mkdir(parents=True)
    lab.git("work/app", "init", "-q")
    lab.write("work/app/README.md", "# x\n")
    lab.commit("work/app")
    lab.git("work/app", "worktree", "add", "-q", "../../trees/fix", "-b", "fix")
    lab.git(".", "clone", "-q", "--bare", "work/app", "bare.git")
    lab.git("bare.git", "worktree", "add", "-q", "../trees/one", "-b", "one")
    lab.git("work/app", "submodule", "add", "-q", str(lab.path / "bare.git"), "lib")
    lab.write("work/app/kgctx.toml", "")
    lab.write("work/app/docs/a.md", "[[a]]", HOUR)
    lab.write("renamed/kgctx.toml", "channel = \"other\"\n")
    for folder in (".", "work/app", "work/app/src/deep", "work/app/.git/refs", "work/app/lib", "trees/fix", "trees/one", "bare.git", "plain/folder", "marked",
                   "renamed", "home", "home/inner", "/"):
        lab.run("whoami", "--dir", folder)
        lab.run("whoami", "--dir", folder, "--json")
    lab.git("work/app", "checkout", "-q", "--detach")
    lab.run("whoami", "--dir", "work/app", "--json", label="whoami, detached")
    lab.run("whoami", "--dir", "work/app", env={"KGCTX_CHANNEL": "named"})


def settings(lab):
    """Every setting and where it comes from, and wrong ones."""
    lab.write("app/docs/a.md", "# A\n\n[[a]]\n", HOUR)
    lab.write("home/maenifold/memory/m.md", "[[m]]", HOUR)
    (lab.path / "app/.kgctx/memory").mkdir(parents=True)
    (lab.path / "home/notes").mkdir()

    def config(**options):
        lab.run("--dir", "app", "config", **options)
        lab.run("--dir", "app", "config", "--json", **options)

    config()
    lab.write("kgctx-home/config.toml", "token_limit = 3000\nlinks = \"obsidian\"\nservers = [\"http://127.0.0.1:4097\"]\n[[vault]]\npath = \"~/notes\"\n[handoff]\nmax_age_days = 2\n")
    config(label="config with a file of the user's")
    lab.write("app/kgctx.toml", "token_limit = 2000\ndefault_vaults = false\n[[vault]]\npath = \"docs\"\nname = \"handbook\"\n")
    config(label="config with a file of the project's")
    config(env={"TOKEN_LIMIT": "1000", "SESSION_START_ENABLED": "false", "CLI_TIMEOUT": "250", "KGCTX_LINKS": "maenifold", "KGCTX_NOTICE": "log",
                "KGCTX_DELIVERY": "part", "KGCTX_ENCODING": "cl100k_base", "KGCTX_SERVERS": "http://a:1, http://b:2", "KGCTX_HANDOFFS": "off",
                "KGCTX_SOURCE": "database", "KGCTX_CHANNEL": "c", "KGCTX_COMPACTION_TOKEN_LIMIT": "9"})
    config(env={"KGCTX_VAULTS": "/p:/q"})
    lab.run("--dir", "app", "--vault", "a", "--vault", "x/b", "config", "--json")
    lab.run("--dir", "app", "config", env={"MAENIFOLD_ROOT": lab.path / "home"})
    for wrong in ("token_limit = 10\ntoken_limt = 20\n", "links = \"foam\"\n", "[[vault]]\nname = \"x\"\n", "max_file_bytes = -1\n", "a = = b\n",
                  "[[vault]]\npath = \"/a/x\"\n[[vault]]\npath = \"/b/x\"\n", "[[vault]]\npath = \"/a\"\nname = \"a/b\"\n", "[handoff]\nwhat = 1\n", "servers = 7\n"):
        lab.write("kgctx-home/config.toml", wrong)
        lab.run("--dir", "app", "config", label=f"config with {json.dumps(wrong)}")
        lab.run("--dir", "app", "inject", "--session", "s", "--dry-run", "--format", "json", "--now", NOW, label=f"inject with {json.dumps(wrong)}")
    (lab.path / "kgctx-home/config.toml").unlink()
    lab.write("app/kgctx.toml", "[[vault]]\npath = \"../../etc\"\n")
    lab.run("--dir", "app", "index")
    lab.write("app/kgctx.toml", "source = \"cli\"\n")
    lab.run("--dir", "app", "config")


def real_notes(lab):
    """Real notes, where the folder with public test data lies beside the checkout."""
    shared = pathlib.Path(os.environ.get("KGCTX_SHARED", REPOSITORY.parent / "shared"))
    replay = shared / "quality/data/dendron-site.replay.json.xz"
    if not replay.exists():
        return
    found = {}
    data = json.loads(lzma.open(replay).read())
    for step in data["steps"]:
        for change in step["ch"]:
            if change[0] in "AM":
                found[change[1]] = change[2]
            else:
                found.pop(change[1], None)
                if change[0] == "R":
                    found[change[2]] = change[3]
    for n, (path, blob) in enumerate(sorted(found.items())):
        lab.write(f"vault/{path}", data["blobs"][blob], n * 1_200)
    for project in ("dendron", "publish"):
        (lab.path / project / ".kgctx").mkdir(parents=True)
        for budget in ("300", "1000", "4000"):
            inject(lab, "--dir", project, "--vault", "vault", "--budget", budget)
        inject(lab, "--dir", project, "--vault", "vault", "--format", "json")
        explained(lab)
    lab.env["KGCTX_LINKS"] = "obsidian"
    inject(lab, "--dir", "dendron", "--vault", "vault", "--format", "json", label="inject with obsidian's links")
    lab.run("index", "--vault", "vault", "--json")
    for query in ("dendron", "publishing", "schema hierarchy", "vault"):
        lab.run("search", query, "--vault", "vault", "--json")
    lab.run("recent", "--timespan", "3d", "--now", NOW, "--vault", "vault", "--json")
    lab.run("context", "dendron", "--vault", "vault", "--now", NOW, "--depth", "2", "--json")


SCENARIOS = (injection, generated, hostile, questions, identity, settings, real_notes)
