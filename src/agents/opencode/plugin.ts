// The plugin that OpenCode and its fork Kilo load: it writes what happens into agtmux's spool by itself, in the form of the
// hook program, because a program for every event would cost more than the event.

import { hashText } from '../../engine/canonical.ts';
import type { InstallContext } from '../contract.ts';

/** Ids of events that are remembered: some agents hand the same event to a plugin that was started twice. */
const seenMax = 512;

const body = `
function isNews(id) {
  if (typeof id !== 'string') return true;
  if (shared.seen.has(id)) return false;
  shared.seen.add(id);
  if (shared.seen.size > ${seenMax}) shared.seen.delete(shared.seen.values().next().value);
  return true;
}

const escaped = (text) =>
  text.replace(/[\\u0000-\\u0020%\\u007f]/g, (one) => '%' + one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'));

/** This process and its parents, each with its start time. */
function processes() {
  const found = [];
  let pid = process.pid;
  while (pid > 1 && found.length < 12) {
    let text = '';
    try {
      text = readFileSync('/proc/' + pid + '/stat', 'latin1');
    } catch {
      break;
    }
    if (text.includes('(tmux: server)')) break;
    const rest = text.slice(text.lastIndexOf(') ') + 2).split(' ');
    found.push({ pid, start: rest[19] });
    pid = Number(rest[1]);
  }
  return found;
}

function tell(event) {
  if (!existsSync(spool) || existsSync(spool + '/full')) return;
  const up = processes();
  const pane = /^%\\d{1,10}$/.test(process.env.TMUX_PANE ?? '') ? process.env.TMUX_PANE : '';
  const socket = (process.env.TMUX ?? '').split(',').slice(0, -2).join(',');
  const head = [
    'agtmux1',
    'agent=' + agent,
    'event=' + escaped(event.type),
    'pane=' + escaped(pane),
    'socket=' + escaped(socket),
    'pid=' + process.pid,
    'ppid=' + process.ppid,
    'up=' + up.map((one) => one.pid + ':' + one.start).join(','),
    'body=stdin',
  ].join(' ');
  // The file's time is the event's. The clock of a file system stands still for some milliseconds; these never do.
  const time = (shared.last = Math.max(Date.now(), shared.last + 1));
  const path = spool + '/' + time + '-' + process.pid + '-0';
  writeFileSync(path, head + '\\n' + JSON.stringify(event), { mode: 0o600, flag: 'wx' });
  utimesSync(path, time / 1000, time / 1000);
}

export const agtmux = async () => ({
  event: async (input) => {
    try {
      const event = input.event;
      if (wanted.has(event.type) && isNews(event.id)) tell(event);
    } catch {
      // The agent's work comes first.
    }
  },
});
`;

const head = `// Written by \`agtmux hooks install\`, removed by \`agtmux hooks remove\`. Changes made here are lost.
// Tells agtmux what this agent does: one small file an event, in the form that agtmux-hook writes. Never blocks the agent.

import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';

`;

export function pluginText(agent: string, events: readonly string[], { spoolDir }: InstallContext): string {
  return `${head}const agent = ${JSON.stringify(agent)};
const spool = ${JSON.stringify(spoolDir)};
const wanted = new Set(${JSON.stringify(events)});
const shared = (globalThis[Symbol.for('agtmux')] ??= { seen: new Set(), last: 0 });
${body}`;
}

/**
 * Hashes of `fixedPart` of every version that was ever written: a new version adds its own. A text that is none of them was
 * changed by somebody, and is theirs.
 */
const knownTexts: ReadonlySet<string> = new Set(['159htbrgp830gw16g9a2xm', '2gh28unkodi113iwl4pvo0']);

/** Without the three lines that differ from machine to machine. */
const fixedPart = (text: string): string =>
  text.replace(/^const agent = "\w+";\nconst spool = "[^\n]*";\nconst wanted = new Set\(\[[^\n]*\]\);\n/m, '');

export const isPluginText = (text: string): boolean => knownTexts.has(hashText(fixedPart(text)));
