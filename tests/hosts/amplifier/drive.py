"""Drives sessions of the real Amplifier kernel, as a test tells it to: steps as JSON on standard input, what was seen on standard output.

The kernel is the real one. Its command line cannot be installed from a package registry, so this stands in for what of it matters:
it finds bundles by the settings (the list of the closest file counts alone), refuses to start with a module of a bundle missing,
saves a transcript without messages of the system, and restores it when a session is resumed. Loop, context and provider are the
smallest that keep their contracts.
"""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

import yaml
from amplifier_core import AmplifierSession
from amplifier_core.validation import HookValidator

HERE = Path(__file__).resolve().parent / "modules"
SETTINGS = [".amplifier/settings.local.yaml", ".amplifier/settings.yaml", Path.home() / ".amplifier/settings.yaml"]


class Source:
    def __init__(self, path):
        self.path = path

    def resolve(self):
        return self.path


class Resolver:
    """What the kernel asks for a module's folder."""

    def __init__(self, bundled):
        self.bundled = bundled

    def resolve(self, module_id, source_hint=None, profile_hint=None):
        return Source(self.bundled.get(module_id) or HERE / module_id)


class Display:
    """Keeps what a user would be shown."""

    def __init__(self):
        self.shown = []

    def show_message(self, message, level="info", source="hook"):
        self.shown.append({"message": message, "source": source})


DISPLAY = Display()


def read_settings(file):
    return (yaml.safe_load(Path(file).read_text()) or {}) if Path(file).exists() else {}


def bundles():
    """The hooks of all bundles that the settings name, and the folders of their modules."""
    lists = [(read_settings(file).get("bundle") or {}).get("app") for file in SETTINGS]
    uris = next((uris for uris in lists if uris is not None), [])
    hooks, folders = [], {}
    for uri in uris:
        folder = Path(uri.removeprefix("file://"))
        if not (folder / "bundle.yaml").exists():
            print(f"no bundle at {uri}", file=sys.stderr)
            continue
        for hook in yaml.safe_load((folder / "bundle.yaml").read_text()).get("hooks", []):
            folders[hook["module"]] = folder / hook["source"]
            if not folders[hook["module"]].is_dir():
                raise RuntimeError(f"the module {hook['module']} of {uri} is missing")
            hooks.append({"module": hook["module"], "config": hook.get("config", {})})
    return hooks, folders


def transcript(session_id):
    slug = str(Path.cwd().resolve()).replace("/", "-")
    return Path.home() / ".amplifier/projects" / slug / "sessions" / session_id / "transcript.jsonl"


class Driver:
    def __init__(self):
        self.sessions = {}
        self.longest_gap = 0.0

    async def start(self, step):
        hooks, folders = bundles()
        for hook in hooks:
            hook["config"].update(step.get("config", {}))
        plan = {
            "session": {
                "orchestrator": {"module": "loop-plain", "config": {}},
                "context": {"module": "context-plain", "config": {}},
                **step.get("session", {}),
            },
            "providers": [{"module": "provider-record", "config": {}}],
            "tools": [],
            "hooks": [*hooks, {"module": "hooks-probe", "config": step.get("probe", {})}],
        }
        session = AmplifierSession(
            plan,
            session_id=step["id"],
            parent_id=step.get("parent"),
            is_resumed=step.get("resumed", False),
            display_system=DISPLAY,
        )
        await session.coordinator.mount("module-source-resolver", Resolver(folders))
        session.coordinator.register_capability("session.working_dir", os.getcwd())
        await session.initialize()
        if step.get("resumed"):
            lines = transcript(step["id"]).read_text().splitlines()
            await self.context(session).set_messages([json.loads(line) for line in lines])
        self.sessions[step["id"]] = session

    def context(self, session):
        return session.coordinator.get("context")

    async def prompt(self, step):
        begun = time.monotonic()
        said = await self.sessions[step["id"]].execute(step["text"])
        return {"said": said, "took": time.monotonic() - begun}

    async def prompt_all(self, step):
        return await asyncio.gather(*(self.prompt({"id": name, **step}) for name in self.sessions))

    async def end_all(self, step):
        return await asyncio.gather(*(self.end({"id": name}) for name in self.sessions))

    async def clear(self, step):
        await self.context(self.sessions[step["id"]]).clear()

    async def messages(self, step):
        return await self.context(self.sessions[step["id"]]).get_messages()

    async def save(self, step):
        file = transcript(step["id"])
        file.parent.mkdir(parents=True, exist_ok=True)
        messages = [m for m in await self.messages(step) if m["role"] not in ("system", "developer")]
        file.write_text("".join(json.dumps(message) + "\n" for message in messages))

    async def end(self, step):
        await self.save(step)
        begun = time.monotonic()
        await self.sessions[step["id"]].cleanup()
        return {"took": time.monotonic() - begun}

    async def terminate(self, step):
        os.kill(os.getpid(), signal.SIGTERM)

    async def validate(self, step):
        """What the kernel itself says about the modules of all bundles."""
        reports = [await HookValidator().validate(next(folder.glob("amplifier_module_*"))) for folder in bundles()[1].values()]
        return [{"passed": report.passed, "checks": [check.message for check in report.checks]} for report in reports]

    async def rewrite(self, step):
        """What any run of the command line may do to the user's settings."""
        settings = read_settings(SETTINGS[-1])
        settings["updates"] = {"last_check": "2026-11-18T00:00:00"}
        SETTINGS[-1].write_text(yaml.safe_dump(settings, default_flow_style=False))

    async def tree(self, step):
        return read_settings(SETTINGS[-1])

    async def tick(self):
        """Notices whether somebody blocks the event loop."""
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            self.longest_gap = max(self.longest_gap, time.monotonic() - before)

    async def run(self, steps):
        ticking = asyncio.ensure_future(self.tick())
        results = [await getattr(self, step["do"])(step) for step in steps]
        ticking.cancel()
        requests = getattr(sys.modules.get("amplifier_module_provider_record"), "SEEN", [])
        return {"results": results, "requests": requests, "shown": DISPLAY.shown, "longest_gap": self.longest_gap}


print(json.dumps(asyncio.run(Driver().run(json.load(sys.stdin)))), flush=True)
# Threads of the kernel may still hold results while the interpreter ends; that is not what is tested.
os._exit(0)
