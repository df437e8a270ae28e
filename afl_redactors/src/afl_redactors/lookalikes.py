"""What looks like a credential and is none: placeholders, references, code, dates, versions, paths, model names. Pure questions about one value."""

from __future__ import annotations

import re

from afl_redactors import wordlists
from afl_redactors.placeholders import LONG, is_label, is_of_signs, is_placeholder, names_itself

__all__ = [
    "LONG",
    "is_code",
    "is_file_of_a_secret",
    "is_known_shape",
    "is_label",
    "is_name_shape",
    "is_of_signs",
    "is_path",
    "is_pattern",
    "is_placeholder",
    "is_plain",
    "is_prose",
    "is_reference",
    "is_type",
    "names_a_class",
    "names_a_credential",
    "names_itself",
]

_SHORT = 160
"""Characters. A longer value is no date, version, model name or other known shape."""

_REFERENCE = re.compile(
    r"(?:op|vault|ssm|sm|awssm|env|keyring|keychain|secret|file|gcpsm|azurekv|doppler|infisical)://|(?:ref\+[\w-]{1,20}|aws-?sm|awssm|1password|bws|pass|sops)://|arn:aws[\w-]*:|projects/[\w-]{1,64}/(?:locations/[\w-]{1,40}/)?secrets/|vault:|\$\{|[\"'][ ]?[.+&][ ]|!+[A-Za-z_][\w.]{0,40}(?:\.|\()|(?:dword|qword|hex(?:\(\w\))?):[0-9a-f]|\$\(|!(?:Ref|Sub|GetAtt|secret|vault|env|ImportValue)\b|!\w{0,24}vault|@Microsoft\.KeyVault\("
)

