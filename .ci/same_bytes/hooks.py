"""Scenarios: what hosts tell their hooks, what they are answered, and what is written down."""
import json
import time

from .contexts import explained
from .lab import FIXTURES, Service
from .server import OpencodeServer

GARBAGE = (b"", b"null", b"[]", b"{", b"\0", b"\xff\xfe", b"{\"event\": 7}", b"{\"protocol\":1}", b"{\"protocol\":99,\"event\":{\"type\":\"session.created\"}}",
           b"{\"protocol\":1,\"event\":{\"type\":\"session.created\",\"properties\":{\"info\":{\"id\":\"ses_1\"}}}}",
           b"{\"protocol\":1,\"event\":{\"type\":\"session.created\",\"properties\":{\"info\":{\"id\":\"\",\"directory\":\"\\u0000\"}}}}",
           b"{\"protocol\":1,\"event\":{\"type\":\"kgctx.delivered\",\"receipt\":9223372036854775807}}",
           b"{\"event\": \"prompt:submit\"}", b"{\"event\": \"prompt:submit\", \"session_id\": \"\"}",
           b"{\"event\": \"prompt:submit\", \"session_id\": \"s\", \"cwd\": \"/no/such/folder\"}",
           b"{\"hook_event_name\": \"SessionStart\"}", b"{\"hook_event_name\": \"Stop\", \"session_id\": \"s\", \"cwd\": \"/\"}",
           b"[" * 200_000)


def leave(lab, session, text="Go on with the tiles.\n", *more):
    """Leaves a handoff and returns its id."""
    said = lab.run("handoff", "create", "--json", "--session", session, *more, stdin=text, label=f"handoff create by {session}")
    return said.json().get("id", "HO-20200101-000000-none")


def opencode(lab):
    """The bridge in OpenCode: starts, prompts, forks, compactions, undo."""
    lab.masks.hides_hashes = True
    lab.atlas(now=lab.start)
    folder = lab.path / "atlas"
    lab.cwd = folder

    def info(id, **more):
        return {"id": id, "directory": str(folder), "title": "New session", **more}

    def ask(label, event, **options):
        return lab.hook("opencode", {"protocol": 1, "bridge": "0.1.0", "directory": "/", "event": event}, label, **options)

    def created(id, label="created", **more):
        options = {key: more.pop(key) for key in ("env",) if key in more}
        return ask(f"{id} {label}", {"type": "session.created", "properties": {"sessionID": id, "info": info(id, **more)}}, **options)

    def prompted(id, n_messages, marks, label="prompted", created=False, removed=False, **more):
        stored = {"messages": n_messages, "complete": True, "marks": marks}
        event = {"type": "chat.message", "sessionID": id, "created": created, "removed": removed, "info": info(id, **more), "stored": stored}
        return ask(f"{id} {label}", event)

    def settled(kind, answer):
        return ask(kind, {"type": f"kgctx.{kind}", "sessionID": "s", "receipt": answer.get("receipt"), "how": "part"})

    lab.run("index")
    first = created("ses_1")
    created("ses_1", "created again")
    settled("delivered", first)
    created("ses_1", "created after delivery")
    prompted("ses_1", 0, [])
    explained(lab, "--session", "ses_1")
    settled("released", created("ses_2"))
    created("ses_2", "created after release")
    created("ses_child", "a child", parentID="ses_parent")
    created("ses_undone", "undone", revert={"messageID": "msg_1"})
    prompted("ses_old", 7, [], "an old session")
    prompted("ses_ours", 7, [{"kgctx": {"v": 1}}], "with our context")
    created("ses_fork", "a fork", title="About tiles (fork #2)")
    prompted("ses_fork", 4, [{"kgctx": {"v": 1}}], "a fork with our context", created=True, title="About tiles (fork #2)")
    prompted("ses_fork2", 4, [], "a fork without", created=True, title="About tiles (fork #3)")
    for message in ("msg_1", "msg_2"):
        answer = prompted("ses_c", 6, [{"kgctx": {"v": 1}}, {"compaction": message}], f"compaction {message}")
        settled("delivered", answer)
        prompted("ses_c", 6, [{"kgctx": {"v": 1}}, {"compaction": message}], f"compaction {message} again")
    answer = prompted("ses_r", 0, [], "unprompted")
    settled("delivered", answer)
    prompted("ses_r", 0, [], "removed", removed=True)
    for n, env in enumerate(({"SESSION_START_ENABLED": "false"}, {"KGCTX_DELIVERY": "part", "KGCTX_NOTICE": "off"}, {"TOKEN_LIMIT": "150"},
                             {"KGCTX_NOTICE": "log"}, {"KGCTX_ENCODING": "cl100k_base"}, {"TOKEN_LIMIT": "lots"}, {"KGCTX_SOURCE": "index"})):
        created(f"ses_env{n}", "created", env=env)
    leave(lab, "author")
    answer = created("ses_h", "with a handoff")
    settled("released", answer)
    answer = created("ses_h2", "with the handoff that was released")
    settled("delivered", answer)
    created("ses_h3", "after the handoff")
    prompted("ses_h2", 6, [{"kgctx": {"v": 1}}, {"compaction": "msg_9"}], "compaction with a handoff")
    lab.run("handoff", "log")
    explained(lab, "--session", "ses_h2")
    ask("something else", {"type": "message.updated", "properties": {}})
    for n, garbage in enumerate(GARBAGE):
        lab.hook("opencode", garbage, f"garbage {n}")
    lab.write("atlas/kgctx.toml", "not toml at all [")
    created("ses_toml", "with broken settings")
    lab.settle()
    lab.state("after OpenCode")


