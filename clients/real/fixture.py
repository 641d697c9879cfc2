"""The repository that the clients are asked about: small, always the same, and made without a network.

`services/auth/tokens.py` holds what the plan searches for. `services/ledger/entries.py` is long enough for answers of 9 and 37 kB;
its functions are numbered, so that a cut in an answer shows.
"""
import os
import subprocess
from pathlib import Path

WANTED = "services/auth/tokens.py"
LONG = "services/ledger/entries.py"
SUBFOLDER = "services/auth"
QUERY = "check whether a token has expired"

TOKENS = '''"""Signed tokens: what they claim, and whether to accept them."""
import time


class ExpiredToken(Exception):
    """The token was valid once."""


def check_token(token, now=None):
    """Checks whether a token has expired, and returns its subject."""
    subject, expires = token.rsplit(".", 1)
    if int(expires) < (now or time.time()):
        raise ExpiredToken(subject)
    return subject


def renew_token(token, seconds):
    """A token for the same subject that expires later."""
    return f"{check_token(token)}.{int(time.time()) + seconds}"
'''

HANDLERS = '''"""Requests of signed-in users."""
from services.auth.tokens import ExpiredToken, check_token


def handle_request(request):
    try:
        subject = check_token(request["token"])
    except ExpiredToken:
        return {"status": 401}
    return {"status": 200, "subject": subject}
'''


def entry(number: int) -> str:
    """One function of the long file: eight lines, about 340 characters."""
    return f'''

def post_entry_{number:04d}(ledger, amount, account="account-{number:04d}"):
    """Posts entry {number:04d} to the ledger and returns the new balance of its account."""
    balance = ledger.balances.get(account, 0) + amount
    if balance < ledger.limits.get(account, -{number * 7}):
        raise ValueError("entry {number:04d} exceeds the limit of its account")
    ledger.balances[account] = balance
    return balance
'''


def git(folder: Path, *arguments: str) -> None:
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for role in ("AUTHOR", "COMMITTER"):
        plain |= {f"GIT_{role}_NAME": "fixture", f"GIT_{role}_EMAIL": "fixture@example.invalid", f"GIT_{role}_DATE": "2026-01-01T00:00:00Z"}
    subprocess.run(["git", *arguments], cwd=folder, env=os.environ | plain, check=True, timeout=60, stdout=subprocess.DEVNULL)


def make(folder: Path) -> Path:
    files = {
        WANTED: TOKENS,
        "services/api/handlers.py": HANDLERS,
        LONG: '"""Entries of the ledger."""\n' + "".join(entry(number) for number in range(200)),
        "README.md": "# A service with signed tokens\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "A small service")
    return folder


def lines_for(characters: int) -> str:
    """A range of lines of the long file with about this number of characters, as `read_code` takes it."""
    total = 0
    text = '"""Entries of the ledger."""\n' + "".join(entry(number) for number in range(200))
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        total += len(line)
        if total >= characters:
            return f"{LONG}:1-{number}"
    return f"{LONG}:1-{len(text.splitlines())}"
