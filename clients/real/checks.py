"""The facts that the short form asserts, for clients that install in a minute."""

TOOLS = 7


def failures(key: str, result: dict) -> list[str]:
    """What is wrong with a client's result, in words."""
    if "error" in result:
        return [f"{key}: {result['error']}"]
    found = []
    if result["tools"]["direct"] != TOOLS:
        found.append(f"{key}: the model sees {result['tools']['direct']} of {TOOLS} tools directly")
    if result["calls"] != "ok":
        found.append(f"{key}: a call is {result['calls']}")
    for size, answer in result["answers"].items():
        if answer["form"] != "whole":
            found.append(f"{key}: an answer of {size} arrives as: {answer['form']} ({answer['got']} of {answer['sent']} characters)")
    if len(result["answers"]) < 2:
        found.append(f"{key}: only {len(result['answers'])} of 2 answers were given")
    if result["workspace"] != "right":
        found.append(f"{key}: workspace {result['workspace']}")
    if result["unsetup at once"] != "identical":
        found.append(f"{key}: unsetup does not restore the files")
    if any(file["mentions us"] for file in result["unsetup after runs"]["differs"].values()):
        found.append(f"{key}: unsetup leaves our entry")
    return found
