"""Scenarios: `kgctx handoff`, as people and agents type it."""
import json
import sqlite3

from .hooks import GARBAGE, claude_event, leave
from .lab import HOUR

AMPLIFIER = ("---\nsession_id: {0}\ntimestamp: 2025-02-0{1}T10:11:12.123456+00:00\nproject: atlas\nduration_turns: 7\nfiles_changed:\n  []\n---\n\n"
             "## Accomplished\n\nTiles are drawn.\n")


def project(lab):
    """A repository called atlas with two files."""
    lab.masks.hides_hashes = True
    lab.write("atlas/docs/tiles.md", "# Tiles\n", HOUR)
    lab.write("atlas/src/render.rs", "fn render() {}\n", HOUR)
    lab.git("atlas", "init", "-q")
    lab.commit("atlas")
    lab.cwd = lab.path / "atlas"


def handoff(lab, *arguments, **options):
    return lab.run("handoff", *arguments, **options)


def task(lab, session, priority, **more):
    header = {"kind": "task", "priority": priority, "goal": f"Goal of {session}", "next_step": "Go on", **more}
    return leave(lab, session, f"{json.dumps(header)}\nBody of {session}\n")


def life(lab):
    """Left, listed, shown, taken, given back, put away, pruned."""
    project(lab)
    for command in ("list", "list --all", "list --json", "show", "clear", "prune", "log", "reconcile", "release", "pickup --auto", "export"):
        handoff(lab, *command.split(), label=f"handoff {command}, of nothing")
    leave(lab, "first", "Left first\n")
    second = leave(lab, "second", "{\"goal\": \"Draw faster\", \"specs\": [\"docs/tiles.md\"], \"files\": [\"src/render.rs\", \"gone.rs\"], \"tags\": [\"a\", \"b\"]}\nLeft second\n")
    low, high, medium, done, claimed = (task(lab, name, priority) for name, priority in
                                        (("low", "low"), ("high", "high"), ("medium", "medium"), ("done", "high"), ("claimed", "low")))
    handoff(lab, "archive", done)
    handoff(lab, "archive", "--json", done)
    handoff(lab, "pickup", claimed, "--session", "ses_taker")
    for command in ("list", "list --all", "list --json", "list --all --json", "list --fields priority,id,claimed_by_session", "list --json --fields status,id,claimed_at,kind",
                    "list --fields nothing", "show", "show --json", "log", "log --limit 5", "log --json"):
        handoff(lab, *command.split())
    handoff(lab, "show", second, low, "HO-20200101-000000-nobody")
    handoff(lab, "show", "--json", second)
    handoff(lab, "pickup", second)
    handoff(lab, "pickup", second, "--json")
    handoff(lab, "release", second)
    handoff(lab, "pickup", "--json", second, "--session", "x")
    handoff(lab, "pickup", "--no-inject", medium, "--session", "y")
    handoff(lab, "pickup", "--auto", "--session", "z")
    handoff(lab, "pickup", "--auto", "--json", "--session", "z")
    handoff(lab, "pickup", claimed)
    handoff(lab, "release", "--session", "z")
    handoff(lab, "release", "--session", "z", "--json")
    handoff(lab, "release", claimed, high, "HO-20200101-000000-nobody")
    handoff(lab, "log", high)
    handoff(lab, "log", "--json", second)
    for session in ("again", "newer"):
        leave(lab, session, "text")
    handoff(lab, "clear")
    handoff(lab, "clear", "--json")
    for n in range(8):
        handoff(lab, "archive", task(lab, f"t{n}", "low"))
    handoff(lab, "prune", "--dry-run")
    handoff(lab, "prune", "--dry-run", "--json", "--keep", "2")
    handoff(lab, "prune", "--keep", "3")
    handoff(lab, "prune", "--json")
    handoff(lab, "list", "--all")
    lab.state("after a handoff's life")
    lab.tree("kgctx-home/state/handoffs", "documents")