def claude_event(lab, recorded, session, **more):
    event = json.loads((FIXTURES / f"events/claude-code/session-{recorded}.json").read_text())
    event |= {"session_id": session, "cwd": str(lab.cwd), "transcript_path": str(lab.path / f"transcripts/{session}.jsonl"), **more}
    return event


def talk(lab, session, turns, age=0):
    """A transcript as Claude Code writes it."""
    lines = []
    for n in range(turns):
        lines.append({"type": "user", "sessionId": session, "message": {"role": "user", "content": f"Please do thing {n}."}})
        content = [{"type": "tool_use", "id": f"t{n}", "name": "Edit", "input": {"file_path": f"src/f{n}.rs"}}, {"type": "text", "text": f"Thing {n} is done."}]
        lines.append({"type": "assistant", "sessionId": session, "message": {"role": "assistant", "id": f"m{n}", "model": "m", "content": content}})
    lab.write(f"transcripts/{session}.jsonl", "".join(json.dumps(line) + "\n" for line in lines), age, lab.start)


def claude_code(lab):
    """Claude Code's SessionStart and SessionEnd, as they were recorded."""
    lab.masks.hides_hashes = True
    lab.atlas(now=lab.start)
    lab.cwd = lab.path / "atlas"
    lab.run("index")

    def tell(recorded, session, label="", **more):
        env = more.pop("env", None)
        answer = lab.hook("claude-code", claude_event(lab, recorded, session, **more), f"{session} {recorded} {label}", env=env)
        lab.settle()
        return answer

    for recorded in ("start-startup", "start-startup-window", "start-vscode", "start-resume", "start-resume-window", "start-clear", "start-compact", "start-fork",
                     "start-subagent"):
        tell(recorded, f"s-{recorded}")
        tell(recorded, f"s-{recorded}", "again")
    explained(lab, "--session", "s-start-startup")
    leave(lab, "author")
    tell("start-clear", "cleared", "with a handoff waiting")
    tell("start-subagent", "sub", "with a handoff waiting")
    tell("start-startup", "taker", "with a handoff waiting")
    tell("start-compact", "taker", "after the handoff")
    leave(lab, "second", "The second.\n")
    tell("start-resume", "taker", "with a newer handoff")
    tell("start-resume", "taker", "again")
    talk(lab, "older", 1, 60)
    leave(lab, "third", "The third.\n")
    tell("start-resume", "older", "with a transcript")
    leave(lab, "fourth", "The fourth.\n")
    tell("start-fork", "forked", "after a silence", seconds_since_last_response=14)
    tell("start-startup", "small", "with little room", env={"TOKEN_LIMIT": "80"})
    for reason in ("other", "clear", "logout", "prompt-input-exit", "resume"):
        session = f"ended-{reason}"
        tell("start-startup", session)
        talk(lab, session, 3)
        tell(f"end-{reason}", session)
        lab.run("handoff", "list", "--all", label=f"handoff list after end {reason}")
    lab.run("handoff", "show", label="what an end has left")
    tell("start-startup", "heir", "after an end")
    talk(lab, "quiet", 0)
    tell("end-other", "quiet", "nothing was said")
    for fixture in ("claude-code-2.1.325", "claude-code-2.1.325-subagent"):
        lab.write(f"transcripts/{fixture}.jsonl", (FIXTURES / f"transcripts/{fixture}.jsonl").read_bytes(), 0, lab.start)
        tell("start-startup", fixture)
        tell("end-other", fixture)
        lab.run("handoff", "show", label=f"what {fixture} has left")
    env_file = lab.path / "env-file"
    tell("start-startup", "with-env-file", env={"CLAUDE_ENV_FILE": env_file})
    lab.file("env-file")
    # A handoff's id has the first eight letters of its session.
    for name, text in (("off", "enabled = false\n"), ("no handoffs", "[handoff]\nenabled = false\n"), ("none on start", "[handoff]\ninject_on_start = false\n"),
                       ("on clear", "[handoff]\ninject_on_clear = true\n")):
        lab.write("kgctx-home/config.toml", text)
        leave(lab, f"{name.replace(' ', '-')}-author")
        tell("start-startup", f"s-{name}", name)
        tell("start-clear", f"c-{name}", name)
    (lab.path / "kgctx-home/config.toml").unlink()
    for n, garbage in enumerate(GARBAGE):
        lab.hook("claude-code", garbage, f"garbage {n}")
    lab.run("handoff", "log", "--limit", "100")
    lab.settle()
    lab.state("after Claude Code")


