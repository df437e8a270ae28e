"""Credentials that stand in their place on a command line or in a statement, without a name: `mysql -pX`, `sshpass -p X`, `IDENTIFIED BY 'X'`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import guesses, lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import Value, read_value
from afl_redactors.windows import Clip, View

_ARGS = r"(?:[^\n|;&\\]|\\[^\n]|\\\r?\n){0,200}?"
"""Arguments of a command, over continued lines."""
_OPEN, _NEXT, _ITEMS = r"\\?[\"']", r"\\?[\"'],\s{0,24}", r"[^\]]{0,200}?"
"""Of a list of arguments: the quote before one, what stands between two, and some of them."""
_QUOTE = r"(?=[^\s|;&])"
_LOGIN = r"(?:docker|podman|helm|az|heroku|oc|nerdctl|crane|skopeo|oras|buildah|cf|ibmcloud|faas-cli|argocd|rancher)(?:\.exe)?[ ](?:registry[ ]|acr[ ])?login"
_CLIENTS = r"mongo(?:sh|dump|restore|export|import|stat|top)?|cypher-shell|cqlsh|evil-winrm|crackmapexec|nxc|rdesktop|twine[ ]upload|useradd|usermod|winexe"

PLACES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("sshpass",), rf"sshpass[ ]{_ARGS}-p[ ]?{_QUOTE}"),
    (("mysql", "mariadb"), rf"(?:mysql|mariadb)(?:dump|admin|sh|import|check|show|-dump|-admin)?(?=[ ]){_ARGS}[ ]-p(?=[^\s-])"),
    (("redis-cli",), rf"redis-cli(?=[ ]){_ARGS}[ ]-a[ ]{_QUOTE}"),
    (
        (
            "mongo",
            "cypher-shell",
            "cqlsh",
            "evil-winrm",
            "crackmapexec",
            "rdesktop",
            "twine upload",
            "useradd",
            "usermod",
            "winexe",
        ),
        rf"(?:{_CLIENTS})(?=[ ]){_ARGS}[ ]-p[ ](?=[^\s|;&-])",
    ),
    (
        ("az login", "az sql", "az vm", "az acr", "az mysql", "az postgres", "az webapp", "az ad "),
        rf"az[ ](?:login|sql|vm|acr|mysql|postgres|webapp|ad(?=[ ])){_ARGS}[ ]-p[ ](?=[^\s|;&-])",
    ),
    (
        ("sqlcmd", "ipmitool", "unzip ", "zip -", "bcp "),
        rf"(?:sqlcmd(?=[ ])|ipmitool(?=[ ])|unzip(?=[ ])|zip(?=[ ]-)|bcp(?=[ ])){_ARGS}[ ]-P[ ]?(?=[^\s|;&-])",
    ),
    (("7z ", "7za ", "unrar ", "rar a"), rf"(?:7za?[ ][a-z]|unrar[ ][a-z]|rar[ ]a)[ ]{_ARGS}-p(?=[^\s-])"),
    (("xfreerdp",), rf"(?:xfreerdp3?)(?=[ ]){_ARGS}[ ]/p:{_QUOTE}"),
    (
        ("ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"),
        rf"ldap(?:search|add|modify|delete|whoami|passwd)(?=[ ]){_ARGS}[ ]-w[ ]?(?=[^\s|;&-])",
    ),
    (
        ("smbclient", "rpcclient", "smbmap"),
        rf"(?:smbclient|rpcclient|smbmap)(?=[ ]){_ARGS}[ ](?:-U|--user)[ =]?[\"']?[^\s%\"']{{1,64}}%{_QUOTE}",
    ),
    (("net use",), r"net[ ]use[ ][^\n]{1,160}?[ ]/u(?:ser)?:[^\s]{1,80}[ ](?=[^\s/*])"),
    (("net use",), r"net[ ]use[ ](?:[A-Za-z*]:?[ ])?\\\\[^\s]{1,120}[ ](?=[^\s/*][^\s]{0,120}[ ]/u(?:ser)?:)"),
    (("net user",), r"net[ ]user[ ](?!/)[^\s]{1,64}[ ](?=[^\s/*&|>])"),
    (("setx ",), r"setx[ ][A-Za-z_]{0,40}(?:pass(?:word|wd)?|pwd|secret|token|key)[A-Za-z_]{0,16}[ ](?=\S)"),
    (
        ("htpasswd",),
        r"htpasswd[ ](?:-[acdmsBp]{1,6}[ ]|-C[ ]\d{1,2}[ ]){0,3}-(?:[a-zA-Z]{0,4}n[a-zA-Z]{0,4}b[a-zA-Z]{0,4}|[a-zA-Z]{0,4}b[a-zA-Z]{0,4}n[a-zA-Z]{0,4})[ ](?:-[a-zA-Z]{1,6}[ ]){0,3}[^\s]{1,64}[ ](?=\S)",
    ),
    (
        ("htpasswd",),
        r"htpasswd[ ](?:-[acdmsBp]{1,6}[ ]|-C[ ]\d{1,2}[ ]){0,3}-[acdmsBp]{0,5}b[acdmsBp]{0,5}[ ](?:-[a-zA-Z]{1,6}[ ]){0,3}[^\s]{1,200}[ ][^\s]{1,64}[ ](?=\S)",
    ),
    (("--from-literal",), r"--from-literal[ =][\"']?(?!user|name|host|port|db[_=-]|email)[A-Za-z0-9_.-]{1,64}=(?=\S)"),
    (("configure set ",), r"configure[ ]set[ ][a-z0-9_.-]{0,60}(?:secret|token|key)[a-z_]{0,16}[ ](?=\S)"),
    (("--oauth2-bearer",), r"--oauth2-bearer[ ](?=\S)"),
    (("rabbitmqctl",), r"rabbitmqctl[ ](?:-[^\s]{1,40}[ ]){0,3}(?:add_user|change_password|authenticate_user)[ ][^\s]{1,64}[ ](?=\S)"),
    (("wpa_passphrase",), r"wpa_passphrase[ ](?:\"[^\"\n]{1,64}\"|'[^'\n]{1,64}'|\S{1,64})[ ](?=\S)"),
    (("nmcli",), rf"nmcli[ ]{_ARGS}[ ]password[ ](?=\S)"),
    (("ngrok",), r"ngrok[ ](?:config[ ]add-)?authtoken[ ](?=\S)"),
    (("cargo login", "vault login", "snyk auth"), r"(?:cargo[ ]login|vault[ ]login|snyk[ ]auth)[ ](?=[A-Za-z0-9][^\s=]{7})"),
    (("doctl auth",), r"doctl[ ]auth[ ]init[ ](?:-t|--access-token)[ ](?=\S)"),
    (("gh secret",), rf"gh[ ]secret[ ]set[ ]{_ARGS}[ ](?:-b|--body)[ =]?(?=[^\s-])"),
    (("nuget push",), rf"nuget[ ]push[ ]{_ARGS}[ ](?:-k|--api-key)[ ](?=\S)"),
    (("requirepass", "masterauth"), r"(?:requirepass|masterauth)[ ](?=[^\s=:()])"),
    (
        ("sqlplus", "impdp", "expdp", "sqlldr"),
        rf"(?:sqlplus|impdp|expdp|sqlldr)[ ]{_ARGS}[\"']?[A-Za-z_]\w{{0,40}}/(?=[^\s@/\"']{{3,64}}@)",
    ),
    (("jdbc:oracle:",), r"jdbc:oracle:[a-z]{1,8}:[A-Za-z_]\w{0,40}/(?=[^\s@/\"']{3,64}@)"),
    (("lftp ",), rf"lftp[ ]{_ARGS}-u[ ][\"']?[^\s,\"']{{1,64}},(?=[^\s,])"),
    (
        ("identified by", "identified with", "identified as"),
        r"identified[ ](?:with[ ][\"'`]?[\w-]{1,64}[\"'`]?[ ])?(?:by|as)(?:[ ]password)?[ ](?=\\{0,7}[\"'])",
    ),
    ((" password '", " password e'", " password n'"), r"[ ]password[ ][EN]?(?=')"),
    (("set password",), r"set[ ]password[ ](?:for[ ][^\s=]{1,120}[ ])?(?:=|to)[ ](?:password\()?(?=[\"'])"),
    (("pragma key", "pragma rekey"), r"pragma[ ](?:re)?key[ ]?=[ ]?(?=[\"'])"),
    (("convertto-securestring",), r"convertto-securestring(?:[ ]-(?:string|asplaintext|force)){0,3}[ ](?=\\?[\"']|[^\s$()-])"),
    (("openssl ",), rf"openssl[ ]{_ARGS}[ ]-pass(?:in|out)?[ ][\"']?pass:{_QUOTE}"),
    (("curl ",), rf"curl[ ]{_ARGS}[ ]-b[ ][\"']?[\w.-]{{1,64}}=(?=[^\s;\"']{{8}})"),
    (
        ('curl"', "curl'", 'curl\\"'),
        rf"curl{_NEXT}{_ITEMS}{_OPEN}(?:-u|--user|--proxy-user){_NEXT}{_OPEN}[^\s:\"'$\\]{{1,64}}:(?=[^\s\"'$])",
    ),
    (("sshpass",), rf"sshpass{_NEXT}{_OPEN}-p(?:{_NEXT}(?=\\?[\"'])|(?=[^\s\"'\\]))"),
    (
        ("mysql", "mariadb"),
        rf"(?:mysql|mariadb)(?:dump|admin|sh|import|check|show|-dump|-admin)?{_NEXT}{_ITEMS}{_OPEN}-p(?=[^\s\"'\\-])",
    ),
    (("redis-cli",), rf"redis-cli{_NEXT}{_ITEMS}{_OPEN}-a{_NEXT}(?=\\?[\"'])"),
    (('docker"', "docker'", 'docker\\"'), rf"docker{_NEXT}{_OPEN}login{_NEXT}{_ITEMS}{_OPEN}-p{_NEXT}(?=\\?[\"'])"),
    (("login ",), r"login[ ](?:[^\s\\]|\\(?![nt])){1,80}(?:\s|\\[nt]){1,40}password[ ](?=\S)"),
    (("put-parameter",), rf"put-parameter[ ](?=[^\n]{{0,400}}(?i:securestring|pass|secret|token|key)){_ARGS}--value[ =](?=[^\s|;&-])"),
    (("keyvault secret set",), rf"keyvault[ ]secret[ ]set[ ]{_ARGS}--value[ =](?=[^\s|;&-])"),
    (
        ("consul kv put", "etcdctl put"),
        r"(?:consul[ ]kv|etcdctl)[ ]put[ ](?i:[^\s]{0,120}(?:pass(?:word|wd)?|pwd|secret|token|key)[\w/-]{0,32})[ ](?=[^\s@|;&-])",
    ),
    (("config set //",), r"config[ ]set[ ]//[^\s=]{1,120}:_(?:authToken|auth|password)[ =](?=\S)"),
    (("git config ",), r"git[ ]config[ ](?:--[a-z]{1,12}[ ]){0,2}[\w.-]{1,80}\.(?:password|token|pass|smtppass)[ ](?=[^\s|;&])"),
    (("password 7 ", "key 7 ", "md5 7 ", "secret 7 "), r"(?:password|secret|key|md5)[ ]7[ ](?=[0-9A-F]{8})"),
)
"""For each program its lower-case literals, with which its pattern begins, and the pattern up to where the credential begins."""

BEFORE: tuple[tuple[tuple[str, ...], str, int], ...] = (
    ((" login",), rf"{_LOGIN}(?=[ ]){_ARGS}[ ]-p[ ](?=\S)", 32),
    (
        ("chpasswd",),
        r"echo[ ](?:-[ne]{1,2}[ ])?[\"']?[A-Za-z_][\w.-]{0,63}:(?=[^\n|]{1,160}\|[ ]?(?:sudo[ ])?(?:[\w/]{0,32})chpasswd)",
        240,
    ),
    (("sudo -s",), r"(?:echo|printf)[ ](?:-[ne]{1,2}[ ])?(?=[\"']?[^\s|]{4,80}[\"']?[ ]?\|[ ]?sudo[ ]-S)", 160),
    (("passwd --stdin",), r"echo[ ](?:-[ne]{1,2}[ ])?(?=[\"']?[^\s|]{4,80}[\"']?[ ]?\|[ ]?(?:sudo[ ])?passwd[ ]--stdin)", 160),
    (
        ("--password-stdin",),
        r"(?:echo|printf)[ ](?:-[ne]{1,2}[ ])?(?=[\"']?[^\s|$]{4,160}[\"']?[ ]?\|[ ]?[^\n|]{3,120}--password-stdin)",
        320,
    ),
    (("convertto-securestring",), r"(?=[\"'][^\"'\n]{4,80}[\"'][ ]?\|[ ]?convertto-securestring)", 120),
)
"""The same where the literal stands behind what the pattern begins with, at most so many characters."""

_CHPASSWD = re.compile(
    r"chpasswd[^\n]{0,40}<<<?[ ]?(?P<mark>[\"']?\w{2,16}[\"']?\n)?(?P<lines>[^\n]{1,160}(?:\n[^\n:]{1,64}:[^\n]{1,160}){0,16})",
    re.IGNORECASE,
)
_USER_LINE = re.compile(r"(?<=[\n\"' ])[A-Za-z_][\w.-]{0,63}:(?P<value>[^\s\"']{3,128})")
_CONFIG_MAP = re.compile(r"configmap|\bcm\b")


def _here(view: View, found: re.Match[str]) -> Iterator[Span]:
    literal = found.group()[:14]
    if literal == "--from-literal" and _CONFIG_MAP.search(view.text, max(0, found.start() - 160), found.start()):
        return
    value = read_value(view, found.end())
    if value is not None and literal.startswith(("jdbc:oracle", "sqlplus", "impdp", "expdp", "sqlldr")):
        at = view.text.find("@", value.start, value.end)
        value = Value(value.start, at, view.text[value.start : at], quoted=False) if at > 0 else value
    if value is None or already_redacted(value.text) or is_no_argument(value.text):
        return
    yield value.start, value.end


def is_no_argument(value: str) -> bool:
    """Say whether an argument is none for a credential: a placeholder, a reference, a flag, an expression."""
    content = value.strip()
    if (
        lookalikes.is_placeholder(content)
        or lookalikes.is_reference(content)
        or guesses.is_measure(content)
        or lookalikes.names_itself(content)
    ):
        return True
    return content.startswith(("-", "$", "`", "<", ">", "|")) or lookalikes.is_file_of_a_secret(content) or "=$" in content


def _lines(view: View, found: re.Match[str]) -> Iterator[Span]:
    for line in _USER_LINE.finditer(view.text, found.start("lines"), found.end("lines")):
        if not is_no_argument(line["value"]) and not already_redacted(line["value"]):
            yield line.span("value")


def _rule(words: tuple[str, ...], pattern: str, before: int) -> tuple[Rule, Lead]:
    flags = (
        re.IGNORECASE
        if any(word.startswith((" password", "identified", "set password", "pragma", "convertto", "net ", "setx")) for word in words)
        else 0
    )
    compiled = re.compile(rf"(?:(?<![A-Za-z0-9-])|(?=[^A-Za-z0-9])|(?<=\\[nrt]))(?:{pattern})", flags)
    rule = Rule("cli-flag", words, matching(compiled, _here), before=before + 1, after=480, clip=Clip.NOTHING)

    def worth(text: str, at: int) -> object:
        return compiled.search(text, max(0, at - before), at + 480) if before else compiled.match(text, at)

    return rule, leading(rule, worth)


_HERE_DOCUMENT = Rule("cli-flag", ("chpasswd",), matching(_CHPASSWD, _lines), before=0, after=2048, clip=Clip.NOTHING)
_MADE = [*(_rule(words, pattern, 0) for words, pattern in PLACES), *(_rule(words, pattern, before) for words, pattern, before in BEFORE)]

RULES = (*(rule for rule, _ in _MADE), _HERE_DOCUMENT)
LEADS: tuple[Lead, ...] = (*(lead for _, lead in _MADE), leading(_HERE_DOCUMENT, _CHPASSWD.match))
