"""What orders to an agent look like: phrases, by the name of what they try to do.

They ask for an imperative with its object; talk about prompts in code and documents is not that.
Every expression is matched against lower-case text, and only at one of its opening words, so the
work for a text is the number of openings in it times a bounded match; ``injection`` counts them.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Order(NamedTuple):
    """One kind of order, or of command."""

    name: str
    openings: tuple[str, ...]
    """Every match begins with one of these, or up to ``back`` characters before it."""
    pattern: re.Pattern[str]
    lines: bool = False
    """Matched against the text with its line ends; else with all white space as single blanks."""
    back: int = 0


def order(
    name: str, openings: str, *alternatives: str, lines: bool = False, back: int = 0
) -> Order:
    """One kind, from its openings joined by commas and its alternatives."""
    pattern = re.compile("|".join(alternatives))
    return Order(name, tuple(openings.split(",")), pattern, lines, back)


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
    order(
        "override",
        "ignore,disregard,forget,override,bypass",
        rf"\b(?:ignore|disregard|forget|override|bypass)\b,? (?:about )?{_PRIOR}"
        rf"[ \w]{{0,24}}\b{_ORDERS}",
        r"\b(?:ignore|disregard|forget) (?:everything|all)(?: that was| you were| you have been)?"
        r" (?:above|before|said|told)",
        rf"\b(?:disregard|ignore) (?:all )?(?:your|the) (?:system )?{_ORDERS}\b",
    ),
    order(
        "new_instructions",
        "your new,your real,your actual,your updated,your true,here are,these are,before you,"
        "after you,this is an important,follow these",
        r"\b(?:your|here are|these are)(?: the)? (?:new|real|actual|updated|true)"
        r" (?:instructions?|tasks?|goals?|objective)\b",
        r"\b(?:before|after) you (?:can )?(?:solve|do|complete|finish|continue|start)[ \w]{0,40}"
        r"(?:task|request)[ \w,]{0,40}(?:do|follow|first|must)\b",
        r"\bthis is an important message from\b",
        r"\bfollow these instructions (?:instead|exactly)\b",
    ),
    order(
        "role_marker",
        "<|,[inst],[/inst],<<sys>>,<</sys>>,<start_of_turn>,### system,### instruction",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>",
        r"\[/?inst\]|<</?sys>>|<start_of_turn>",
        r"(?<![^\n])### (?:system|instruction)s?:",
        lines=True,
    ),
    order(
        "system_tag",
        "<system,</system,<important,</important,<information,</information,<admin,</admin,"
        "<developer,</developer,<instruction,</instruction,<assistant,</assistant,[system,system:,"
        "system message,system notice,system override,system prompt",
        r"</?(?:system|important|information|admin|developer|instructions?|assistant"
        r"|system[-_](?:prompt|message|override))>\s{0,4}(?:you |please |ignore|this |the user"
        r"|from now|important|i |forget|first|before|send|do not|don't|always|never|my )",
        r"(?<![^\n\[])\[?system\]?(?: (?:message|notice|override|prompt))?\]?:[ \t]{0,4}"
        r"(?:you |ignore|from now|please |do not|disregard)",
        r"\[system (?:message|override|notice|prompt)\]",
        lines=True,
    ),
    order(
        "tool_markup",
        "<function_call,<tool_call,<tool_use,<invoke name,<tool_response,<antml:",
        r"<(?:antml:)?(?:function_calls?|invoke(?= name=\")|tool_call|tool_use|tool_response)"
        r"(?![\w-])[^>\n]{0,80}>",
    ),
    order(
        "secrecy",
        "do not,don't,never,without,must not,keep this",
        rf"\b(?:do not|don't|never|without|must not)[ \w]{{0,16}}\b{_SAY}"
        r"[ \w]{0,24}\b(?:users?|human|owner|anyone|developer)\b",
        r"\bkeep this (?:a )?secret from\b",
        r"\b(?:do not|don't) mention this\b",
    ),
    order(
        "persona",
        "you are now,pretend,jailbreak,developer mode,from now on",
        r"\byou are now (?:a|an|in|the|dan|free|acting|operating)\b[^.\n]{0,60}\b(?:mode|ai"
        r"|assistant|agent|model|unrestricted|no restrictions|dan)\b",
        r"\bpretend (?:to be|you are|that you(?: are|'re)) (?:a |an |the |my )?(?:ai|assistant"
        r"|admin\w*|root|human|developer|hacker|dan|unrestricted|system|different)\b",
        r"\bjailbreak(?:ed)? mode\b|\bdeveloper mode (?:enabled|on)\b",
        r"\bfrom now on,? you (?:will|must|are|should)\b",
    ),
    order(
        "exfiltration",
        "send ,post ,upload ,forward ,exfiltrate ,transmit ,leak ,email ,![,curl",
        r"\b(?:send|post|upload|forward|exfiltrate|transmit|leak|email)\b[^.\n]{0,80}"
        rf"\b{_TREASURE}\b[^.\n]{{0,60}}\b(?:to|at|via)\b[^.\n]{{0,40}}(?:https?://|@)",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][\w-]{1,30}=(?:\{|<|%7b|\$)",
        r"\bcurl\b[^\n]{0,120}\$\(\s{0,4}(?:cat|env|printenv)\b",
    ),
    order(
        "prompt_theft",
        "system prompt,initial prompt,hidden prompt,original prompt,system instruction,"
        "initial instruction,hidden instruction,original instruction",
        r"\b(?:reveal|print|repeat|output|show|display|leak)[ \w]{0,16}\b(?:your|the)"
        r" (?:system|initial|hidden|original) (?:prompt|instructions?)\b",
        back=40,
    ),
    order(
        "addressed_to_agent",
        "attention,note to,note for,notice to,notice for,message to,message for,instruction to,"
        "instruction for,instructions to,instructions for,reminder to,reminder for,important to,"
        "important for,warning to,warning for,dear ,hey ,if you are,note: ,notice: ,important: ,"
        "reminder: ,warning: ",
        r"\b(?:attention|(?:note|notice|message|instructions?|reminder|important|warning)"
        r" (?:to|for)|dear|hey|if you are an?) (?:the |any |all )?(?:ai|llm|language model|claude"
        r"|chatgpt|gpt|copilot|codex)(?: (?:coding |code )?(?:agents?|assistants?|models?))?\b"
        r"[ ,:!]",
        r"\b(?:note|notice|message|reminder|important|attention|warning)[: ]{1,2}(?:to |for )?"
        r"(?:the |any |all )?(?:coding |autonomous |automated )?agents?(?: reading this)?[:!]",
    ),
    order(
        "standing_order",
        "before each,before every,before any,before all,before run,before exec,before mak,"
        "before you,after each,after every,after any,after all,after run,after exec,after you,"
        "prior to,every time you,each time you",
        r"\b(?:before|after|prior to) (?:you )?(?:run(?:ning)? |execut(?:e|ing) |mak(?:e|ing) )?"
        r"(?:each|every|any|all)[ \w]{0,16}\b(?:commands?|commits?|calls?|steps?|tasks?|answers?"
        r"|repl(?:y|ies)|requests?)\b[,:]? (?:always |first |you must |you should |please |also "
        r"|make sure to |remember to ){0,2}(?:run|execute|call|send|post|upload|fetch|curl|wget"
        r"|install|export|download|open|visit)\b",
        r"\b(?:every|each) time you [ \w]{0,40}[,:]? (?:you must |also |first |always )"
        r"(?:run|execute|send|post|upload|fetch|curl|wget|download)\b",
    ),
)
