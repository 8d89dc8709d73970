"""One file out of a public archive, downloaded once and checked before anyone reads it."""

from __future__ import annotations

import hashlib
import zipfile
from importlib import import_module

from bayesgroups.errors import InputError, MissingDependencyError


def fetch_member(url: str, member: str, *, sha256: str, size: int) -> bytes:
    """One file of a zip archive, whatever its folder, from the archive downloaded into the user's cache.

    It is known to be the one expected by its length ``size`` in bytes (a member of another length is not even unpacked) and its
    digest ``sha256`` in hexadecimal. Needs pooch.
    """
    try:
        pooch = import_module("pooch")
    except ImportError:
        raise MissingDependencyError(
            "downloading data needs pooch; install it with: pip install 'bayesgroups[data]', or give a path"
        ) from None
    try:
        # The digest of the archive is not known; that of the file in it is, and is checked below.
        archive = pooch.retrieve(url, known_hash=None, path=pooch.os_cache("bayesgroups"))
    except OSError as error:
        raise InputError(f"could not download {url} ({error}); fetch it yourself and give its path") from error
    fix = f"delete {archive!r} and try again"
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [info for info in opened.infolist() if info.filename.split("/")[-1] == member]
            if not members:
                raise InputError(f"the archive at {url} has no file {member!r}; {fix}")
            content = opened.read(members[0]) if members[0].file_size == size else b""
    except zipfile.BadZipFile as error:
        raise InputError(f"the download from {url} is not a zip archive ({error}); {fix}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(f"file {member!r} in the archive at {url} is not the one expected (SHA-256 differs); {fix}")
    return content
