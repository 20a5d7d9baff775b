"""The chat platforms a message can come from.

The names are stored in keys, so a member is never renamed. A name this version does not know is
refused where it is used (``Platform("pager")``) and kept aside where it is only read
(``find_platform``): a newer gateway's file must not stop an older one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from warmstart.gateway.errors import ConfigError


class Platform(StrEnum):
    """Where a conversation takes place."""

    LOCAL = "local"
    TELEGRAM = "telegram"
    DISCORD = "discord"
    WHATSAPP = "whatsapp"
    WHATSAPP_CLOUD = "whatsapp_cloud"
    SLACK = "slack"
    SIGNAL = "signal"
    MATTERMOST = "mattermost"
    MATRIX = "matrix"
    HOMEASSISTANT = "homeassistant"
    EMAIL = "email"
    SMS = "sms"
    DINGTALK = "dingtalk"
    API_SERVER = "api_server"
    WEBHOOK = "webhook"
    MSGRAPH_WEBHOOK = "msgraph_webhook"
    FEISHU = "feishu"
    WECOM = "wecom"
    WECOM_CALLBACK = "wecom_callback"
    WEIXIN = "weixin"
    BLUEBUBBLES = "bluebubbles"
    QQBOT = "qqbot"
    YUANBAO = "yuanbao"
    RELAY = "relay"

    @classmethod
    def _missing_(cls, value: object) -> Platform:
        known = {member.value: member for member in cls}
        found = known.get(value.strip().lower()) if isinstance(value, str) else None
        if found is None:
            raise ConfigError("platform", value, "one of " + ", ".join(known))
        return found


def find_platform(name: Any) -> Platform | None:
    """The platform of that name, or None for one this version does not know."""
    try:
        return Platform(name)
    except ConfigError:
        return None
