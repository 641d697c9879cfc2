"""The model APIs that the clients speak, reduced to what the harness needs.

A `Dialect` reads a request (the tools it offers, the tool results it carries, its other text) and writes an answer (one tool
call, or a text). There is one instance per API in `ALL`; `of_path` chooses by the path of the request.
"""
import itertools
import json
import time
from dataclasses import dataclass, field
from typing import Any, Iterator

Json = dict[str, Any]
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Tool:
    """A tool as a request offers it. `kind` is `function`, or a type of the API that needs its own form of call."""

    name: str
    namespace: str | None = None
    description: str = ""
    kind: str = "function"
    schema: Json = field(default_factory=dict, compare=False, hash=False)


@dataclass(frozen=True)
class Say:
    """An answer that ends the turn."""

    text: str


@dataclass(frozen=True)
class Call:
    """An answer that calls one tool. `arguments` is a string for a tool with free-form input."""

    tool: Tool
    arguments: Json | str


Answer = Say | Call


def texts(value: Any) -> Iterator[str]:
    """All strings in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


def joined(content: Any) -> str:
    """The text of a result: a string, or the text of its blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(joined(block) for block in content)
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return content["text"]
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def new_id(prefix: str) -> str:
    return f"{prefix}_{next(_NUMBERS):06d}"


class Dialect:
    name = ""
    streamed_with_names = True

    def matches(self, path: str) -> bool:
        raise NotImplementedError

    def tools(self, body: Json) -> list[Tool]:
        raise NotImplementedError

    def results(self, body: Json) -> list[str]:
        raise NotImplementedError

    def prose(self, body: Json) -> list[str]:
        """The texts of a request outside its tools."""
        return list(texts({key: value for key, value in body.items() if key != "tools"}))

    def streams(self, path: str, body: Json) -> bool:
        return bool(body.get("stream"))

    def whole(self, body: Json, answer: Answer) -> Json:
        """The answer as one JSON object."""
        raise NotImplementedError

    def events(self, body: Json, answer: Answer) -> list[Json | str]:
        """The answer as server-sent events."""
        raise NotImplementedError


