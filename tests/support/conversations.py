"""Conversations and answers that every provider can carry, as hypothesis strategies."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from warmstart.model import Message, Request, Result, Role, Tokens
from warmstart.wire import Prompt, Response, StopReason, ToolSpec

GROUPED = ("anthropic", "gemini")
"""Providers that hold all results of one message together."""
FLAGGED = ("anthropic", "gemini")
"""Providers with a field for failure."""
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], max_codepoint=0x1F600), min_size=1, max_size=12
).filter(str.strip)
NAMES = st.from_regex(r"[a-zA-Z0-9_-]{1,12}", fullmatch=True)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text('aé\U0001f600"\\\n', max_size=5)
)
ARGUMENTS = st.dictionaries(
    st.text("ab_é", max_size=3), VALUES | st.lists(VALUES, max_size=2), max_size=3
)
COUNTS = st.integers(0, 10**9)
TOOLS = st.builds(
    ToolSpec, NAMES, st.text(max_size=5), st.just({"type": "object", "properties": {}})
)


@st.composite
def prompts(draw: Any, codec: str) -> Prompt:
    """A prompt as its codec would decode it: ids by place for the provider that has none."""
    messages: list[Message] = []
    for _ in range(draw(st.integers(0, 4))):
        messages.append(Message(role=Role.USER, text=draw(TEXTS)))
        for _ in range(draw(st.integers(0, 2))):
            messages += draw(_steps(codec, len(messages)))
        messages.append(Message(role=Role.ASSISTANT, text=draw(TEXTS)))
    return Prompt(
        system=draw(st.just("") | TEXTS),
        messages=tuple(messages),
        tools=tuple(draw(st.lists(TOOLS, max_size=2))),
        model="" if codec == "gemini" else draw(st.just("") | NAMES),
        max_tokens=draw(st.none() | COUNTS),
        temperature=draw(st.none() | st.floats(0, 2)),
        seed=draw(st.none() | COUNTS) if codec in ("openai", "gemini") else None,
        stream=None if codec == "gemini" else draw(st.none() | st.booleans()),
    )


@st.composite
def _steps(draw: Any, codec: str, place: int) -> list[Message]:
    requests = tuple(
        replace(request, id=f"call_{place}_{number}")
        for number, request in enumerate(draw(st.lists(_requests(codec), min_size=1, max_size=3)))
    )
    flags = st.booleans() if codec in FLAGGED else st.none()
    results = [
        Result(
            text=draw(st.just("") | TEXTS),
            call_id=request.id,
            tool=request.tool if codec == "gemini" else None,
            is_error=draw(flags),
        )
        for request in requests
    ]
    asked = Message(role=Role.ASSISTANT, text=draw(st.just("") | TEXTS), requests=requests)
    if codec in GROUPED:
        return [asked, Message(role=Role.TOOL, results=tuple(results))]
    return [asked, *(Message(role=Role.TOOL, results=(result,)) for result in results)]


def _requests(codec: str) -> st.SearchStrategy[Request]:
    objects = st.builds(Request, tool=NAMES, arguments=ARGUMENTS)
    if codec in GROUPED:
        return objects
    return objects | st.builds(Request, tool=NAMES, raw=st.just("{not json") | st.just("[1]"))


@st.composite
def responses(draw: Any, codec: str) -> Response:
    """A whole answer."""
    asked = draw(st.lists(_requests(codec), max_size=3))
    cached, reasoning = draw(COUNTS), draw(COUNTS)
    tokens = Tokens(
        input=draw(COUNTS),
        output=draw(COUNTS) + reasoning,
        cache_read=cached,
        cache_write=0 if codec == "gemini" else draw(COUNTS),
        reasoning=0 if codec == "anthropic" else reasoning,
    )
    stops = [StopReason.LENGTH, StopReason.REFUSED]
    return Response(
        message=Message(
            role=Role.ASSISTANT,
            text=draw(st.just("") | TEXTS),
            reasoning=draw(st.just("") | TEXTS),
            requests=tuple(replace(one, id=f"c{n}") for n, one in enumerate(asked)),
            native_id=draw(NAMES),
            model=draw(NAMES),
            tokens=draw(st.none() | st.just(tokens)),
        ),
        stop=draw(st.sampled_from([*stops, StopReason.CALLS if asked else StopReason.END])),
    )
