"""A scratch place with a binary in it: runs commands there and records what they say and leave behind."""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import stat
import subprocess
import threading
import time

from .masks import Masks

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = REPOSITORY / "fixtures"
# The newest note of every generated vault, and the moment as of which commands are asked: 2025-06-15 12:00 UTC.
END = 1_749_988_800
NOW = "2025-06-15T12:00:00Z"
HOUR, DAY = 3_600, 86_400

OUTPUT, HELP, ERROR = "outputs", "help texts", "error texts"


class Said:
    """What a command said."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            return {}


class Lab:
    """One scenario with one binary. `records` are (name, group, text) in the order of the commands."""

    def __init__(self, place, binary, version):
        self.path = pathlib.Path(place)
        self.start = int(time.time())
        self.masks = Masks(self.path, self.start, version)
        self.records = []
        self.env = {}
        self.cwd = self.path
        for folder in ("home", "bin"):
            (self.path / folder).mkdir(parents=True)
        # A file that was just written may be busy while another thread starts a process: a link is not.
        try:
            os.link(binary, self.path / "bin/kgctx")
        except OSError:
            shutil.copy2(binary, self.path / "bin/kgctx")
        self.program = str(self.path / "bin/kgctx")

    # Material.

    def write(self, path, content, age=None, now=END):
        """Writes a file; `age` is how many seconds before `now` it seems to have been written."""
        path = self.path / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if age is not None:
            os.utime(path, (now - age, now - age))
        return path

    def copy(self, source, to, age=DAY, now=END):
        """Copies a folder of fixtures, all files with one time. ¦ breaks what a scanner takes for a secret."""
        for file in sorted(pathlib.Path(source).rglob("*")):
            if file.is_file():
                text = file.read_bytes().replace("¦".encode(), b"")
                self.write(pathlib.Path(to) / file.relative_to(source), text, age, now)

    def atlas(self, now=END):
        """The fixture project, its notes written at known times."""
        self.copy(FIXTURES / "projects/atlas", "atlas", now=now)
        for file, age in (("docs/overview.md", 90 * DAY), ("docs/decisions/0001-stale-while-revalidate.md", 60 * DAY),
                          ("docs/decisions/0002-rate-limiting.md", 40 * DAY), (".kgctx/memory/tech/tile-cache-sizing.md", 9 * DAY),
                          (".kgctx/memory/tech/renderer-queue.md", 2 * DAY), (".kgctx/memory/session-notes.md", 0)):
            os.utime(self.path / "atlas" / file, (now - age - HOUR, now - age - HOUR))
        self.git("atlas", "init", "-q")
        self.rest()

    def git(self, folder, *arguments, at=END):
        """Runs git with nobody's configuration and at a fixed time."""
        date = f"{at} +0000"
        env = {"PATH": os.environ["PATH"], "HOME": str(self.path), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
               "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
        settings = ("user.name=Test", "user.email=test@example.com", "init.defaultBranch=main", "commit.gpgsign=false",
                    "protocol.file.allow=always", "advice.detachedHead=false")
        command = ["git"] + [part for setting in settings for part in ("-c", setting)] + list(arguments)
        subprocess.run(command, cwd=self.path / folder, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def commit(self, folder, message="a state", at=END):
        self.git(folder, "add", "--all")
        self.git(folder, "commit", "-q", "--allow-empty", "-m", message, at=at)

    def program_called(self, name, script):
        file = self.write(f"bin/{name}", f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    # Commands.

    def environment(self, more=None):
        env = {"HOME": self.path / "home", "KGCTX_HOME": self.path / "kgctx-home", "PATH": f"{self.path}/bin:/usr/local/bin:/usr/bin:/bin",
               "TZ": "UTC", "LC_ALL": "C.UTF-8", "KGCTX_DEADLINE_MS": "20000", "CLI_TIMEOUT": "10000"}
        env.update(self.env)
        env.update(more or {})
        return {name: str(value) for name, value in env.items() if value is not None}

    def start_program(self, *arguments, env=None, **more):
        return subprocess.Popen([self.program, *arguments], cwd=self.cwd, env=self.environment(env), **more)

    def run(self, *arguments, stdin=b"", env=None, cwd=None, group=OUTPUT, record=True, label=None):
        """Runs a command and records exit code, standard output and standard error."""
        arguments = [str(argument) for argument in arguments]
        stdin = stdin if isinstance(stdin, bytes) else stdin.encode()
        try:
            done = subprocess.run([self.program, *arguments], cwd=self.path / (cwd or self.cwd), env=self.environment(env), input=stdin,
                                  capture_output=True, timeout=60, check=False)
            said = Said(done.returncode, done.stdout.decode(errors="backslashreplace"), done.stderr.decode(errors="backslashreplace"))
        except subprocess.TimeoutExpired:
            said = Said("none within 60 s", "", "")
        if record:
            name = label or " ".join(arguments)
            if env:
                name += "  " + " ".join(f"{key}={value}" for key, value in env.items())
            err = self.masks.timings(said.err) if "--timings" in arguments and said.code == 0 else said.err
            is_error = said.code != 0 and group == OUTPUT
            self.record(name, f"exit {said.code}\n{said.out}" + ("" if is_error else f"\n--- standard error\n{err}"), group)
            if is_error:
                self.record(f"{name} (standard error)", err, ERROR)
        return said

    def each(self, commands, *common, **more):
        """Runs several commands, each given as words in one text."""
        for command in commands:
            self.run(*common, *command.split(), **more)

    def hook(self, host, event, label, env=None, cwd=None):
        """Tells a hook of an event, and returns its answer."""
        event = event if isinstance(event, (bytes, str)) else json.dumps(event)
        return self.run("hook", host, stdin=event, env=env, cwd=cwd, label=f"hook {host}: {label}").json()

    @staticmethod
    def rest():
        """Waits until what was just written counts as written: a file that may still change is read again by the next command."""
        time.sleep(0.3)

    @staticmethod
    def fresh_second():
        """Waits for the next second: handoffs of one second and one session are numbered."""
        time.sleep(1 - time.time() % 1)

    def settle(self):
        """Waits until no process of the binary runs any more: some work goes on behind a hook's answer."""
        until = time.time() + 10
        while time.time() < until:
            running = False
            for entry in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    running |= os.readlink(entry / "exe") == self.program
                except OSError:
                    pass
            if not running:
                return
            time.sleep(0.02)

    # What is left behind.

    def record(self, name, text, group=OUTPUT):
        self.records.append((self.masks.apply(name), group, self.masks.apply(text)))

    def file(self, path, label=None):
        path = self.path / path
        text = path.read_bytes().decode(errors="backslashreplace") if path.is_file() else "(no such file)"
        self.record(f"file {label or path}", text)

    def tree(self, folder, label):
        """Every name below a folder, with its mode and content."""
        lines = []
        for path in sorted((self.path / folder).rglob("*")):
            there = path.lstat()
            mode = stat.filemode(there.st_mode)
            content = ""
            if path.is_symlink():
                content = f" -> {os.readlink(path)}"
            elif path.is_file():
                content = "\n" + path.read_bytes().decode(errors="backslashreplace")
            lines.append(self.masks.apply(f"{mode} {path.relative_to(self.path)}{content}"))
        # By their masked names: those of handoffs have the time in them.
        self.record(f"files in {folder}, {label}", "\n".join(sorted(lines, key=lambda line: line.split("\n")[0][10:])) + "\n")

    def state(self, label):
        """All rows of state.db."""
        database = self.path / "kgctx-home/state/state.db"
        if not database.exists():
            return self.record(f"state.db, {label}", "(none)")
        connection = sqlite3.connect(database, timeout=5)
        tables = [name for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")]
        lines = [f"user_version {connection.execute('PRAGMA user_version').fetchone()[0]}"]
        for table in tables:
            rows = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
            columns = [column[0] for column in rows.description]
            shown = [self._shown(table, columns, row) for row in rows]
            # Ids that have the time in them are in no fixed order; numbers are.
            lines += shown if columns[0] in ("id", "number") and table != "handoffs" else sorted(shown)
        connection.close()
        return self.record(f"state.db, {label}", "\n".join(lines) + "\n")

    def _shown(self, table, columns, row):
        def shown(column, value):
            if column.endswith("pid") or column in ("started", "owner_started", "token"):
                return f"<{column}>"
            if isinstance(value, bytes):
                return value.decode() if value.isascii() else value.hex()
            return value

        cells = (f"{column}={shown(column, value)}" for column, value in zip(columns, row) if value is not None)
        return self.masks.apply(f"{table}: " + " | ".join(cells))


class Service:
    """A running `kgctx serve`, ended with the block."""

    def __init__(self, lab, *arguments):
        self.lab, self.arguments = lab, arguments

    def __enter__(self):
        self.child = self.lab.start_program("serve", *self.arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # A service that says nothing is ended, and its silence is the difference.
        guard = threading.Timer(20, self.child.kill)
        guard.start()
        self.first = self.child.stdout.readline().decode()
        guard.cancel()
        return self

    def __exit__(self, *_):
        self.child.send_signal(signal.SIGTERM)
        try:
            out, err = self.child.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            self.child.kill()
            out, err = self.child.communicate()
        self.lab.record("serve: what it printed", f"exit {self.child.returncode}\n{self.first}{out.decode()}")
        self.lab.record("serve: its log", "\n".join(sorted(err.decode().splitlines())) + "\n")