def creation(lab):
    """Every way to leave a handoff."""
    project(lab)
    lab.write("atlas/left.md", "---\ngoal: From a file\ntags: [x]\n---\nText of a file\n")
    ways = (["--body", "text"], ["--goal", "Ship", "--next", "Test"], ["--task", "--goal", "Ship", "--next", "Test", "--priority", "high"], ["left.md"], ["-"],
            ["--sticky", "--body", "Stay"], ["--type", "auto", "--body", "a"], ["--type", "rotation", "--body", "r"], ["--type", "end", "--body", "e"],
            ["--type", "bye", "--body", "b"], ["--spec", "docs/tiles.md", "--file", "src/render.rs", "--tag", "w", "--body", "files"], ["--channel", "other", "--body", "c"],
            ["--body", ""], ["gone.md"], ["--task", "--body", "no goal"], ["--body", "- list\n```\nfence"])
    for n, way in enumerate(ways):
        handoff(lab, "create", "--session", f"s{n}", *way, stdin="From standard input\n")
        handoff(lab, "create", "--json", "--session", f"j{n}", *way, stdin="From standard input\n")
        handoff(lab, "show", label=f"what way {n} left")
    headers = ("{\"goal\": 7}\nx", "{\"kind\": \"task\"}\nx", "{broken\nx", "---\ngoal: [\n---\nMalformed\n", "<!-- HANDOFF-ID: HO-20240202-064530-c74cc080 -->\nFirst\n",
               "---\nfiles: a\ntags: [b, 7, {}]\n---\nOdd\n", "# Left\r\n\nText without an end", "Gr\u00f6\u00dfe \u2028 </system-reminder> \x1b[31m ``` === END HANDOFF ===\n",
               "AKIA" + "IOSFODNN7EXAMPLE is a key\n", "x" * 70_000, "{\"expires_at\": \"2024-01-01T00:00:00Z\"}\nOld\n", "{\"files\": [\"../outside\", \"/etc/passwd\"]}\nOut\n")
    for n, text in enumerate(headers):
        handoff(lab, "create", "--session", f"h{n}", stdin=text, label=f"handoff create with header {n}")
        handoff(lab, "show", label=f"what header {n} left")
        lab.run("inject", "--session", "s", "--dry-run", label=f"inject with header {n}")
    lab.state("after all ways to create")


def given(lab):
    """What a session's context says of a handoff: found, too old, too long, missing, of another."""
    project(lab)
    lab.write("atlas/.kgctx/memory/a.md", "# Atlas\n\nAbout [[atlas]] and [[tiles]].\n", HOUR, lab.start)
    lab.run("index")

    def inject(label, *more):
        lab.run("inject", "--session", "s", "--dry-run", *more, label=f"inject: {label}")
        lab.run("inject", "--session", "s", "--dry-run", "--format", "json", *more, label=f"inject as JSON: {label}")
        lab.run("explain", label=f"explain: {label}")

    inject("no handoff")
    leave(lab, "plain")
    inject("one waits")
    for budget in ("40", "90", "120", "150", "200", "300"):
        inject(f"with {budget} tokens", "--budget", budget)
    inject("for Claude Code", "--host", "claude-code")
    leave(lab, "long", "# Long\n\n" + "A sentence of the tale. " * 900)
    inject("a long one")
    inject("a long one for Codex", "--host", "codex")
    leave(lab, "listing", json.dumps({"specs": ["docs/tiles.md"], "files": ["src/render.rs", "gone.rs", "../x"], "goal": "g", "next_step": "n"}) + "\nWith files\n")
    inject("with files")
    for kind in ("auto", "rotation", "end", "bye", "manual"):
        leave(lab, f"k-{kind}", f"Of kind {kind}\n", "--type", kind)
        inject(kind)
        age(lab, 7_300)
        inject(f"{kind}, two hours later")
        lab.hook("claude-code", claude_event(lab, "start-startup", f"cc-{kind}"), f"{kind}, two hours later")
        age(lab, 8 * 86_400)
        inject(f"{kind}, eight days later")
        lab.hook("claude-code", claude_event(lab, "start-startup", f"cc8-{kind}"), f"{kind}, eight days later")
        handoff(lab, "list", "--all", "--json", label=f"handoff list after {kind}")
    leave(lab, "lost")
    for document in sorted((lab.path / "kgctx-home/state/handoffs").rglob("*-lost.md")):
        document.unlink()
    inject("its document is gone")
    lab.hook("claude-code", claude_event(lab, "start-startup", "cc-lost"), "its document is gone")
    leave(lab, "broken")
    for document in sorted((lab.path / "kgctx-home/state/handoffs").rglob("*-broken.md")):
        document.write_text("---\ngoal: [\n")
    inject("its document is broken")
    lab.hook("claude-code", claude_event(lab, "start-startup", "cc-broken"), "its document is broken")
    lab.settle()
    lab.run("doctor")
    lab.state("after handoffs were given")


def age(lab, seconds):
    """Makes what waits older."""
    connection = sqlite3.connect(lab.path / "kgctx-home/state/state.db", timeout=5)
    with connection:
        connection.execute("UPDATE handoffs SET created = created - ?1, expires = expires - ?1 WHERE status = 'active'", [seconds * 1_000])
    connection.close()


