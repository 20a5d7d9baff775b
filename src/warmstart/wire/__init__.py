"""Providers' JSON: one codec each for OpenAI's chat and responses, Anthropic and Gemini.

    codec = CODECS["anthropic"]
    body = codec.encode_request(Prompt(system="Be brief.", messages=messages, max_tokens=100))
    decoder = StreamDecoder(codec)
    for chunk in response:
        decoder.feed(chunk)
    answer = decoder.result()

This is the only place that knows how a provider writes a conversation. A conversation itself is
system text and the messages of ``warmstart.model``; nothing here opens a connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.wire.anthropic import is_result, is_use, read_result
    from warmstart.wire.codec import (
        Codec,
        Event,
        Prompt,
        Response,
        StopReason,
        StreamBody,
        ToolSpec,
    )
    from warmstart.wire.codecs import (
        CODECS,
        build_url,
        count_leading,
        find_codec,
        find_codec_at,
        insert_before,
    )
    from warmstart.wire.encoding import encode_json, encode_line
    from warmstart.wire.fields import (
        MAX_TOKENS,
        ROLES,
        Arguments,
        Body,
        as_dict,
        as_dicts,
        as_id,
        content_text,
        encode_text,
        make_request,
        parse_arguments,
    )
    from warmstart.wire.pairing import CallIds, pair_calls, safe_name, with_ids, with_objects
    from warmstart.wire.stream import EventParser, StreamDecoder, encode_events
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "anthropic": ("read_result", "is_result", "is_use"),
            "codec": (
                "Codec", "Event", "Prompt", "Response", "StopReason", "StreamBody", "ToolSpec",
            ),
            "codecs": (
                "CODECS", "build_url", "count_leading", "find_codec", "find_codec_at",
                "insert_before",
            ),
            "encoding": ("encode_json", "encode_line"),
            "fields": (
                "MAX_TOKENS", "ROLES", "Arguments", "Body", "as_dict", "as_dicts", "as_id",
                "content_text", "encode_text", "make_request", "parse_arguments",
            ),
            "pairing": ("CallIds", "pair_calls", "safe_name", "with_ids", "with_objects"),
            "stream": ("EventParser", "StreamDecoder", "encode_events"),
        },
    )  # fmt: skip

__all__ = [
    "CODECS", "MAX_TOKENS", "ROLES", "Arguments", "Body", "CallIds", "Codec", "Event",
    "EventParser", "Prompt", "Response", "StopReason", "StreamBody", "StreamDecoder", "ToolSpec",
    "as_dict", "as_dicts", "as_id", "build_url", "content_text", "count_leading", "encode_events",
    "encode_json", "encode_line", "encode_text", "find_codec", "find_codec_at", "insert_before",
    "is_result", "is_use", "make_request", "pair_calls", "parse_arguments", "read_result",
    "safe_name", "with_ids", "with_objects",
]  # fmt: skip
