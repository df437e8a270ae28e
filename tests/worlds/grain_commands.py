"""What the tests of commands about grains share: a secret that redaction knows, and a command's answer as a program reads it."""

from __future__ import annotations

import json

SECRET = "ghp_" + "k3Zr9QpLx2Vt7Bn5Ws8Yd4Fg6Hj1Mc0Ra3Te"


def asked(grains, *arguments):
    """The JSON that a command answers with."""
    status, said = grains(*arguments, "--json")
    assert status == 0, said
    return json.loads(said)