def amplifier(lab):
    """Amplifier's events. Its receipts may name another host: see EXPECTED."""
    lab.masks.hides_hashes = True
    lab.atlas(now=lab.start)
    lab.cwd = lab.path / "atlas"
    lab.run("index")

    def tell(name, session, label="", **more):
        env = more.pop("env", None)
        return lab.hook("amplifier", {"event": name, "session_id": session, "working_directory": str(lab.cwd), **more}, f"{session} {name} {label}", env=env)

    for name in ("session:start", "tool:pre", "prompt:submit", "prompt:submit", "session:end"):
        tell(name, "amp-1")
    explained(lab, "--session", "amp-1")
    leave(lab, "author")
    tell("prompt:submit", "child", "a child", parent_id="amp-1")
    tell("prompt:submit", "amp-2", "with a handoff")
    tell("prompt:submit", "amp-2", "again")
    explained(lab, "--session", "amp-2")
    tell("prompt:submit", "amp-3", "with little room", env={"TOKEN_LIMIT": "90"})
    tell("prompt:submit", "amp-4", "off", env={"SESSION_START_ENABLED": "false"})
    lab.hook("amplifier", {"hook_event_name": "prompt:submit", "session_id": "amp-5", "cwd": str(lab.cwd)}, "other names")
    lab.hook("amplifier", {"event": "prompt:submit", "session_id": "amp-6"}, "no folder")
    for n, garbage in enumerate(GARBAGE):
        lab.hook("amplifier", garbage, f"garbage {n}")
    lab.run("handoff", "log")
    lab.settle()
    lab.state("after Amplifier")


