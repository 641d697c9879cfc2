// Runs session.json, or the script in SCRIPT, through the official TypeScript client against one server.
//
//     node session.mjs LINE ERA stdio COMMAND ARG...
//     node session.mjs LINE ERA http URL
//
// LINE is `old` (@modelcontextprotocol/sdk, legacy era only) or `new` (@modelcontextprotocol/client); ERA as in session.py,
// its counterpart: same script, same rules. It has to be next to node_modules, so `run` copies it there.

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

const SCRIPT = JSON.parse(readFileSync(new URL(process.env.SCRIPT ?? 'session.json', import.meta.url), 'utf8'));
const IS_TEXT = SCRIPT.form === 'text';
const CALL_MS = 20_000;
const POLL_MS = 50;

async function main([line, era, transport, ...target]) {
  const problems = [];
  const client = await LINES[line](era, transport, target);
  client.onerror = (error) => {
    // The client handles a notification a moment later than an answer in the same chunk; lifecycle.py checks the order.
    if (!/progress notification for an unknown token/.test(error.message)) problems.push(`the client complains: ${error.message}`);
  };
  await client.open();
  checkGreeting(client, era, problems);
  checkTools((await client.listTools()).tools, problems);
  const answers = {};
  const here = scope(era, transport);
  const played = SCRIPT.steps.filter((step) => (step.only ?? here) === here);
  for (const step of played) {
    try {
      await play(client, step, answers);
    } catch (problem) {
      // A step that fails must not hide the steps after it.
      problems.push(`${step.call} ${JSON.stringify(step.with ?? {})}: ${problem.name}: ${problem.message}`);
    }
  }
  const closing = performance.now();
  await client.close();
  const seconds = (performance.now() - closing) / 1000;
  if (transport === 'stdio' && seconds > 1) {
    problems.push(`the server took ${seconds.toFixed(1)} s to exit after stdin was closed`);
  }
  problems.forEach((problem) => console.log(problem));
  console.log(`${played.length} steps`);
  process.exit(problems.length ? 1 : 0);
}

const scope = (era, transport) => (era === 'modern' && transport === 'http' ? 'request' : 'connection');

function checkGreeting(client, era, problems) {
  const version = client.version();
  if (version !== { modern: '2026-07-28', legacy: '2025-11-25' }[era]) problems.push(`negotiated ${version}`);
  if (client.getServerVersion()?.name !== 'codecompass') problems.push(`the server calls itself ${client.getServerVersion()?.name}`);
  if (!client.getInstructions()) problems.push('no instructions');
}

function checkTools(tools, problems) {
  const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
  for (const name of SCRIPT.tools) {
    if (!byName[name]) problems.push(`${name} is not listed`);
  }
  if (IS_TEXT && tools.length > SCRIPT.tools.length) problems.push(`more is listed than these: ${Object.keys(byName)}`);
  for (const tool of tools) {
    const wanted = {
      title: IS_TEXT || tool.title,
      description: tool.description,
      'input type': tool.inputSchema.type === 'object',
      // Text answers have no structured content.
      'closed input': IS_TEXT || tool.inputSchema.additionalProperties === false,
      output: IS_TEXT ? !tool.outputSchema : tool.outputSchema?.type === 'object',
      annotations: typeof tool.annotations?.readOnlyHint === 'boolean',
    };
    for (const [what, there] of Object.entries(wanted)) {
      if (!there) problems.push(`${tool.name} lacks: ${what}`);
    }
  }
  for (const name of SCRIPT.always_load) {
    if (byName[name]?._meta?.['anthropic/alwaysLoad'] !== true) problems.push(`${name} is not marked anthropic/alwaysLoad`);
  }
}

async function play(client, step, answers) {
  const args = filled(step.with ?? {}, answers);
  if ('protocol_error' in step) {
    const code = await protocolError(client, step.call, args);
    if (code !== step.protocol_error) throw new Error(`JSON-RPC error ${code}, not ${step.protocol_error}`);
    return;
  }
  const deadline = performance.now() + CALL_MS;
  let answer, notes, differing;
  do {
    if (differing) await new Promise((wake) => setTimeout(wake, POLL_MS));
    notes = [];
    const options = { timeout: CALL_MS, ...(step.progress && { onprogress: ({ progress }) => notes.push(progress) }) };
    answer = readAnswer(await client.call(step.call, args, options), 'error' in step);
    differing = differences(filled(step.until ?? step.expect ?? (IS_TEXT ? '/./' : {}), answers), answer);
  } while (step.until && differing.length && performance.now() < deadline);
  const envelope = { error: { code: step.error, message: '/./' } };
  if (step.error) differing.push(...differences(IS_TEXT ? `/^${step.error}: ./` : envelope, answer));
  if (step.says) differing.push(...differences(step.says, answer));
  if (step.progress && (!notes.length || notes.some((note, i) => i && note <= notes[i - 1]))) {
    differing.push(`progress before the answer has to grow: ${brief(notes)}`);
  }
  if (step.keep) answers[step.keep] = answer;
  if (differing.length) throw new Error(differing.join('; '));
}

