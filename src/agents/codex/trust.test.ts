import { describe, expect, it } from 'vitest';
import type { InstallContext } from '../contract.ts';
import { trust } from './trust.ts';

const context: InstallContext = {
  home: '/home/u',
  env: { CODEX_HOME: '/home/u/codex' },
  hookPath: '/state/bin/agtmux-hook',
  spoolDir: '/state/spool',
  command: (event) => `'/state/bin/agtmux-hook' codex ${event}`,
};

const hook = (key: string, command: string, trustStatus: string) => ({
  key: `/home/u/codex/hooks.json:${key}`,
  eventName: 'stop',
  handlerType: 'command',
  command,
  currentHash: `sha256:${key}`,
  trustStatus,
});

const listed = {
  id: 2,
  result: {
    data: [
      {
        cwd: '/home/u',
        hooks: [
          hook('stop:0:0', 'say done', 'untrusted'),
          hook('stop:1:0', "'/state/bin/agtmux-hook' codex Stop", 'untrusted'),
          hook('interrupt:0:0', "'/state/bin/agtmux-hook' codex Interrupt", 'modified'),
          hook('session_end:0:0', "'/state/bin/agtmux-hook' codex SessionEnd", 'trusted'),
        ],
      },
    ],
  },
};

const open = () => {
  const talk = trust.open(context);
  const take = (message: unknown) => {
    const { say, end } = talk.take(JSON.stringify(message));
    return { say: say.map((line) => JSON.parse(line) as Record<string, unknown>), end };
  };
  return { talk, take };
};

describe('trust told to Codex', () => {
  it('asks which hooks there are and has ours, and no others, written down', () => {
    const { talk, take } = open();
    expect(trust.argv(context)).toEqual(['env', 'CODEX_HOME=/home/u/codex', 'codex', 'app-server']);
    expect(JSON.parse(talk.first[0] ?? '')).toMatchObject({ id: 1, method: 'initialize' });
    expect(take({ method: 'configWarning', params: {} })).toEqual({ say: [], end: undefined });
    expect(take({ id: 1, result: { userAgent: 'x' } }).say).toEqual([
      { method: 'initialized' },
      { id: 2, method: 'hooks/list', params: { cwds: ['/home/u'] } },
    ]);
    expect(take(listed).say).toEqual([
      {
        id: 3,
        method: 'config/batchWrite',
        params: {
          edits: ['stop:1:0', 'interrupt:0:0'].map((key) => ({
            keyPath: 'hooks.state',
            value: { [`/home/u/codex/hooks.json:${key}`]: { trusted_hash: `sha256:${key}` } },
            mergeStrategy: 'upsert',
          })),
          reloadUserConfig: true,
        },
      },
    ]);
    expect(take({ id: 3, result: { status: 'ok' } })).toEqual({ say: [], end: { trusted: 2 } });
  });

  it('writes nothing when nothing is left to trust', () => {
    const { take } = open();
    expect(take({ id: 2, result: { data: [] } })).toEqual({ say: [], end: { trusted: 0 } });
  });

  it('tells a refusal in its own words', () => {
    const refused = expect.stringContaining('not for you');
    expect(open().take({ id: 2, error: { message: 'not for you' } }).end).toMatchObject({ problem: refused });
    expect(open().take({ id: 3, result: { status: 'not for you' } }).end).toMatchObject({ problem: refused });
  });

  it('is not misled by what makes no sense', () => {
    const { talk } = open();
    for (const line of ['', 'null', '[]', '7', '{', '{"id":2,"result":{"data":[null,{"hooks":[1,{"key":2}]}]}}'])
      expect(talk.take(line).say).toEqual([]);
  });
});
