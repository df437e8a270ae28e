"""The Chinese words for credentials, for what reads them beside another value. What is told by them is read by `told`."""

from __future__ import annotations

WORDS = ("密码", "密碼", "口令", "密钥", "密鑰", "金鑰", "令牌", "秘钥", "密匙")
