"""Scenarios: `kgctx check` on a repository for each rule, and on one that grows."""
from .lab import DAY, END, FIXTURES

FORMATS = ("text", "json", "github", "sarif", "junit", "markdown")


def state(lab, folder, fixture, at):
    """Commits a fixture as the repository's next state."""
    lab.copy(fixture, folder)
    lab.commit(folder, at=at)


def rules(lab):
    """Every rule, broken and kept, in every format; and switched off."""
    for rule in sorted(path.name for path in (FIXTURES / "check").iterdir()):
        for variant in ("bad", "good"):
            top = f"{rule}-{variant}/repository"
            (lab.path / top).mkdir(parents=True)
            lab.git(top, "init", "-q")
            base = FIXTURES / "check" / rule / "base"
            compared = ["--base", "HEAD~1"] if base.exists() else []
            if base.exists():
                state(lab, top, base, END - 10 * DAY)
            state(lab, top, FIXTURES / "check" / rule / variant, END)
            for form in FORMATS if variant == "bad" else ("text", "json"):
                lab.run("check", "--dir", top, "--format", form, *compared)
            if variant == "bad":
                settings = lab.path / top / "kgctx.toml"
                before = settings.read_text() if settings.exists() else ""
                settings.write_text(f"{before}\n[check.rules]\n{rule} = \"off\"\n")
                lab.run("check", "--dir", top, *compared, label=f"check {rule}, switched off")


def growth(lab):
    """One repository: no git, no commit, notes, settings, a baseline, a base, and what goes wrong."""
    top = "atlas"

    def note(name, text):
        lab.write(f"{top}/.kgctx/memory/{name}.md", f"# {name}\n\n{text}\n", DAY)

    def check(*more, **options):
        lab.run("check", "--dir", top, *more, **options)

    (lab.path / top).mkdir()
    check(label="check of an empty folder")
    note("atlas", "Serves map tiles with the [[renderer]] and the [[tile cache]].")
    check(label="check without git")
    lab.git(top, "init", "-q")
    check(label="check without a commit")
    note("renderer", "The [[renderer]] turns [[vector data]] into tiles for atlas.")
    lab.commit(top, at=END - 5 * DAY)
    note("tile-cache", "The [[tile cache]] of atlas keeps tiles by [[zoom level]].")
    lab.commit(top, at=END - 2 * DAY)
    for form in FORMATS:
        check("--format", form)
    check("--now", "2025-08-01", "--format", "json")
    check("--base", "HEAD~1")
    check("--base", "HEAD~1", "--format", "markdown")
    check("--init")
    lab.file("atlas/kgctx.toml")
    lab.file("atlas/.kgctx/check.json")
    check("--init", label="check --init again")
    lab.commit(top, at=END - DAY)
    for n in range(12):
        note(f"more-{n}", f"More about [[atlas]] {n} and [[thing {n}]]. " + "A sentence that fills the budget. " * 20)
    lab.write(f"{top}/CLAUDE.md", "# Rules\n\n@docs/more.md\n" + "Always do this. " * 300)
    lab.write(f"{top}/docs/more.md", "# More\n\nSee [[nowhere at all]] and [a link](gone.md).\n", DAY)
    lab.write(f"{top}/.kgctx/handoffs/left.md", "---\ngoal: Ship\nfiles: [gone.rs]\n---\nGo on.\n", DAY)
    lab.commit(top, at=END)
    for form in FORMATS:
        check("--format", form, label=f"check with a baseline, as {form}")
        check("--base", "HEAD~1", "--format", form, label=f"check with a base, as {form}")
    check("--update-baseline")
    lab.file("atlas/.kgctx/check.json", "the baseline, updated")
    check(label="check after the update")
    lab.write(f"{top}/kgctx.toml", "[check]\nproject = \"mercury\"\ngrowth_tokens = 10\n\n[[check.session]]\nname = \"web\"\nhost = \"codex\"\nbudget = 300\n"
              "now = \"2025-06-14\"\nbranch = \"feature\"\n\n[[check.session]]\nname = \"cc\"\nhost = \"claude-code\"\n")
    for form in FORMATS:
        check("--format", form, label=f"check of declared sessions, as {form}")
    for wrong in ("[check]\ngrowth_tokens = \"many\"\n", "token_limit = \"x\"\n", "[check\n", "source = \"cli\"\n", "[[vault]]\npath = \"../elsewhere\"\n",
                  "[check.rules]\nnothing = \"off\"\n", "[check]\nbaseline = \".git/x\"\n", "[[check.session]]\nhost = \"emacs\"\n"):
        lab.write(f"{top}/kgctx.toml", wrong)
        check(label=f"check with {wrong!r}")
        check("--update-baseline", label=f"check --update-baseline with {wrong!r}")
    (lab.path / top / "kgctx.toml").unlink()
    for revision in ("nobody", "--output=x", "-1", "HEAD~99"):
        check("--base", revision)
    check(env={"PATH": "/nowhere"})


def amplifier_session(lab):
    """A session of Amplifier among those that are checked."""
    lab.write("atlas/docs/a.md", "# A\n\nAbout [[atlas]].\n", DAY)
    lab.write("atlas/kgctx.toml", "[[check.session]]\nname = \"amp\"\nhost = \"amplifier\"\n")
    lab.git("atlas", "init", "-q")
    lab.commit("atlas")
    for form in FORMATS:
        lab.run("check", "--dir", "atlas", "--format", form)


SCENARIOS = (rules, growth, amplifier_session)
