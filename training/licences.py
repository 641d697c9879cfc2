"""Decides whether a package's licence is permissive: nothing that requires more than a notice."""
import fnmatch
import re

PERMISSIVE = re.compile(
    r"^(mit|mit-0|mit-cmu|mit-modern-variant|expat|x11|isc|zlib|zlib-acknowledgement|libpng|unlicense|wtfpl|0bsd|cc0(-1\.0)?|"
    r"(mit|expat|bsd|isc|apache|boost)[ -]?(style|like|license|licence|old|new|variant)?|"
    r"bsd-?(0|1|2|3|4)?-?(-?clause)?(-?(clear|patent|new|simplified|modification|attribution|uc|google|netbsd|lbnl))*|"
    r"(new|simplified|modified|revised)[ -]bsd( license)?|3-clause bsd( license)?|2-clause bsd( license)?|bsd license|bsd 3-clause( license)?|bsd 2-clause|"
    r"apache-?v?2(\.0)?|apache ?(software|license|licence)?[ ,]*(license|licence)?[ ,]*(version)? ?v?2?(\.0)?( license)?|"
    r"(the )?mit license|mit licence|bsl-1\.0|boost-1\.0|boost software license.*|psf(-2\.0)?|psf license|psfl|python-2\.0(\.1)?|python software foundation license|"
    r"unicode-(dfs-2016|3\.0|tou)|unicode|hpnd|historical permission notice and disclaimer.*|ntp|tcl|icu|curl|blueoak-1\.0\.0|artistic-2\.0-no|ncsa|afl-2\.1-no|public[ -]domain|pd|zpl-2\.1|"
    r"zope public license|upl-1\.0|postgresql|w3c|bsd-protection-no|isc license.*|openldap-no|php-3\.01|php-3\.0|ofl-no|apache software license|go|google|golang)$")


def is_permissive(text):
    """Whether a licence expression is permissive: of `or` one has to be, of `and` all."""
    text = re.sub(r"\s+", " ", text or "").strip().lower()
    text = re.sub(r" with (llvm-exception|apache-exception|swift-exception)", "", text)
    if not text or len(text) > 200:
        return False
    # Brackets are evaluated first and replaced by a permissive or an unknown licence.
    while "(" in text and ")" in text:
        inner = re.search(r"\(([^()]*)\)", text)
        if not inner:
            break
        text = text[:inner.start()] + (" mit " if is_permissive(inner.group(1)) else " unknown ") + text[inner.end():]
    either = re.split(r"\s+or\s+|/|\|", text)
    if len(either) > 1:
        return any(is_permissive(part) for part in either)
    both = re.split(r"\s+and\s+|,\s*|;\s*|&", text)
    if len(both) > 1:
        return all(is_permissive(part) for part in both if part.strip())
    return bool(PERMISSIVE.match(text.strip().strip("()")))


def debian_files(copyright_text):
    """Returns the stanzas of a machine-readable copyright file: globs and a licence; the last match applies."""
    stanzas = []
    if "Format:" not in copyright_text[:2000]:
        return stanzas
    for stanza in re.split(r"\n\s*\n", copyright_text):
        files = re.search(r"^Files:\s*((?:.|\n )*)", stanza, re.M)
        name = re.search(r"^License:\s*(.*)", stanza, re.M)
        if files and name:
            globs = re.split(r"\n(?=\S)", files.group(1))[0].split()
            stanzas.append((globs, name.group(1).strip()))
    return stanzas


def debian_licence_of(stanzas, path):
    for globs, name in reversed(stanzas):
        if any(fnmatch.fnmatchcase(path, glob) for glob in globs):
            return name
    return ""
