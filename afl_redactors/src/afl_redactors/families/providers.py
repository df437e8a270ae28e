"""Keys whose own form gives them away: the prefixes providers document. Needs no name and no sentence around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.windows import View

_TAIL = re.compile(r"[A-Za-z0-9_\-+/=~%]*(?:\.[A-Za-z0-9_\-+/=~]{4,})*")
_EDGE = r"(?<![A-Za-z0-9_-])"
_DIGIT_AHEAD = r"(?=[A-Za-z_-]{0,64}\d)"

_FORMATS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "aws-access-key",
        ("akia", "asia", "abia", "acca", "absk"),
        r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|ABSK[A-Za-z0-9+/]{40})",
    ),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), r"(?:gh[pousr]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20})"),
    (
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-", "glffct-", "gr1348941"),
        r"(?:gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_-]{16}|GR1348941[A-Za-z0-9_-]{16})",
    ),
    ("anthropic-key", ("sk-ant-",), rf"{_EDGE}sk-ant-[A-Za-z0-9_-]{{12}}"),
    ("openai-key", ("sk-",), rf"{_EDGE}sk-{_DIGIT_AHEAD}[A-Za-z0-9_-]{{20}}"),
    (
        "google-key",
        ("aiza", "gocspx-", "ya29.", "1//0"),
        rf"{_EDGE}(?:AIza[A-Za-z0-9_-]{{30}}|GOCSPX-[A-Za-z0-9_-]{{20}}|ya29\.[A-Za-z0-9_-]{{20}}|1//0[A-Za-z0-9_-]{{40}})",
    ),
    (
        "slack-token",
        ("xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        r"(?:xox[abeoprs][-.][A-Za-z0-9-]{10}|xapp-\d-[A-Za-z0-9-]{10})",
    ),
    ("slack-webhook", ("hooks.slack.com/",), r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Za-z0-9_/-]{20}"),
    ("discord-webhook", ("/api/webhooks/",), r"(?<=/api/webhooks/)\d{10,24}/[A-Za-z0-9_-]{20}"),
    (
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
        r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10}|whsec_[A-Za-z0-9+/=]{16})",
    ),
    ("npm-token", ("npm_",), rf"{_EDGE}npm_[A-Za-z0-9]{{30}}"),
    ("pypi-token", ("pypi-",), rf"{_EDGE}pypi-[A-Za-z0-9_-]{{30}}"),
    ("huggingface-token", ("hf_", "api_org_"), rf"{_EDGE}(?:hf_|api_org_)[A-Za-z0-9]{{30}}"),
    ("twilio-key", ("sk",), r"(?<![A-Za-z0-9])SK[0-9a-f]{32}"),
    ("sendgrid-key", ("sg.",), rf"{_EDGE}SG\.[A-Za-z0-9_-]{{16,64}}\.[A-Za-z0-9_-]{{16}}"),
    ("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[a-f0-9]{32}"),
    ("jwt", ("eyj",), rf"{_EDGE}eyJ[A-Za-z0-9_-]{{8,4096}}\.[A-Za-z0-9_-]{{0,8192}}\.?"),
    ("shopify-token", ("shpat_", "shpss_", "shpca_", "shppa_"), r"shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{32}"),
    ("square-token", ("sq0atp-", "sq0csp-"), r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22}"),
    ("mailgun-key", ("key-",), rf"{_EDGE}key-[0-9a-f]{{32}}"),
    ("mailchimp-key", ("-us",), r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}"),
    ("telegram-token", (":aa",), r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32}"),
    ("databricks-token", ("dapi",), rf"{_EDGE}dapi[a-f0-9]{{32}}"),
    ("doppler-token", ("dp.",), rf"{_EDGE}dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{{24}}"),
    ("linear-key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{32}"),
    ("notion-token", ("ntn_", "secret_"), rf"{_EDGE}(?:ntn_[A-Za-z0-9]{{40}}|secret_{_DIGIT_AHEAD}[A-Za-z0-9]{{43}})"),
    ("figma-token", ("figd_",), r"figd_[A-Za-z0-9_-]{30}"),
    ("airtable-token", ("pat",), rf"{_EDGE}pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{60}}"),
    ("atlassian-token", ("atatt3", "atctt3"), r"AT[AC]TT3[A-Za-z0-9_=-]{24}"),
    ("docker-token", ("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[A-Za-z0-9_-]{20}"),
    ("vault-token", ("hvs.", "hvb.", "hvr."), rf"{_EDGE}hv[sbr]\.[A-Za-z0-9_-]{{20}}"),
    ("terraform-token", (".atlasv1.",), r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40}"),
    ("grafana-token", ("glsa_", "glc_"), rf"{_EDGE}(?:glsa_[A-Za-z0-9]{{32}}|glc_[A-Za-z0-9+/]{{32}})"),
    ("newrelic-key", ("nrak-",), r"NRAK-[A-Z0-9]{24}"),
    ("planetscale-token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30}"),
    ("postman-key", ("pmak-",), r"PMAK-[a-f0-9]{24}"),
    ("pulumi-token", ("pul-",), rf"{_EDGE}pul-[a-f0-9]{{40}}"),
    ("rubygems-key", ("rubygems_",), r"rubygems_[a-f0-9]{40}"),
    ("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9+/=_-]{40}"),
    ("supabase-token", ("sbp_", "sb_secret_"), rf"{_EDGE}(?:sbp_[a-f0-9]{{40}}|sb_secret_[A-Za-z0-9_-]{{20}})"),
    ("groq-key", ("gsk_",), rf"{_EDGE}gsk_[A-Za-z0-9]{{40}}"),
    ("replicate-token", ("r8_",), rf"{_EDGE}r8_[A-Za-z0-9]{{36}}"),
    ("perplexity-key", ("pplx-",), rf"{_EDGE}pplx-[A-Za-z0-9]{{40}}"),
    ("xai-key", ("xai-",), rf"{_EDGE}xai-{_DIGIT_AHEAD}[A-Za-z0-9]{{40}}"),
    ("age-key", ("age-secret-key-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{50}"),
    ("azure-secret", ("q~",), r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{30}"),
    ("tailscale-key", ("tskey-",), r"tskey-[a-z]{3,12}-[A-Za-z0-9-]{16}"),
    ("circleci-token", ("ccipat_",), r"CCIPAT_[A-Za-z0-9_]{30}"),
    ("langsmith-key", ("lsv2_",), r"lsv2_(?:pt|sk)_[a-f0-9]{32}"),
    ("flyio-token", ("fm2_", "fo1_"), rf"{_EDGE}(?:fm2_[A-Za-z0-9+/=]{{50}}|fo1_[A-Za-z0-9_-]{{40}})"),
)


def _whole(view: View, found: re.Match[str]) -> Iterator[Span]:
    tail = _TAIL.match(view.text, found.end())
    yield found.start(), tail.end() if tail else found.end()


_LITERALS = {"twilio-key": tuple(f"sk{digit}" for digit in "0123456789abcdef"), "slack-token": ("xox", "xapp-")}
"""Literals that lead to a rule, where its words stand in too many ordinary ones or not in all that it matches."""
_BEGINS_BEFORE = {
    "slack-webhook": (-len("hooks.slack.com/"),),
    "discord-webhook": (-len("/api/webhooks/"),),
    "mailchimp-key": (32,),
    "telegram-token": (8, 9, 10),
    "terraform-token": (14,),
    "azure-secret": (4,),
}
"""How many characters before its word a match begins, where it does not begin with it."""


def _worth(pattern: re.Pattern[str], before: tuple[int, ...]) -> Callable[[str, int], object]:
    if not before:
        return pattern.match
    return lambda text, at: any(at >= back and pattern.match(text, at - back) for back in before)


_PATTERNS = {name: re.compile(pattern) for name, _, pattern in _FORMATS}

RULES = tuple(
    Rule(name, words, matching(_PATTERNS[name], _whole), before=64, after=16_384 if name == "jwt" else 160) for name, words, _ in _FORMATS
)
LEADS: tuple[Lead, ...] = tuple(
    leading(rule, _worth(_PATTERNS[rule.name], _BEGINS_BEFORE.get(rule.name, ())), _LITERALS.get(rule.name, ())) for rule in RULES
)