def delivery(lab):
    """`kgctx inject` into a running server: what it says, and what the server is sent."""
    lab.masks.hides_hashes = True
    lab.atlas(now=lab.start)
    lab.cwd = lab.path / "atlas"
    lab.run("index")
    with OpencodeServer(lab) as server:
        now_ms = lab.start * 1_000
        for id, more in (("ses_1", {}), ("ses_2", {"agent": "build", "model": {"id": "small", "providerID": "mock"}}), ("ses_3", {"agent": "gone"}),
                         ("ses_4", {"model": {"id": "gone", "providerID": "mock"}}), ("ses_5", {"parentID": "ses_1"}), ("ses_6", {"revert": {"messageID": "m"}}),
                         ("ses_7", {}), ("ses_8", {}), ("ses_9", {}), ("ses_10", {}), ("ses_11", {}), ("ses_12", {"directory": "/nowhere"}), ("ses_13", {})):
            server.session(id, more.pop("directory", lab.cwd), now_ms, **more)
        server.statuses["ses_7"] = {"type": "busy"}
        server.messages["ses_8"] = [{"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "metadata": {"kgctx": {"v": 1}}}]}]
        server.messages["ses_9"] = [{"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "text": "hello"}]}]
        server.messages["ses_10"] = [{"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "metadata": {"kgctx": {"v": 1}}}]},
                                     {"info": {"id": "msg_2", "role": "user"}, "parts": [{"type": "compaction"}]}]
        for n in range(1, 11):
            lab.run("inject", "--session", f"ses_{n}", "--server", server.url)
            lab.run("inject", "--session", f"ses_{n}", "--server", server.url, "--format", "json")
        leave(lab, "author")
        server.refusal = 500
        lab.run("inject", "--session", "ses_11", "--server", server.url, label="inject, refused with a handoff waiting")
        server.refusal = None
        lab.run("handoff", "list")
        lab.run("inject", "--session", "ses_11", "--server", server.url, "--format", "json")
        lab.run("handoff", "list", "--all")
        explained(lab, "--session", "ses_11")
        lab.run("inject", "--session", "ses_12", "--server", server.url)
        lab.run("inject", "--session", "ses_13", "--budget", "200", "--timings", env={"KGCTX_SERVERS": server.url})
        lab.run("inject", "--session", "ses_99", "--server", server.url)
        lab.run("inject", "--session", "no id", "--server", server.url)
        lab.run("inject", "--session", "ses_1", "--server", server.url, env={"SESSION_START_ENABLED": "false"})
        lab.run("doctor", "--server", server.url)
    lab.run("inject", "--session", "ses_1", "--server", "http://127.0.0.1:1")
    lab.run("inject", "--session", "ses_1", "--server", "ftp://x")
    lab.state("after deliveries")


def service(lab):
    """The service: hooks answered through it, and sessions of a server given their context by it."""
    lab.masks.hides_hashes = True
    lab.atlas(now=lab.start)
    lab.cwd = lab.path / "atlas"
    lab.run("index")
    lab.run("serve", "--status")
    lab.run("serve", "--status", "--json")

    def created(id):
        info = {"id": id, "directory": str(lab.cwd), "title": ""}
        return lab.hook("opencode", {"protocol": 1, "event": {"type": "session.created", "properties": {"info": info}}}, f"{id} through the service")

    with Service(lab, "--server", "http://127.0.0.1:1"):
        # It brings the index up to date first.
        time.sleep(1)
        for n in range(3):
            created(f"ses_{n}")
        leave(lab, "author")
        created("ses_h")
        lab.hook("claude-code", claude_event(lab, "start-startup", "cc"), "beside the service")
        lab.hook("amplifier", {"event": "prompt:submit", "session_id": "amp", "cwd": str(lab.cwd)}, "beside the service")
        explained(lab, "--session", "ses_0")
    with OpencodeServer(lab) as server:
        server.session("ses_early", lab.cwd, lab.start * 1_000)
        with Service(lab, "--server", server.url):
            wait(lambda: len(server.posted) == 1)
            time.sleep(0.5)
            leave(lab, "author2")
            announced = server.session("ses_late", lab.cwd, lab.start * 1_000)
            server.announce("session.created", {"sessionID": "ses_late", "info": announced})
            wait(lambda: len(server.posted) == 2)
            time.sleep(0.3)
            lab.run("handoff", "list", "--all")
        explained(lab, "--session", "ses_late")
    lab.state("after the service")


def wait(condition, seconds=8):
    until = time.time() + seconds
    while time.time() < until and not condition():
        time.sleep(0.05)


SCENARIOS = (opencode, claude_code, amplifier, delivery, service)