_RESOURCE = re.compile(
    r"[a-z][a-z_]{2,40}\.[a-z][\w-]{0,60}(?:\[\w{1,20}\])?\.(?:result|value|secret|password|token|key|id|arn|content|data)(?:\.[\w.]{1,60})?"
)
"""What another resource of a Terraform file gives."""
_CALL = re.compile(r"(?:await\s+)?[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[\w$]+)*[!?]?(?:<[\w, ]*>)?\(")
_INDEX = re.compile(r"[A-Za-z_$][\w$.]*\??\.?\[")
_PATH_OF_NAMES = re.compile(r"[&*]?[A-Za-z_$][A-Za-z_$]*(?:(?:\??\.|::|->|!\.)[A-Za-z_$]+)+[;!?]?")
_ROOTED = re.compile(
    r"[&*]?(?:self|this|process|os|config|cfg|conf|settings|env|req|request|res|response|ctx|context|props|state|user|account|args|opts|options|params|data|body|"
    r"secrets|vars?|local|module|event|client|credentials|credential|auth|session|import)(?:\??\.|::|->)[A-Za-z_$][\w$.?!>:-]*"
)
_PATTERN = re.compile(r"^(?:qr|m)?/[\^\[(\\]|\(\?[:=!<Pi]|\[\^|\\[wdsWDSb](?:[+*?{\]\\$]|$)")
_CLASS = re.compile(r"(?:\w+\.)*_?[A-Z][A-Za-z0-9_]*(?:Key|Token|Secret|Credential|Pass|Password)(?:s|Types?|Type)?")
_RESOURCE_TYPE = re.compile(r"[A-Z][A-Za-z0-9]{1,40}(?:::[A-Z][A-Za-z0-9]{1,60}){1,3}")
"""A type of CloudFormation, such as `AWS::SecretsManager::Secret`."""
_DESTRUCTURED = re.compile(r"[A-Za-z_$][\w$]{0,40}\}{1,4}=")
_VARIABLE = re.compile(r"[$@%&][A-Za-z_]\w{0,60}(?:::|->|\[|\{)")
_POINTER = re.compile(r"[&*@]+[A-Za-z_][A-Za-z_.]*")
_BLOCK_OPENER = re.compile(r"[(\[{|>]|[+=!<>&|]=|=>|![01](?!\w)|\\?$")
_CREDENTIAL_WORD = re.compile(
    r"pass(?:word|wd|phrase|code)|secret|token|credential|pwd|api_?key|(?:(?<![a-z])key|(?-i:(?<=[a-z])Key))s?(?![a-z])|(?<![a-z])(?:auth|creds?|jwt|pass)(?![a-z])",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[^\W\d]+(?:[-'’][^\W\d]+)*|[A-Za-z_]+")

_PROSE_ENDING = re.compile(r"(?:ed|ing|able|ible|ive|ful|less|al|ly|ent|ant|ory|tic|ous|ary|sis|tion)$")

_NUMBERISH = re.compile(
    r"""[#$€£~≈<>=≥≤+-]{0,3}\d[\d.,:_/x×%+–—-]*(?:%|k|m|b|ms|s|sec|secs|min|mins|h|hr|hrs|d|days?|hours?|minutes?|seconds?|weeks?|months?|years?|bit|bits|bytes?|
    [kmgt]i?b(?:ps|/s)?|px|em|rem|pt|mhz|ghz|hz|usd|eur|tokens?|chars?|characters|lines?|rows?|files?|x|th|st|nd|rd|am|pm|°c?)?(?:/[a-z]{1,7})?""",
    re.VERBOSE | re.IGNORECASE,
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T_]\d{1,2}[:.-]?\d{2}(?:[:.-]?\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{8}T\d{4,6}Z?|\d{1,2}[-/.](?:\d{1,2}|[A-Za-z]{3,9})[-/.]\d{2,4}|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:am|pm|Z|[+-]\d{2}:?\d{2})?"
    r"|[A-Za-z]{3,9}-\d{1,2}(?:-\d{2,4})?|\d{4}年.*|\d{4}-W\d{1,2}|\d{4}-?Q[1-4]|Q[1-4][-/ ]?\d{2,4}",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?:[@A-Za-z][\w./@-]{0,80}?)?[@=<>~^!]{0,3}v?\d+(?:\.(?:\d+|x|\*)){1,4}(?:[-+.]?(?:a|b|rc|alpha|beta|dev|post|pre|preview|canary|next|snapshot|lts|final)[.-]?\d*)?"
    r"(?:[-+][a-z]+(?:[.-]?\d{0,4})?)?|[@A-Za-z][\w./-]{0,80}(?:@|==|>=|<=|~=|\^)v?\d{1,4}(?:\.[\dx*]{1,6}){0,3}(?:-[a-z]{1,8}\.?\d{0,3})?|v\d+(?:[a-z]+\d+)?",
    re.IGNORECASE,
)
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]{1,20}://|www\.|mailto:)\S*", re.IGNORECASE)
_ROOTED_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@:~\\/-]*")
_RELATIVE_PATH = re.compile(r"[\w.@~*-]+(?:[/\\][\w.@~*:-]*)+")
_RANDOM_SEGMENT = re.compile(r"(?=[^/\\]*\d)(?=[^/\\]*[A-Z])(?=[^/\\]*[a-z])[A-Za-z0-9_-]{16,}|[0-9a-f]{24,}")
_MIXED_SEGMENT = re.compile(r"(?=[^/\\]*\d)(?=[^/\\]*[A-Z])(?=[^/\\]*[a-z])[A-Za-z0-9_+=-]{6,}|[A-Za-z0-9_+=-]{25,}")
_FILE = re.compile(
    r"[\w.@~()-]+\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|json|jsonl|ya?ml|toml|md|mdx|rst|txt|log|csv|tsv|sql|sh|bash|zsh|go|rs|c|h|cc|cpp|hpp|java|kt|rb|php|html?|css|scss|"
    r"svg|png|jpe?g|gif|pdf|lock|cfg|ini|env|xml|proto|ipynb|db|sqlite3?|gz|zip|tar|tgz|whl|exe|dll|so|pem|crt|key|pub|swift|cs|lua|vue|svelte|tf|bak|tmp)"
    r"(?:[:#]L?\d+(?:[-:]L?\d+)*)?",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"(?:[\w.-]{1,30}/)?(?:gpt|chatgpt|claude|gemini|gemma|llama|codellama|mistral|mixtral|codestral|ministral|magistral|devstral|pixtral|qwen|qwq|deepseek|grok|"
    r"kimi|glm|phi|command|o[1-9]|codex|text-embedding|text-davinci|davinci|whisper|dall-e|sonnet|opus|haiku|yi|falcon|starcoder|nova|titan|jamba|sonar|minimax|"
    r"hermes|vicuna|bge|e5|sd|sdxl|flux|imagen|veo|sora|tts|babbage|ada)(?:v?\d{1,3}(?:\.\d{1,3})?[a-z]{0,3})?(?:[-_.:@][A-Za-z]{0,12}+\d{0,8}+(?:\.\d{1,3}+)?+[a-z]{0,3}+){0,10}+",
    re.IGNORECASE,
)
_HEX_COLOR = re.compile(r"#[0-9a-f]{3,8}|0x[0-9a-f]{1,64}|U\+[0-9a-f]{4,6}|\\u[0-9a-f]{4}", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d{1,5})?|[A-Za-z][\w.-]*:\d{1,5}(?::\d{1,5})?|(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    re.IGNORECASE,
)
_STANDARD = re.compile(
    r"(?:RFC|ISO|CVE|CWE|PEP|ECMA|IEEE|FIPS|NIST|OWASP|GHSA|PR|GH|MR|HTTP|TLS|SSL|UTF|ES|PKCS|SHA|MD|AES|HMAC|RSA|DSA|ECDSA|ED|RS|HS|PS|BASE|OAUTH|OIDC|SAML|IPV|"
    r"PY|PYTHON|NODE|NODEJS|JAVA|JDK|WIN|WINDOWS|UBUNTU|DEBIAN|MACOS|IOS|ANDROID|X86|AMD|ARM|K8S|K3S|I18N|L10N|A11Y|EC|ARGON|BCRYPT|SCRYPT|WEB|LOG|NEO|CL|TYPE|STEP|"
    r"PHASE|TEST|CASE|ISSUE|TASK|LINE|PAGE|CHAPTER|VERSION|RELEASE|SPRINT|WEEK|DAY|TIER|LEVEL|PORT|ROW|COL|COLUMN|EXIT|CODE|ERROR|STATUS|SLOT|NODE|WORKER|SHARD)"
    r"[-_# /]?\d{1,6}[a-z]{0,2}(?:\.\d{1,4}){0,3}(?:[-_/](?:[a-z]{1,12}\d{0,4}|\d{1,6})){0,4}|P(?:256|384|521)|X\.?(?:509|86)(?:[-_]64)?",
    re.IGNORECASE,
)
_TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}|#\d+|[\w.-]+(?:/[\w.-]+)?#\d+")
_ASSIGNED_NUMBER = re.compile(r"-{0,2}[A-Za-z_][\w.-]*[=:]{1,2}-?[\d.,]+(?:ms|s|m|h|k|kb|mb|gb|%)?", re.IGNORECASE)
_REGION = re.compile(r"[a-z]{2,}(?:-[a-z]+)+-?\d{1,2}[a-z]?")
_FLAG = re.compile(r"--?[A-Za-z][A-Za-z-]*\d{0,3}")