async function protocolError(client, name, args) {
  let result;
  try {
    result = await client.call(name, args, { timeout: CALL_MS });
  } catch (refused) {
    return refused.code;
  }
  throw new Error(`no JSON-RPC error, but ${brief(result)}`);
}

// Returns the JSON of a result, which a success has twice and a failure at least as text; or its single text.
function readAnswer(result, failed) {
  if (IS_TEXT) {
    if (result.content.length !== 1 || result.structuredContent !== undefined) throw new Error(brief(result));
    if (Boolean(result.isError) !== failed) throw new Error(`isError is ${result.isError}: ${brief(result)}`);
    return result.content[0].text;
  }
  const answer = JSON.parse(result.content[0].text);
  if (Boolean(result.isError) !== failed) throw new Error(`isError is ${result.isError}: ${brief(answer)}`);
  const structured = result.structuredContent;
  if (!isDeepStrictEqual(structured, answer) && !(failed && structured === undefined)) {
    throw new Error(`structuredContent differs from the text: ${brief(structured)}`);
  }
  const missing = differences({ metadata: SCRIPT.metadata }, answer);
  if (missing.length) throw new Error(missing.join('; '));
  return answer;
}

// Returns how `actual` differs from `expected`: objects may have more keys, lists more items; `/…/` is a pattern.
function differences(expected, actual, where = 'answer') {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || (actual.length && !expected.length)) return [`${where} is ${brief(actual)}`];
    const unmatched = expected.filter((item) => actual.every((candidate) => differences(item, candidate).length));
    return unmatched.map((item) => `${where} has no ${brief(item)} in ${brief(actual)}`);
  }
  if (expected !== null && typeof expected === 'object') {
    if (actual === null || typeof actual !== 'object') return [`${where} is ${brief(actual)}`];
    return Object.entries(expected).flatMap(([key, item]) =>
      key in actual ? differences(item, actual[key], `${where}.${key}`) : [`${where}.${key} is absent`],
    );
  }
  if (typeof expected === 'string' && expected.length > 2 && expected.startsWith('/') && expected.endsWith('/')) {
    const text = typeof actual === 'string' ? actual : JSON.stringify(actual);
    return new RegExp(expected.slice(1, -1)).test(text) ? [] : [`${where} does not match ${expected}: ${brief(actual)}`];
  }
  return expected === actual ? [] : [`${where} is ${brief(actual)}, not ${brief(expected)}`];
}

// Replaces `$found.results.0.path` by that part of the answer kept as `found`.
function filled(value, answers) {
  if (Array.isArray(value)) return value.map((item) => filled(item, answers));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, answers)]));
  }
  if (typeof value !== 'string' || !value.startsWith('$')) return value;
  return value.slice(1).split('.').reduce((part, key) => part[key], answers);
}

function brief(value, most = 400) {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

const LINES = {
  async old(era, transport, target) {
    if (era !== 'legacy') throw new Error('@modelcontextprotocol/sdk 1.x speaks only the initialize revisions');
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const client = new Client({ name: 'session', version: '1' });
    const channel = opened(transport, target, StdioClientTransport, StreamableHTTPClientTransport);
    // 1.x reports the negotiated version to its transport only.
    let version;
    channel.setProtocolVersion = ((original) => (said) => { version = said; original?.call(channel, said); })(channel.setProtocolVersion);
    return Object.assign(client, {
      open: () => client.connect(channel),
      version: () => version,
      call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    });
  },

  async new(era, transport, target) {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const mode = { modern: 'auto', legacy: 'legacy' }[era];
    const client = new Client({ name: 'session', version: '1' }, { versionNegotiation: { mode } });
    return Object.assign(client, {
      open: () => client.connect(opened(transport, target, StdioClientTransport, StreamableHTTPClientTransport)),
      version: () => client.getNegotiatedProtocolVersion(),
      call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    });
  },
};

function opened(transport, target, Stdio, Http) {
  if (transport === 'http') return new Http(new URL(target[0]));
  return new Stdio({ command: target[0], args: target.slice(1), env: process.env });
}

await main(process.argv.slice(2));
