"""Scenarios: install, uninstall and doctor."""
import os

from .hooks import leave
from .lab import DAY

BRIDGE = "home/.config/opencode/plugin/kgctx.ts"
OLDER = "// The bridge between OpenCode and kgctx, as it was.\nconst VERSION = \"0.0.9\"\n"
SETTINGS = {
    "nothing": "", "white space": " \n\t\r\n", "an empty object": "{}", "an empty object on its lines": "{\n}\n", "one line": '{"model":"opus"}',
    "one line, spaced": '{ "model": "opus", "env": { } }\n', "two spaces": '{\n  "model": "opus"\n}\n', "no line break at the end": '{\n  "model": "opus"\n}',
    "tabs": '{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "b"\n\t}\n}\n', "CRLF": '{\r\n    "model": "opus"\r\n}\r\n', "a byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "unicode": '{"env":{"ü😀\u2028":"\\u00e9\\ud83d\\ude00\\"}{"}}', "odd numbers": '{"a":1e300,"b":1.10,"c":12345678901234567890123,"d":-0.0}',
    "a name twice": '{"hooks":{"Stop":[]},"model":"a","hooks":{"SessionEnd":[]}}', "empty lists of hooks": '{\n  "hooks": {"SessionStart": [], "SessionEnd": [ ]}\n}\n',
    "other hooks": '{\n  "hooks": {\n    "SessionStart": [\n      {\n        "matcher": "startup",\n        "hooks": [\n          {"type": "command", "command": "echo hi"}\n'
                   '        ]\n      }\n    ],\n    "PreToolUse": [{"matcher":"Bash","hooks":[]}]\n  },\n  "permissions": {"allow": []}\n}\n',
    "other hooks in one line": '{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"x"}]}]},"z":0}',
    "hooks of another shape": '{"hooks":{"SessionStart":[7,{"hooks":null},{"matcher":""}]}}', "wrong indentation": '{\n"model": "opus",\n      "env": {}}',
    "a trailing comma": '{\n  "model": "opus",\n}\n', "a comment": "// mine\n{}", "a comment inside": '{\n  /* mine */ "a": 1 // so\n}\n', "a list": "[]",
    "hooks as a list": '{"hooks":[]}', "an event as text": '{"hooks":{"SessionStart":"x"}}', "text": "hello", "cut off": '{"hooks":{', "deep": "[" * 300,
    "names without quotes": "{model: 1}", "single quotes": "{'model': 1}", "a missing comma": '{"a": 1 "b": 2}', "a hexadecimal number": '{"a": 0x1F}', "two values": "{} {}",
    "a control character": '{"a": "tab\there"}', "half a character": '{"a": "\\ud800"}', "escaped names": '{"ho\\u006fks": {"Session\\u0053tart": []}}',
    "null hooks": '{"hooks": null}', "a list on its lines": '{\n    "hooks": {\n        "SessionStart": [\n        ]\n    }\n}\n', "our hook by hand":
    '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"kgctx hook claude-code"},{"type":"command","command":"x"}]}]}}',
}


def clean(lab):
    import shutil
    for folder in ("home", "kgctx-home"):
        shutil.rmtree(lab.path / folder, ignore_errors=True)
    (lab.path / "home").mkdir()


def cycle(lab, host, label, edit=None):
    """Dry run, install, install again, an edit, uninstall: what is said, and every file."""
    lab.run("install", host, "--dry-run", label=f"{label}: install {host} --dry-run")
    lab.run("install", host, label=f"{label}: install {host}")
    lab.tree("home", f"{label}: installed")
    lab.run("install", host, label=f"{label}: install {host} again")
    if edit:
        edit()
    lab.run("doctor", label=f"{label}: doctor")
    lab.run("uninstall", host, label=f"{label}: uninstall {host}")
    lab.tree("home", f"{label}: removed")
    lab.run("uninstall", host, label=f"{label}: uninstall {host} again")


