"""The bridge between Amplifier and kgctx: asks kgctx for a session's context, and puts it into the session.

The kernel throws away what is answered to `session:start` and `session:resume`, and merges what several hooks answer to
`prompt:submit` into one message, with the role and the lifetime of the first. So this module answers `continue` to every event and
hands the text to the coordinator's own `process_hook_result`, which stores it as a message of its own. Then it tells kgctx whether
that worked: a handoff is given to nobody else as soon as its text has arrived, and not before.

All judgement is in kgctx. Whatever goes wrong here, the session goes on without it.
"""

import asyncio
import json
import logging
import os
import signal
import time

from amplifier_core.models import HookResult

__amplifier_module_type__ = "hook"

VERSION = "0.1.0"
NAME = "kgctx"
# How long kgctx may take at an event. It answers within 1.2 seconds.
TIMEOUT_SECONDS = 2.0
# How long kgctx may take, at least, to note what became of a context.
NOTE_SECONDS = 0.8
# The end of a program that was killed is waited for no longer.
KILLED_SECONDS = 0.2
# No context is longer, by far.
LONGEST_ANSWER = 4 * 1024 * 1024

log = logging.getLogger(__name__)


def go_on():
    # The kernel takes an answer that it cannot read for a denial of the prompt.
    return HookResult(action="continue")


def is_ours(message):
    """Whether a stored message has a text of ours."""
    metadata = message.get("metadata") if isinstance(message, dict) else getattr(message, "metadata", None)
    return isinstance(metadata, dict) and metadata.get("hook_name") == NAME


def is_said(message):
    """Whether a stored message is a part of the conversation."""
    role = message.get("role") if isinstance(message, dict) else getattr(message, "role", None)
    return role in ("user", "assistant")


async def stop(process):
    """Ends a program that has not ended by itself, with all that it has started."""
    if process.returncode is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        await asyncio.wait_for(process.wait(), KILLED_SECONDS)
    except asyncio.TimeoutError:
        # A process of another group may hold its pipe.
        pass


async def converse(process, question):
    """Tells a program something, and returns all that it says."""
    process.stdin.write(question)
    process.stdin.close()
    try:
        await process.stdout.readexactly(LONGEST_ANSWER + 1)
    except asyncio.IncompleteReadError as whole:
        await process.wait()
        return whole.partial
    raise ValueError("the answer is too long")


class Bridge:
    """One session, from its beginning to its end."""

    def __init__(self, coordinator, config):
        self.coordinator = coordinator
        # What a user has overridden wrongly must not keep a session from starting.
        command, timeout = config.get("command"), config.get("timeout")
        self.command = command if isinstance(command, list) and command else ["kgctx", "hook", "amplifier"]
        self.timeout = timeout if isinstance(timeout, (int, float)) and timeout > 0 else TIMEOUT_SECONDS
        self.has_begun = False
        self.has_ended = False
        # Whether the session's messages have shown our text: then its absence means something.
        self.is_seen = False
        self.until = 0.0

    def is_helper(self, data):
        """A session that works for another one: that one has the context."""
        return bool(data.get("parent_id") or getattr(self.coordinator, "parent_id", None))

    def folder(self):
        """The session's folder. In a server, that of the process is another one."""
        for ask in (
            lambda: self.coordinator.get_capability("session.working_dir"),
            lambda: self.coordinator.config.get("working_dir"),
            os.getcwd,
        ):
            try:
                if found := ask():
                    return str(found)
            except Exception:
                continue
        return None

    def question(self, event, data, more):
        limit = getattr(self.coordinator, "injection_size_limit", None)
        config = getattr(self.coordinator, "config", None)
        return {
            "event": event,
            "session_id": data.get("session_id") or getattr(self.coordinator, "session_id", None),
            "parent_id": data.get("parent_id"),
            "working_directory": self.folder(),
            "max_chars": limit if isinstance(limit, int) else None,
            "application_host": config.get("application_host") if isinstance(config, dict) else None,
            "module": VERSION,
            **more,
        }

    async def ask(self, event, data, **more):
        """What kgctx answers, within what is left of the event's time."""
        question = json.dumps(self.question(event, data, more)).encode()
        process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            said = await asyncio.wait_for(converse(process, question), max(0.0, self.until - time.monotonic()))
        finally:
            await stop(process)
        answer = json.loads(said)
        return answer if isinstance(answer, dict) else {}

    async def messages(self):
        return await self.coordinator.get("context").get_messages()

    async def give(self, event, data, source):
        """Gives the session its context."""
        if any(is_ours(message) for message in await self.messages()):
            self.is_seen = True
            return
        answer = await self.ask(event, data, source=source)
        text, notice = answer.get("context_injection"), answer.get("user_message")
        is_context = answer.get("action") == "inject_context" and isinstance(text, str) and text
        if is_context:
            result = HookResult(
                action="inject_context", context_injection=text, context_injection_role="system", ephemeral=False
            )
            await self.put(event, data, result, answer.get("receipt"))
        elif isinstance(notice, str) and notice:
            # Shown to the user, not to the model.
            result = HookResult(action="continue", user_message=notice, user_message_source=NAME)
            await self.coordinator.process_hook_result(result, event, NAME)

    async def put(self, event, data, result, receipt):
        """Stores the context, and tells kgctx whether that worked."""
        outcome = "kgctx.released"
        try:
            await self.coordinator.process_hook_result(result, event, NAME)
            outcome = "kgctx.delivered"
            self.is_seen = any(is_ours(message) for message in await self.messages())
        except Exception as error:
            log.debug("kgctx at %s: %r", event, error)
        if receipt is not None:
            self.until = max(self.until, time.monotonic() + NOTE_SECONDS)
            await self.ask(outcome, data, receipt=receipt)

    async def on_begin(self, event, data):
        # Kernels before 1.6 tell the beginning at every prompt.
        if not self.has_begun and not self.is_helper(data):
            self.has_begun = True
            await self.give(event, data, "resume" if event == "session:resume" else "startup")

    async def on_prompt(self, event, data):
        """Nobody is told that a session was cleared: our text is then missing from its messages."""
        if not self.is_seen:
            return
        messages = await self.messages()
        if not any(is_ours(message) for message in messages):
            self.is_seen = False
            await self.give(event, data, "resume" if any(is_said(message) for message in messages) else "clear")

    async def on_end(self, event, data):
        if self.has_begun and not self.has_ended:
            self.has_ended = True
            await self.ask(event, data)

    def handler(self, react):
        async def handle(event, data):
            try:
                self.until = time.monotonic() + self.timeout
                await react(event, data)
            except Exception as error:
                log.debug("kgctx at %s: %r", event, error)
            return go_on()

        return handle


async def mount(coordinator, config=None):
    bridge = Bridge(coordinator, config or {})
    for event, react, name in (
        ("session:start", bridge.on_begin, "kgctx-start"),
        ("session:resume", bridge.on_begin, "kgctx-resume"),
        ("prompt:submit", bridge.on_prompt, "kgctx-prompt"),
        ("session:end", bridge.on_end, "kgctx-end"),
    ):
        # One name per event: the registry keeps one way to unregister per name.
        coordinator.hooks.register(event, bridge.handler(react), priority=50, name=name)
    # No cleanup is returned: cleanups run before `session:end` is told, and a handler that is gone by then does not hear it.
    return None
