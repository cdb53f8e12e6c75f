"""Scenarios: maenifold as a source, by its database and by its program."""
import datetime
import json
import os
import re
import sqlite3

from .contexts import explained, inject
from .lab import FIXTURES, HOUR, NOW, REPOSITORY

HOURS = {"zephyr.md": 6, "rigging/mast.md": 4, "rigging/sail.md": 3, "rigging/stay.md": 27, "hull/keel.md": 2, "decisions/no-engine.md": 1}
# Answers in the form of maenifold's program, whatever it is asked.
ANSWERS = {
    "SearchMemories": {"success": True, "data": {"results": [{"uri": "memory://rigging/mast", "title": "Mast", "textScore": 0.4, "snippet": "A [[Mast]] of [[zephyr]]."}],
                                                 "mode": "Hybrid"}, "error": None},
    "RecentActivity": "# Recent Activity\n\n**sail** (memory)\n  Modified: 2025-06-15 09:00\n  Title: Sail\n  Sections: 2\n  First: \"The [[Sail]] is on the [[Mast]].\"\n",
    "BuildContext": "# Context for CONCEPT: mast\n\n## Direct relations (2)\n\n  • sail (co-occurs in 2 files)\n  • stay (co-occurs in 1 files)\n",
}


def home(lab):
    """maenifold's notes in the home folder, and a project called zephyr."""
    fixture = FIXTURES / "maenifold/memory"
    for file in sorted(fixture.rglob("*.md")):
        path = str(file.relative_to(fixture))
        lab.write(f"home/maenifold/memory/{path}", file.read_bytes(), HOURS.get(path, 4_000 + len(path) * 50) * HOUR)
    (lab.path / "zephyr").mkdir()
    lab.git("zephyr", "init", "-q")
    lab.cwd = lab.path / "zephyr"


def sync(lab):
    """The database as maenifold's Sync makes it of the notes."""
    root = lab.path / "home/maenifold"
    (root / "memory.db").unlink(missing_ok=True)
    connection = sqlite3.connect(root / "memory.db")
    schema = next(iter(REPOSITORY.glob("tests/**/memory.sql")))
    connection.executescript(schema.read_text())
    graph = {}
    for file in sorted((root / "memory").rglob("*.md")):
        text = file.read_text()
        uri = "memory://" + str(file.relative_to(root / "memory"))[:-3]
        body = text.split("---\n", 2)[2] if text.startswith("---\n") else text
        title = re.search(r"^title: *(.*)$", text, re.M)
        moment = datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.timezone.utc)
        connection.execute("INSERT INTO file_content (file_path, title, content, last_indexed) VALUES (?, ?, ?, ?)",
                           [uri, title[1].strip("\"'") if title else file.stem, body, moment.strftime("%Y-%m-%dT%H:%M:%S.0000000Z")])
        mentions = {}
        for link in re.findall(r"\[\[([^\]|]+)", body):
            name = re.sub(r"[\s_/]+", "-", link.strip().lower())
            mentions[name] = mentions.get(name, 0) + 1
        names = sorted(mentions)
        for n, name in enumerate(names):
            connection.execute("INSERT OR IGNORE INTO concepts (concept_name) VALUES (?)", [name])
            connection.execute("INSERT INTO concept_mentions VALUES (?, ?, ?)", [name, uri, mentions[name]])
            for other in names[n + 1:]:
                graph.setdefault((name, other), []).append(uri)
    for (a, b), uris in sorted(graph.items()):
        connection.execute("INSERT INTO concept_graph VALUES (?, ?, ?, ?)", [a, b, len(uris), json.dumps(uris)])
    connection.commit()
    connection.close()


def program(lab, misbehaviour=""):
    """A program called maenifold with fixed answers."""
    cases = ""
    for tool, answer in ANSWERS.items():
        text = answer if isinstance(answer, str) else json.dumps(answer)
        lab.write(f"answers/{tool}", text)
        cases += f"{tool}) {misbehaviour or f'cat {lab.path}/answers/{tool}'};;\n"
    lab.program_called("maenifold", f"case \"$2\" in\n{cases}*) echo \"Unknown tool: $2\";;\nesac")
    (lab.path / "home/maenifold/assets").mkdir(exist_ok=True, parents=True)


def ask(lab, label):
    """Everything that can be asked of a source."""
    for source in ("auto", "index", "database", "cli"):
        inject(lab, "--source", source, label=f"{label}: inject by {source}")
        inject(lab, "--source", source, "--format", "json", label=f"{label}: inject by {source} as JSON")
        lab.run("search", "mast", "--source", source, "--json", label=f"{label}: search by {source}")
        lab.run("search", "no such thing", "--source", source, label=f"{label}: search in vain by {source}")
        lab.run("recent", "--timespan", "24h", "--now", NOW, "--source", source, "--json", label=f"{label}: recent by {source}")
        lab.run("context", "mast", "--now", NOW, "--source", source, label=f"{label}: context by {source}")
        lab.run("context", "mast", "--now", NOW, "--source", source, "--json", "--depth", "2", label=f"{label}: deep context by {source}")


def sources(lab):
    """Each source, there and missing, current and behind, sound and broken."""
    home(lab)
    ask(lab, "notes alone")
    sync(lab)
    ask(lab, "a database")
    explained(lab)
    lab.run("doctor")
    program(lab)
    ask(lab, "a database and a program")
    lab.run("doctor", "--json")
    lab.write("home/maenifold/memory/rigging/stay.md", "# Stay\n\nA [[Stay]] holds the [[Mast]].\n", 26 * HOUR)
    ask(lab, "a database that is behind")
    explained(lab)
    lab.write("zephyr/docs/a.md", "# A\n\nThe [[Mast]] of zephyr, and a [[Cabin]].\n", HOUR)
    ask(lab, "with notes of the project, too")
    explained(lab)
    for misbehaviour in ("exit 3", "echo", "echo '{\"ok\":true,\"hits\":[]}'", "echo 'Error invoking: database is locked'", "printf '\\377\\376'"):
        program(lab, misbehaviour)
        inject(lab, "--source", "cli", "--format", "json", label=f"a program that does {misbehaviour}")
        lab.run("search", "mast", "--source", "cli", label=f"search of a program that does {misbehaviour}")
    os.remove(lab.path / "bin/maenifold")
    for broken in (b"", b"this is no database, and was never meant to be one"):
        lab.write("home/maenifold/memory.db", broken)
        inject(lab, "--format", "json", label=f"a database of {len(broken)} bytes")
        lab.run("search", "mast", "--source", "database", label=f"search in a database of {len(broken)} bytes")


SCENARIOS = (sources,)