def opencode(lab):
    """The bridge's file among all kinds of folders."""
    befores = {
        "nothing": lambda: None,
        "a configuration": lambda: lab.write("home/.config/opencode/opencode.json", "{}"),
        "other plugins": lambda: lab.write("home/.config/opencode/plugin/other.ts", "export const Other = 1\n"),
        "the other folder": lambda: lab.write("home/.config/opencode/plugins/other.ts", "export const Other = 1\n"),
        "an older bridge": lambda: lab.write(BRIDGE, OLDER),
        "not ours": lambda: lab.write(BRIDGE, "// my own\nexport const Mine = 1\n"),
        "a file in the way": lambda: lab.write("home/.config", "a file"),
        "plugins named in comments": lambda: lab.write("home/.config/opencode/opencode.jsonc", "{\n  // mine\n  \"plugin\": [\"x\"], /* so */\n}\n"),
        "plugins switched off": lambda: lab.write("home/.config/opencode/opencode.json", "{\"plugin\": [], \"disabled\": true}"),
        "broken settings": lambda: lab.write("home/.config/opencode/opencode.json", "{\"plugin\": ["),
    }
    for label, prepare in befores.items():
        clean(lab)
        prepare()
        cycle(lab, "opencode", label)
    clean(lab)

    def edit():
        lab.write(BRIDGE, (lab.path / BRIDGE).read_text() + "// mine\n")
        lab.write("home/.config/opencode/package.json", "{}")

    cycle(lab, "opencode", "edited", edit)
    clean(lab)
    lab.run("install", "opencode", env={"OPENCODE_CONFIG_DIR": lab.path / "x"})
    lab.run("install", "opencode", env={"XDG_CONFIG_HOME": lab.path / "y"})
    lab.run("install", "opencode", env={"PATH": "/none"})
    lab.run("install", "opencode", "--dry-run", env={"PATH": "/none", "KGCTX_BIN": "/none/kgctx"})
    lab.state("after installs")
    lab.write("kgctx-home/state/state.db", "this is no database, but it is long enough to be one" * 9)
    lab.run("install", "opencode", label="install opencode with a state that is none")


def claude_code(lab):
    """Hooks in settings files as people have them, and some that nobody should have."""
    for label, settings in SETTINGS.items():
        clean(lab)
        file = lab.write("home/.claude/settings.json", settings)
        file.chmod(0o600)
        cycle(lab, "claude-code", label)
        lab.write("home/.claude/settings.json", settings)
        lab.run("install", "claude-code", record=False)
        text = file.read_text(errors="replace") if file.exists() else ""
        lab.write("home/.claude/settings.json", text.replace("{", "{\"mine\":[1],", 1).replace(",}", "}"))
        lab.run("uninstall", "claude-code", label=f"{label}: uninstall claude-code after an edit")
        lab.tree("home", f"{label}: removed after an edit")
    clean(lab)
    cycle(lab, "claude-code", "no settings")
    clean(lab)
    lab.write("home/.claude/settings.json", "{\"a\":\"\\xff\"}".encode("latin-1").replace(b"\\xff", b"\xff"))
    cycle(lab, "claude-code", "not UTF-8")
    clean(lab)
    lab.write("home/dotfiles/claude.json", "{\"model\":\"opus\"}")
    (lab.path / "home/.claude").mkdir()
    os.symlink("../dotfiles/claude.json", lab.path / "home/.claude/settings.json")
    cycle(lab, "claude-code", "a link")
    (lab.path / "home/dotfiles/claude.json").unlink()
    lab.run("install", "claude-code", label="install claude-code through a link that leads nowhere")
    clean(lab)
    lab.run("install", "claude-code", env={"PATH": "/none"})
    lab.file("home/.claude/settings.json", "settings with the program's place")
    lab.run("install", "claude-code", env={"CLAUDE_CONFIG_DIR": lab.path / "elsewhere"})
    lab.run("install", "claude-code", env={"HOME": None})
    lab.state("after installs")


def projects(lab):
    """Bridges for one project alone."""
    lab.write("app/docs/a.md", "# App\n\nThe app has a [[Mast]].\n", DAY)
    lab.git("app", "init", "-q")
    lab.commit("app")
    lab.git("app", "worktree", "add", "-q", "../feature")
    for host in ("opencode", "claude-code"):
        for folder in ("app", "feature", "home"):
            for command in (("install", host, "--project", "--dry-run"), ("install", host, "--project"), ("install", host, "--dry-run"), ("uninstall", host, "--global"),
                            ("uninstall", host, "--project")):
                lab.run("--dir", folder, *command)
        lab.run("install", host, "--project", "--global")
    lab.run("install", "emacs")
    lab.run("uninstall")


