// A scripted agent with a server of its own, as OpenCode has: it outlives whoever started it. What it does is the first word
// of each prompt; every prompt and answer it gets is written to the file that FAKE_LOG names.

import { appendFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const log = process.env.FAKE_LOG ?? '/dev/null';
const note = (words: string): void => appendFileSync(log, `${words}\n`);
const expected = `Basic ${Buffer.from(`${process.env.OPENCODE_SERVER_USERNAME}:${process.env.OPENCODE_SERVER_PASSWORD}`).toString('base64')}`;

const sessionID = 'ses_1';
const streams = new Set<ServerResponse>();
const messages: { info: Record<string, unknown>; parts: Record<string, unknown>[] }[] = [];
let permissions: Record<string, unknown>[] = [];
let isBusy = false;
let count = 0;

function tell(type: string, properties: object): void {
  count += 1;
  const data = JSON.stringify({ id: `evt_${count}`, type, properties: { sessionID, ...properties } });
  for (const stream of streams) stream.write(`data: ${data}\n\n`);
}

function begin(text: string): string {
  count += 1;
  const user = { id: `msg_${count}`, role: 'user', sessionID };
  const agent = { id: `msg_${count}a`, role: 'assistant', sessionID, parentID: user.id, time: { created: Date.now() } };
  messages.push({ info: user, parts: [{ id: `${user.id}p`, messageID: user.id, sessionID, type: 'text', text }] });
  messages.push({ info: agent, parts: [] });
  tell('message.updated', { info: user });
  isBusy = true;
  tell('session.status', { status: { type: 'busy' } });
  tell('message.updated', { info: agent });
  return agent.id;
}

function end(text: string): void {
  const last = messages.at(-1);
  if (last === undefined) return;
  const messageID = String(last.info.id);
  const part = { id: `${messageID}p`, messageID, sessionID, type: 'text', text, time: { start: 1, end: 2 } };
  last.parts.push(part);
  Object.assign(last.info, { time: { created: 1, completed: Date.now() }, finish: 'stop' });
  tell('message.part.updated', { part });
  tell('message.updated', { info: last.info });
  isBusy = false;
  tell('session.status', { status: { type: 'idle' } });
  tell('session.idle', {});
}

function hearPrompt(text: string): void {
  const [name = '', ...rest] = text.split(' ');
  const messageID = begin(text);
  if (name === 'permit') {
    const asked = {
      id: `per_${count}`,
      sessionID,
      permission: 'bash',
      patterns: ['rm'],
      metadata: { command: rest.join(' ') },
      tool: { messageID, callID: 'call_1' },
    };
    permissions = [asked];
    tell('permission.asked', asked);
  } else if (name === 'text') end(rest.join(' '));
}

function answer(method: string, path: string, body: string): unknown {
  if (path === '/session/status') return isBusy ? { [sessionID]: { type: 'busy' } } : {};
  if (path === '/permission') return permissions;
  if (path === '/question' || path.endsWith('/children')) return [];
  if (path.startsWith(`/session/${sessionID}/message`)) return messages.slice(-3);
  if (path.endsWith('/prompt_async')) {
    const { parts } = JSON.parse(body);
    note(`told ${parts[0].text}`);
    setTimeout(() => hearPrompt(parts[0].text), 5);
    return null;
  }
  if (path.startsWith('/permission/')) {
    note(`reply ${path} ${body}`);
    const [open] = permissions;
    permissions = [];
    setTimeout(() => {
      tell('permission.replied', { requestID: open?.id, reply: JSON.parse(body).reply });
      end('allowed');
    }, 5);
    return true;
  }
  return { id: sessionID, title: 'x', method };
}

const server = createServer((request, response) => {
  if (request.headers.authorization !== expected) {
    note(`turned away ${request.url}`);
    response.writeHead(401).end();
    return;
  }
  if (request.url === '/event') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"type":"server.connected","properties":{}}\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
    return;
  }
  let body = '';
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', () => {
    const value = answer(request.method ?? '', (request.url ?? '').replace(/\?.*/, ''), body);
    response.writeHead(value === null ? 204 : 200, { 'content-type': 'application/json' });
    response.end(value === null ? undefined : JSON.stringify(value));
  });
});
server.listen(0, '127.0.0.1', () => {
  note(`start ${process.pid}`);
  console.log(`opencode server listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.on('SIGTERM', () => process.exit(143));
