"""The credentials redactor keeps the redactor contract of the public kit."""

from __future__ import annotations

from afl_core.spec.redactor import Redactor
from afl_core.testing.contracts.redactor import RedactorContract
from afl_redactors.plugin import afl_redactors


class TestCredentials(RedactorContract):
    """The built-in one."""

    secrets = (
        ('{"password": "tr0ub4dor&3"}', "tr0ub4dor&3"),
        ("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz"),
        ("curl https://bob:s3cr3tPass@example.org/x", "s3cr3tPass"),
        ("服务器密码是 Foo-731+x", "Foo-731+x"),
    )

    def make(self) -> Redactor:
        [redactor] = afl_redactors()
        return redactor
