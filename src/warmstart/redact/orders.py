"""What orders to an agent look like: phrases, by the name of what they try to do.

Every expression is matched against lower-case text and only where one of its words stands in it.
They ask for an imperative with its object; talk about prompts in code and documents is not that.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Order(NamedTuple):
    """One kind of order."""

    name: str
    words: tuple[str, ...]
    """Where none of these is in the text, the expression cannot match."""
    pattern: re.Pattern[str]


def _order(name: str, words: str, *alternatives: str) -> Order:
    return Order(name, tuple(words.split(",")), re.compile("|".join(alternatives)))


_PRIOR = (
    r"(?:all |any |the |your |my |these |those |of ){0,4}"
    r"(?:previous|prior|above|earlier|preceding|existing|original|other|current|system)"
)
_ORDERS = (
    r"(?:i\w{0,2}nstructions?|prompts?|rules|guidelines|directions?|commands?|orders?|messages"
    r"|context|training|programming|tasks?)"
)
_SAY = r"(?:tell|mention|inform|reveal|notif|alert)(?:y|ing|ying)?(?! this reminder)"
_TREASURE = (
    r"(?:api[ _-]?keys?|secrets?|passwords?|credentials?|tokens?|environment variables|env vars"
    r"|\.env|ssh keys?|private keys?|conversation|chat history|system prompt)"
)

ORDERS: tuple[Order, ...] = (
    _order(
        "override",
        "ignore,disregard,forget,override,bypass",
        rf"\b(?:ignore|disregard|forget|override|bypass)\b,? (?:about )?{_PRIOR}"
        rf"[ \w]{{0,24}}\b{_ORDERS}",
        r"\b(?:ignore|disregard|forget) (?:everything|all)(?: that was| you were| you have been)?"
        r" (?:above|before|said|told)",
        rf"\b(?:disregard|ignore) (?:all )?(?:your|the) (?:system )?{_ORDERS}\b",
    ),
    _order(
        "new_instructions",
        "instruction,important message,task,goal,objective",
        r"\b(?:your|here are|these are)(?: the)? (?:new|real|actual|updated|true)"
        r" (?:instructions?|tasks?|goals?|objective)\b",
        r"\b(?:before|after) you (?:can )?(?:solve|do|complete|finish|continue|start)[ \w]{0,40}"
        r"(?:task|request)[ \w,]{0,40}(?:do|follow|first|must)\b",
        r"\bthis is an important message from\b",
        r"\bfollow these instructions (?:instead|exactly)\b",
    ),
    _order(
        "role_marker",
        "<|,[inst],<<sys>>,<start_of_turn>,### ",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>",
        r"\[/?inst\]|<</?sys>>|<start_of_turn>",
        r"(?:^|\n)### (?:system|instruction)s?:",
    ),
    _order(
        "system_tag",
        "<,system",
        r"</?(?:system|important|information|admin|developer|instructions?|assistant"
        r"|system[-_](?:prompt|message|override))>\s{0,4}(?:you |please |ignore|this |the user"
        r"|from now|important|i |forget|first|before|send|do not|don't|always|never|my )",
        r"(?:^|\n)\[?system\]?(?: (?:message|notice|override|prompt))?\]?:[ \t]{0,4}"
        r"(?:you |ignore|from now|please |do not|disregard)",
        r"\[system (?:message|override|notice|prompt)\]",
    ),
    _order(
        "tool_markup",
        "function_call,tool_call,tool_use,invoke name,tool_response",
        r"<(?:antml:)?(?:function_calls?|invoke(?= name=\")|tool_call|tool_use|tool_response)"
        r"(?![\w-])[^>\n]{0,80}>",
    ),
    _order(
        "secrecy",
        "tell,mention,reveal,inform,notif,alert,secret",
        rf"\b(?:do not|don't|never|without|must not)[ \w]{{0,16}}\b{_SAY}"
        r"[ \w]{0,24}\b(?:users?|human|owner|anyone|developer)\b",
        r"\bkeep this (?:a )?secret from\b",
        r"\b(?:do not|don't) mention this\b",
    ),
    _order(
        "persona",
        "you are now,pretend,jailbreak,developer mode,from now on",
        r"\byou are now (?:a|an|in|the|dan|free|acting|operating)\b[^.\n]{0,60}\b(?:mode|ai"
        r"|assistant|agent|model|unrestricted|no restrictions|dan)\b",
        r"\bpretend (?:to be|you are|that you(?: are|'re)) (?:a |an |the |my )?(?:ai|assistant"
        r"|admin\w*|root|human|developer|hacker|dan|unrestricted|system|different)\b",
        r"\bjailbreak(?:ed)? mode\b|\bdeveloper mode (?:enabled|on)\b",
        r"\bfrom now on,? you (?:will|must|are|should)\b",
    ),
    _order(
        "exfiltration",
        "http,@,$(",
        r"\b(?:send|post|upload|forward|exfiltrate|transmit|leak|email)\b[^.\n]{0,80}"
        rf"\b{_TREASURE}\b[^.\n]{{0,60}}\b(?:to|at|via)\b[^.\n]{{0,40}}(?:https?://|@)",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][\w-]{1,30}=(?:\{|<|%7b|\$)",
        r"\bcurl\b[^\n]{0,120}\$\(\s{0,4}(?:cat|env|printenv)\b",
    ),
    _order(
        "prompt_theft",
        "prompt,instructions",
        r"\b(?:reveal|print|repeat|output|show|display|leak)[ \w]{0,16}\b(?:your|the)"
        r" (?:system|initial|hidden|original) (?:prompt|instructions?)\b",
    ),
    _order(
        "addressed_to_agent",
        "attention,note to,message to,message for,instruction,dear ,hey ",
        r"\b(?:attention|note to|message (?:to|for)|instructions? (?:to|for)|dear|hey)"
        r" (?:the |any |all )?(?:ai|llm|language model|claude|chatgpt|gpt|copilot|codex)"
        r"(?: (?:agents?|assistants?|models?))?\b[ ,:!]",
    ),
)
