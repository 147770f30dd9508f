import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agent } from '../agents/copilot/agent.ts';
import { transcriptRun } from '../agents/transcript/transcript.contract.ts';
import { targetId } from '../model/ids.ts';
import { serverKeyOf } from '../terminals/tmux/view.ts';
import { outputsOf, type ViewingParts } from './view-output.ts';

const host = targetId('host');
const server = { socketPath: '/tmp/socket', pid: 7, startTime: 1 };

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agtmux-viewing-'));
  const folder = join(home, '.copilot/session-state/ours');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'events.jsonl'), '{"type":"user.message","data":{"content":"hello"}}\n');
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

interface World {
  readonly isAlternate: boolean;
  readonly kind: 'local' | 'ssh';
  readonly sessions: readonly string[];
  /** Of the stored events, the newest first. */
  readonly evidence: readonly object[];
  readonly isRunning: boolean;
  readonly owner: string | null;
  /** The life of the tmux server that is watched now. */
  readonly serverPid: number;
}

function looking(given: Partial<World>, isScreen = false) {
  const world: World = {
    ...{ isAlternate: true, kind: 'local', sessions: ['ours'], evidence: [], isRunning: true, owner: 'run' },
    ...{ serverPid: 7 },
    ...given,
  };
  const run = { ...transcriptRun, home };
  const view = async () => ({ lines: ['top', 'bottom'], isAlternate: world.isAlternate });
  const parts = {
    identityOf: () => ({
      runtime_id: run.runtime_id,
      target: 'host',
      agent: agent.name,
      pane: '%1',
      server: serverKeyOf(host, server),
    }),
    ownerOf: () => world.owner,
    isPaneless: () => false,
    sessionsOf: () => world.sessions,
    machines: {
      watch: () => ({ kind: world.kind, reach: { view }, topology: { server: { ...server, pid: world.serverPid } } }),
      runs: () => (world.isRunning ? [{ agent, run }] : []),
    },
    agentOf: () => agent,
    store: { eventsOf: async () => world.evidence.map((evidence) => ({ event: { evidence } })) },
  };
  return outputsOf(parts as unknown as ViewingParts)(run.runtime_id, 10, isScreen);
}

const screen = { lines: ['top', 'bottom'], from: 'screen' };

describe('what is shown of an agent', () => {
  it('its screen where that keeps its history, and where it was asked for', async () => {
    expect(await looking({ isAlternate: false })).toEqual(screen);
    expect(await looking({}, true)).toEqual(screen);
    expect(await looking({ owner: null, isAlternate: false })).toEqual(screen);
    expect(await looking({ owner: 'another' })).toBe(null);
  });

  it('IDN2 nothing of a pane that has its name on another life of the server', async () => {
    expect(await looking({ owner: null, isAlternate: false, serverPid: 8 })).toBe(null);
  });

  it('its transcript on the alternate screen', async () => {
    expect(await looking({})).toMatchObject({ from: 'transcript', lines: ['user: hello'] });
  });

  it('BND1 the conversation it named in its last hook call, if that call came from its own process', async () => {
    const call = (session: string) => ({ ancestry: [{}], agent_session: session });
    const heard = [{}, { agent_session: 'only-said' }, call('ours'), call('older')];
    expect(await looking({ sessions: [], evidence: heard })).toMatchObject({ from: 'transcript' });
    expect(await looking({ sessions: [], evidence: heard.slice(0, 2) })).toMatchObject(screen);
    expect(await looking({ sessions: ['another'], evidence: heard })).toMatchObject(screen);
  });

  it('its screen, and why, where there is no transcript to be had', async () => {
    const why = async (given: Partial<World>) => (await looking(given))?.words;
    expect(await why({ kind: 'ssh' })).toBe('its screen keeps no history, and its transcript is on another machine');
    expect(await why({ sessions: [] })).toBe('its screen keeps no history, and no transcript of it is known');
    expect(await why({ isRunning: false })).toBe('its screen keeps no history, and no transcript of it is known');
  });
});
