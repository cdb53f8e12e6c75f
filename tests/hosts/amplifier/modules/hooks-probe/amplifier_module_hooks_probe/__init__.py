"""A second hook, which does at an event what a test tells it to: injects a text, or denies the prompt."""

from amplifier_core.models import HookResult

__amplifier_module_type__ = "hook"


def handler(deed):
    async def handle(event, data):
        if deed.get("deny"):
            return HookResult(action="deny", reason="the probe denies")
        return HookResult(
            action="inject_context",
            context_injection=deed["text"],
            context_injection_role=deed.get("role", "system"),
            ephemeral=bool(deed.get("ephemeral")),
        )

    return handle


async def mount(coordinator, config=None):
    for event, deed in (config or {}).items():
        coordinator.hooks.register(event, handler(deed), priority=deed.get("priority", 10), name=f"probe-{event}")