class Anthropic(Dialect):
    name = "anthropic"
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}

    def matches(self, path):
        return path.endswith("/messages")

    def tools(self, body):
        return [Tool(t["name"], None, t.get("description", ""), schema=t.get("input_schema", {})) for t in body.get("tools") or [] if "name" in t]

    def results(self, body):
        blocks = (b for m in body.get("messages", []) if isinstance(m.get("content"), list) for b in m["content"])
        return [joined(b.get("content")) for b in blocks if b.get("type") == "tool_result"]

    def _block(self, answer):
        if isinstance(answer, Say):
            return {"type": "text", "text": answer.text}, "end_turn"
        return {"type": "tool_use", "id": new_id("toolu"), "name": answer.tool.name, "input": answer.arguments}, "tool_use"

    def whole(self, body, answer):
        block, stop = self._block(answer)
        return {"id": new_id("msg"), "type": "message", "role": "assistant", "model": body.get("model"), "content": [block],
                "stop_reason": stop, "stop_sequence": None, "usage": self.usage}

    def events(self, body, answer):
        message = self.whole(body, answer)
        block, stop = message["content"][0], message["stop_reason"]
        if isinstance(answer, Say):
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer.text}
        else:
            empty, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
        return [
            {"type": "message_start", "message": message | {"content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": self.usage},
            {"type": "message_stop"},
        ]


class Responses(Dialect):
    """OpenAI Responses. Tools come in namespaces, too, and items of the input can add tools."""

    name = "responses"

    def matches(self, path):
        return path.endswith("/responses")

    def _items(self, body):
        return [item for item in body.get("input") or [] if isinstance(item, dict)] if isinstance(body.get("input"), list) else []

    def tools(self, body):
        offered = list(body.get("tools") or [])
        for item in self._items(body):
            if item.get("type") in ("tool_search_output", "additional_tools"):
                offered += item.get("tools", [])
        found = []
        for tool in offered:
            inner = tool.get("tools") if tool.get("type") == "namespace" else None
            for each in inner if inner is not None else [tool]:
                kind = each.get("type", "function")
                namespace = tool.get("name") if inner is not None else None
                found.append(Tool(each.get("name", kind), namespace, each.get("description", ""), kind, each.get("parameters") or {}))
        return found

    def results(self, body):
        outputs = (item for item in self._items(body) if item.get("type", "").endswith("_output"))
        return [joined(item["output"] if "output" in item else item.get("tools")) for item in outputs]

    def prose(self, body):
        namespaces = [t.get("description", "") for t in body.get("tools") or [] if t.get("type") == "namespace"]
        return super().prose(body) + namespaces

    def _item(self, answer):
        if isinstance(answer, Say):
            content = [{"type": "output_text", "text": answer.text, "annotations": []}]
            return {"type": "message", "id": new_id("msg"), "role": "assistant", "status": "completed", "content": content}
        common = {"call_id": new_id("call"), "status": "completed"}
        if answer.tool.kind == "custom":
            return {"type": "custom_tool_call", "id": new_id("ctc"), "name": answer.tool.name, "input": answer.arguments} | common
        if answer.tool.kind == "tool_search":
            return {"type": "tool_search_call", "id": new_id("ts"), "execution": "client", "arguments": answer.arguments} | common
        item = {"type": "function_call", "id": new_id("fc"), "name": answer.tool.name, "arguments": json.dumps(answer.arguments)} | common
        return item | ({"namespace": answer.tool.namespace} if answer.tool.namespace else {})

    def _response(self, body, item):
        usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 120}
        return {"id": new_id("resp"), "object": "response", "created_at": int(time.time()), "status": "completed", "model": body.get("model"),
                "output": [item], "usage": usage, "error": None, "incomplete_details": None, "instructions": None, "metadata": {},
                "parallel_tool_calls": True, "temperature": 1, "top_p": 1, "tool_choice": "auto", "tools": []}

    def whole(self, body, answer):
        return self._response(body, self._item(answer))

    def events(self, body, answer):
        item = self._item(answer)
        response = self._response(body, item)
        place = {"item_id": item["id"], "output_index": 0}
        middle: list[Json] = []
        started = dict(item)
        if item["type"] == "message":
            started |= {"content": [], "status": "in_progress"}
            part = item["content"][0]
            place |= {"content_index": 0}
            middle = [
                {"type": "response.content_part.added", **place, "part": part | {"text": ""}},
                {"type": "response.output_text.delta", **place, "delta": part["text"]},
                {"type": "response.output_text.done", **place, "text": part["text"]},
                {"type": "response.content_part.done", **place, "part": part},
            ]
        elif item["type"] == "function_call":
            started |= {"arguments": "", "status": "in_progress"}
            middle = [
                {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]},
                {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]},
            ]
        events = [
            {"type": "response.created", "response": response | {"status": "in_progress", "output": [], "usage": None}},
            {"type": "response.output_item.added", "output_index": 0, "item": started},
            *middle,
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        return [event | {"sequence_number": number} for number, event in enumerate(events)]


class Chat(Dialect):
    """OpenAI Chat Completions."""

    name = "chat"
    streamed_with_names = False
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}

    def matches(self, path):
        return path.endswith("/chat/completions")

    def tools(self, body):
        functions = (t["function"] for t in body.get("tools") or [] if "function" in t)
        return [Tool(f["name"], None, f.get("description", ""), schema=f.get("parameters") or {}) for f in functions]

    def results(self, body):
        return [joined(m.get("content")) for m in body.get("messages", []) if m.get("role") == "tool"]

    def _message(self, answer):
        if isinstance(answer, Say):
            return {"role": "assistant", "content": answer.text}, "stop"
        function = {"name": answer.tool.name, "arguments": json.dumps(answer.arguments)}
        call = {"index": 0, "id": new_id("call"), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"

    def whole(self, body, answer):
        message, stop = self._message(answer)
        choice = {"index": 0, "message": message, "finish_reason": stop}
        return {"id": new_id("chatcmpl"), "object": "chat.completion", "created": int(time.time()), "model": body.get("model"),
                "choices": [choice], "usage": self.usage}

    def events(self, body, answer):
        message, stop = self._message(answer)
        base = {"id": new_id("chatcmpl"), "object": "chat.completion.chunk", "created": int(time.time()), "model": body.get("model")}
        return [
            base | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            base | {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
            base | {"choices": [], "usage": self.usage},
            "[DONE]",
        ]


class Gemini(Dialect):
    name = "gemini"
    streamed_with_names = False

    def matches(self, path):
        return path.endswith((":generateContent", ":streamGenerateContent"))

    def streams(self, path, body):
        return ":stream" in path

    def tools(self, body):
        functions = (f for t in body.get("tools") or [] for f in t.get("functionDeclarations") or [])
        return [Tool(f["name"], None, f.get("description", ""), schema=f.get("parametersJsonSchema") or f.get("parameters") or {}) for f in functions]

    def results(self, body):
        parts = (p for c in body.get("contents", []) for p in c.get("parts", []))
        responses = (p["functionResponse"].get("response", {}) for p in parts if "functionResponse" in p)
        return [joined(r["output"] if isinstance(r, dict) and "output" in r else r) for r in responses]

    def whole(self, body, answer):
        if isinstance(answer, Say):
            part = {"text": self._side_answer(body) or answer.text}
        else:
            part = {"functionCall": {"name": answer.tool.name, "args": answer.arguments}, "thoughtSignature": "ZmFrZQ=="}
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}], "modelVersion": "scripted",
                "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}}

    def _side_answer(self, body):
        """The JSON that the client's router or next-speaker check wants, if this is one of those."""
        config = body.get("generationConfig") or {}
        if body.get("tools") or config.get("responseMimeType") != "application/json":
            return None
        schema = json.dumps(config.get("responseJsonSchema") or config.get("responseSchema") or {})
        if "model_choice" in schema:
            return json.dumps({"reasoning": "scripted", "model_choice": "flash"})
        if "complexity_score" in schema:
            return json.dumps({"complexity_reasoning": "scripted", "complexity_score": 10})
        return json.dumps({"reasoning": "scripted", "next_speaker": "user"})

    def events(self, body, answer):
        return [self.whole(body, answer)]


ALL: tuple[Dialect, ...] = (Anthropic(), Responses(), Chat(), Gemini())


def of_path(path: str) -> Dialect | None:
    return next((dialect for dialect in ALL if dialect.matches(path)), None)
