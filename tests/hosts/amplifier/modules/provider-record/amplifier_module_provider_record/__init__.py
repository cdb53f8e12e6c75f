"""A provider that calls nobody, and keeps every request that it is given."""

from amplifier_core.message_models import ChatResponse, TextBlock, Usage
from amplifier_core.models import ProviderInfo

__amplifier_module_type__ = "provider"

SEEN = []


def plain(message):
    content = message.content
    if not isinstance(content, str):
        content = "".join(getattr(block, "text", "") or "" for block in content)
    return {"role": message.role, "content": content, "metadata": message.metadata}


class Recorder:
    name = "record"

    def __init__(self, coordinator):
        self.coordinator = coordinator

    def get_info(self):
        defaults = {"model": "none", "context_window": 200_000, "max_output_tokens": 100}
        return ProviderInfo(id="record", display_name="Record", defaults=defaults)

    async def list_models(self):
        return []

    async def complete(self, request, **_):
        SEEN.append({"session": self.coordinator.session_id, "messages": [plain(message) for message in request.messages]})
        usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
        return ChatResponse(content=[TextBlock(text="ok")], usage=usage)

    def parse_tool_calls(self, response):
        return response.tool_calls or []


async def mount(coordinator, config=None):
    await coordinator.mount("providers", Recorder(coordinator), name="record")