_KEBAB = re.compile(r"[A-Za-z]++\d{0,4}+(?:[-_.][A-Za-z]*+\d{0,8}+[a-z]{0,2}+){1,12}+")
_WORD_NUMBER = re.compile(r"[A-Za-z]{2,}\d{1,4}")
_IDENTIFIER = re.compile(r"(?:[a-z]++|[A-Z][a-z]++)(?:[A-Z]{1,4}+[a-z]*+|\d{1,3}+(?!\d)[a-z]*+)*+")
_HEX = re.compile(r"[0-9a-f]{6,}|[0-9A-F]{6,}")
_UUID = re.compile(r"\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?", re.IGNORECASE)
_NUMBER_WORD = re.compile(r"\d+[A-Za-z-]{1,12}")


def _either(*shapes: re.Pattern[str]) -> re.Pattern[str]:
    """One pattern that fully matches what one of the shapes fully matches: a single question costs less than a dozen."""
    flags = (("i" if shape.flags & re.IGNORECASE else "") + ("x" if shape.flags & re.VERBOSE else "") for shape in shapes)
    return re.compile("|".join(f"(?{letters}:{shape.pattern})" for letters, shape in zip(flags, shapes, strict=True)))


_KNOWN = _either(_DATE, _NUMBERISH, _VERSION, _URL, _MODEL, _HEX_COLOR, _ADDRESS, _STANDARD, _TICKET, _ASSIGNED_NUMBER, _REGION, _FLAG)
_NAME = _either(_KEBAB, _WORD_NUMBER, _IDENTIFIER, _HEX, _UUID, _NUMBER_WORD)