def doctor(lab):
    """Every part of a set-up, broken on purpose."""
    lab.write("app/docs/a.md", "# App\n\nThe app has a [[Mast]] and a [[Sail]].\n", DAY, lab.start)
    lab.git("app", "init", "-q")
    lab.program_called("opencode", "echo 1.18.33")
    lab.cwd = lab.path / "app"
    lab.rest()

    def examine(label, **options):
        lab.run("doctor", label=f"doctor: {label}", **options)
        lab.run("doctor", "--json", label=f"doctor --json: {label}", **options)

    examine("a new set-up")
    lab.run("install", "opencode")
    examine("installed")
    lab.run("install", "claude-code")
    examine("both installed")
    lab.run("inject", "--session", "s", "--dry-run", record=False)
    leave(lab, "author")
    examine("with a handoff")
    examine("nothing on the PATH", env={"PATH": "/none"})
    examine("another program", env={"KGCTX_BIN": "/none"})
    examine("wrong settings", env={"TOKEN_LIMIT": "many", "CLI_TIMEOUT": "soon"})
    examine("switched off", env={"SESSION_START_ENABLED": "false"})
    examine("no server", env={"KGCTX_SERVERS": "http://127.0.0.1:1"})
    lab.program_called("opencode", "echo 0.1.2")
    examine("an old OpenCode")
    lab.program_called("opencode", "exit 7")
    examine("an OpenCode that fails")
    lab.program_called("claude", "echo '2.1.325 (Claude Code)'")
    examine("with Claude Code")
    lab.write(BRIDGE, OLDER)
    examine("an old bridge")
    lab.write("home/.claude/settings.json", "{\"hooks\": 7}")
    examine("broken settings of Claude Code")
    lab.write("home/.config/opencode/opencode.json", "{\n  // mine\n  \"plugin\": [],\n}\n")
    examine("settings with comments")
    lab.write("app/kgctx.toml", "links = 7\n")
    examine("wrong settings of the project")
    lab.write("kgctx-home/state/state.db", "this is no database, but it is long enough to be one" * 9)
    examine("a state that is none")
    examine("no home", env={"HOME": None, "KGCTX_HOME": None})


NAMED = '"opencode-kgctx@1.2.3"'


def examine_settings(lab, texts):
    """What doctor reads in settings of OpenCode."""
    lab.write("app/docs/a.md", "# App\n\nThe app has a [[Mast]].\n", DAY, lab.start)
    lab.git("app", "init", "-q")
    lab.cwd = lab.path / "app"
    lab.write("other/kgctx.ts", OLDER)
    lab.rest()
    for n, text in enumerate(texts):
        for name in ("opencode.json", "opencode.jsonc"):
            (lab.path / "home/.config/opencode" / name).unlink(missing_ok=True)
        name = "opencode.jsonc" if n % 2 else "opencode.json"
        lab.write(f"home/.config/opencode/{name}", text)
        lab.run("doctor", "--json", label=f"doctor with {name} {text[:60]!r}")


def opencode_settings(lab):
    """Settings of OpenCode as people write them."""
    examine_settings(lab, (
        f'{{"plugin": [{NAMED}]}}', f'{{"plugin": [{NAMED},],}}', f'{{"plugin": [ // mine\n {NAMED} /* so */ ]}}', f'\ufeff{{"plugin": [{NAMED}]}}',
        f"{{plugin: [{NAMED}]}}", "{'plugin': ['opencode-kgctx']}", f'{{"a": 1 "plugin": [{NAMED}]}}', f'{{"a": 0x1F, "plugin": [{NAMED}]}}',
        f'{{"a": +1, "plugin": [{NAMED}]}}', f'{{"a": .5, "plugin": [{NAMED}]}}', f'{{"a": NaN, "plugin": [{NAMED}]}}', f'{{"plugin": [{NAMED}]}} trailing',
        f'{{"plugin": [], "plugin": [{NAMED}]}}', f'{{"plugin": {NAMED}}}', '{"plugin": [7, null, {}]}', f'[{NAMED}]', '"text"', "null", "", " \n", "// nothing\n", "{",
        '{"plugin": ["../../../other/kgctx.ts"]}', '{"plugin": ["file:///none/kgctx.ts"]}', '{"a": "\\u00e9 \\x41", "plugin": []}',
        f'{{"a": "/* no comment */ // none", "plugin": [{NAMED}]}}', '{"a": "\\ud800"}', f'{{"plugin": [{NAMED}/*', "{\"plugin\"\n:\r\n[\"opencode-kgctx\"]}",
        '{"plugin": ["opencode-kgctx",,]}', '{"a": 01}', '{"a": 1.}', '{"a": -}', '{"a": tru}'))


def opencode_settings_at_the_edge(lab):
    """Settings of OpenCode about which parsers disagree: see EXPECTED."""
    examine_settings(lab, ("{,}", '{"plugin": [,]}', '{"a": "tab\there"}', "[" * 200 + "]" * 200))


SCENARIOS = (opencode, claude_code, projects, doctor, opencode_settings, opencode_settings_at_the_edge)