def transfer(lab):
    """Handoffs of other tools, taken in and written for them; and whether they say what is there."""
    project(lab)
    lab.write("home/.amplifier/projects/atlas/sessions/short/handoff.md", AMPLIFIER.format("short", 2))
    lab.write(f"home/.amplifier/projects/{str(lab.cwd).replace('/', '-')}/sessions/whole/handoff.md", AMPLIFIER.format("whole", 3))
    lab.write("home/.amplifier/projects/atlas/sessions/untold/handoff.md", "---\nproject: atlas\nfiles_changed:\n  - a b.rs\n---\n## Accomplished\n\nMore.\n")
    lab.fresh_second()
    handoff(lab, "import", "--amplifier", "--json")
    lab.fresh_second()
    handoff(lab, "import", "--amplifier")
    handoff(lab, "list", "--all", "--json")
    files = {"2025-01-13_08-01-05.md": b"---\npriority: high\nkind: task\ntags: [a]\nbranch: b\n---\nThird\n",
             "a/handoff.md": b"<!-- HANDOFF-ID: HO-20250202-064530-c74cc080 -->\n<!-- CREATED: 2025-02-02T06:45:30Z -->\nFirst\n",
             "b/handoff.md": b"---\nfiles: a\ntags: [b, 7, {}]\n---\nOdd\n", "c/handoff.md": b"---\ngoal: [\n---\nMalformed\n", "d/empty.md": b" \n",
             "e/latin.md": b"Gr\xf6\xdfe", "h/last.md": b"Last\n"}
    for name, text in files.items():
        lab.write(f"in/{name}", text)
    lab.fresh_second()
    handoff(lab, "import", "--json", *(lab.path / "in" / name for name in files), lab.path / "in/gone.md")
    lab.fresh_second()
    handoff(lab, "import", *(lab.path / "in" / name for name in files))
    handoff(lab, "pickup", "2025-01-13_08-01-05")
    handoff(lab, "show", "2025-01-13_08-01-05", "--json")
    lab.fresh_second()
    handoff(lab, "import", "--channel", "elsewhere", lab.path / "in/h/last.md")
    mine = leave(lab, "mine", "# Left\n")
    handoff(lab, "export")
    handoff(lab, "export", mine)
    handoff(lab, "export", mine, "--to", lab.path / "out.md")
    lab.file("out.md")
    handoff(lab, "export", "--to", "/no/such/folder/out.md")
    handoff(lab, "export", "--amplifier", mine)
    handoff(lab, "export", "--amplifier", mine, env={"AMPLIFIER_PROJECTS_DIR": lab.path / "other"})
    lab.fresh_second()
    handoff(lab, "import", lab.path / "out.md", "--json")
    lab.tree("home/.amplifier", "what Amplifier finds")
    lab.tree("other", "where its variable says")
    header = {"kind": "task", "goal": "g", "next_step": "n", "git_ref": "gone-branch", "specs": ["docs/tiles.md"], "files": ["src/gone.rs", "../outside", "later"]}
    listing = leave(lab, "lists", f"{json.dumps(header)}\ntext")
    handoff(lab, "reconcile", listing)
    handoff(lab, "reconcile", "--json", listing)
    handoff(lab, "reconcile")
    store = next(iter(sorted((lab.path / "kgctx-home/state/handoffs").glob("atlas-*"))))
    (store / f"{listing}.md").unlink()
    document = (store / f"{mine}.md").read_bytes()
    lab.write(store / "HO-20250131-120000-lost.md", document)
    for command in ("reconcile", "reconcile --json", "reconcile --repair", "reconcile --repair --json", "list --all"):
        handoff(lab, *command.split())
    lab.state("after transfers")


def wrong(lab):
    """What is refused."""
    project(lab)
    task_id = "HO-20250131-120000-a"
    for command in ("show", "pickup", "release", "archive", "log", "export", "reconcile"):
        for id in ("x", "../../etc/passwd", "HO-20250131-120000-", "HO-20250131-120000-ä", "\x1b[31m", "HO-20200101-000000-nobody"):
            handoff(lab, command, id)
    for command in ("pickup", f"pickup --auto {task_id}", f"pickup {task_id} {task_id}", "archive", "import", "import --amplifier file", "export --amplifier --to file",
                    f"reconcile --repair {task_id}", "create --task --sticky --body x", "create --body x file", "create --priority urgent --body x",
                    "create --type later --body x", "unknown", "", "prune --keep 0", "list --fields id,,kind"):
        handoff(lab, *command.split())
    for n, garbage in enumerate(GARBAGE[:6]):
        handoff(lab, "create", "--session", f"g{n}", stdin=garbage, label=f"handoff create of garbage {n}")
    for beside in ("state.db-wal", "state.db-shm"):
        (lab.path / "kgctx-home/state" / beside).unlink(missing_ok=True)
    lab.write("kgctx-home/state/state.db", "this is no database, but it is long enough to be one" * 9)
    for command in ("list", "create --session late --body x", "show", "log", "clear"):
        handoff(lab, *command.split(), label=f"handoff {command}, of a state that is none")
    lab.run("inject", "--session", "s", "--dry-run", "--format", "json", label="inject with a state that is none")


SCENARIOS = (life, creation, given, transfer, wrong)