def is_reference(value: str) -> bool:
    """Say whether `value` only says where a secret is kept: `op://vault/item`, `arn:aws:...`, `!Ref X`."""
    return len(value) <= LONG and _REFERENCE.match(value) is not None


def is_code(value: str) -> bool:
    """Say whether an unquoted `value` is an expression: a call, an index, a dotted name, an opening bracket."""
    if len(value) > LONG:
        return False
    if (
        value.startswith(("self.", "this.", "process.env.", "os.environ"))
        or _CALL.match(value)
        or _INDEX.match(value)
        or _VARIABLE.match(value)
        or _BLOCK_OPENER.match(value)
        or _DESTRUCTURED.match(value)
    ):
        return True
    return any(shape.fullmatch(value) for shape in (_PATH_OF_NAMES, _ROOTED, _POINTER, _RESOURCE))


def is_pattern(value: str) -> bool:
    """Say whether `value` is a regular expression, as lexers and validators keep them under such names."""
    return _PATTERN.search(value[:LONG]) is not None


def names_a_class(value: str) -> bool:
    """Say whether `value` is the name of a class such as `ed25519.PrivateKey`, as annotations and forward references give it, or of a resource."""
    return len(value) <= LONG and (_CLASS.fullmatch(value) is not None or _RESOURCE_TYPE.fullmatch(value) is not None)


def is_type(value: str) -> bool:
    """Say whether `value` is the name of a type or a constant: `string`, `None`, `str|None`."""
    return all(part.strip().strip("?!;[]").casefold() in wordlists.TYPES for part in value.split("|")) if len(value) <= 64 else False


def is_plain(value: str) -> bool:
    """Say whether `value` is one word: letters, with hyphens, apostrophes or underscores between them."""
    return len(value) <= LONG and _PLAIN.fullmatch(value) is not None


def names_a_credential(value: str) -> bool:
    """Say whether a plain `value` is itself a name such as `new_password` or a variable of everyday code."""
    return _CREDENTIAL_WORD.search(value) is not None or value.casefold() in wordlists.CODE_NAMES


def is_prose(word: str) -> bool:
    """Say whether a plain `word` continues a sentence (`expired`, `not`, `required`) instead of being a value."""
    folded = word.casefold()
    return folded in wordlists.PROSE or folded in wordlists.TYPES or _PROSE_ENDING.search(folded) is not None


def is_path(value: str) -> bool:
    """Say whether `value` is a file path or a file name, and no segment of it looks random."""
    if len(value) > LONG:
        return False
    if _FILE.fullmatch(value):
        return True
    if not (_ROOTED_PATH.fullmatch(value) or _RELATIVE_PATH.fullmatch(value)):
        return False
    segments = re.split(r"[/\\]", value)
    return len(segments) > 1 and not any(_RANDOM_SEGMENT.fullmatch(segment) for segment in segments)


def is_file_of_a_secret(value: str) -> bool:
    """Say whether the value of a credential's name only says in which file it is: a rooted path or a file name, of ordinary words."""
    if len(value) > LONG:
        return False
    plain = not any(_MIXED_SEGMENT.fullmatch(segment) for segment in re.split(r"[/\\]", value))
    return plain and (_ROOTED_PATH.fullmatch(value) or _FILE.fullmatch(value)) is not None


def is_known_shape(value: str) -> bool:
    """Say whether `value` is a date, time, number, version, address, rooted path, URL, model name, colour, ticket or standard."""
    if len(value) > _SHORT:
        return _URL.fullmatch(value[:LONG]) is not None and len(value) <= LONG
    return _KNOWN.fullmatch(value) is not None or is_file_of_a_secret(value)


def is_name_shape(value: str) -> bool:
    """Say whether `value` could be an ordinary name or id (`test_case_2`, `parseV2`, a git hash, a UUID): a credential only right beside its word."""
    if len(value) > LONG:
        return False
    return _NAME.fullmatch(value) is not None
