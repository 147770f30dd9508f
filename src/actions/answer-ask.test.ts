import { describe, expect, it } from 'vitest';
import { ActWorld, agentClaim, commandAsk, type FakeAgent, program, testKeys } from '../../test/kit/act.ts';
import type { FreshLook, SeenAsk } from '../agents/contract.ts';
import { fitsScreen } from '../agents/screen/fitting.ts';
import { redact } from '../engine/redact.ts';
import type { Receipt } from '../model/actions.ts';
import type { Ask } from '../model/asks.ts';
import { askId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { optionMeant } from './intents.ts';
import { asksSame, dialogOn } from './key-sequence.ts';

const code = (receipt: Receipt): string => receipt.failure?.code ?? receipt.outcome;
const gone: FreshLook = { state: 'running', ask: null };

async function asking() {
  const world = new ActWorld();
  const agent = world.add('a');
  world.asks(agent);
  const actor = await world.open();
  /** The dialog goes away when a key arrives, as it does. */
  world.onStep = () => {
    agent.look = gone;
    return undefined;
  };
  return { world, agent, actor };
}

const otherScreen: FreshLook = {
  state: 'waiting_approval',
  ask: { kind: 'command', text: 'rm -rf build\nDo you want to proceed?', options: [{ id: '1', label: 'Yes' }] },
};

const approve = { action: 'approve', ask_id: commandAsk.ask_id } as const;

describe('answering', () => {
  it('ASK3 ACT4 approves the ask that was named, once the dialog stood still, and sees it go', async () => {
    const { world, actor } = await asking();
    const at = world.now();
    const receipt = await world.act(actor, approve);
    expect(receipt).toMatchObject({ outcome: 'delivered', way: 'keys', ref: 'runtime:a' });
    expect(world.typed).toEqual(['%1 press:1']);
    expect(world.now() - at).toBeGreaterThanOrEqual(limits.dialogSteadyMs);
    expect(world.audits).toHaveLength(1);
    expect(world.audits[0]?.detail).toMatchObject({ ask_id: 'ask-1', ask_kind: 'command', intent: 'approve' });
  });

  it('ASK3 refuses whatever is not the ask on the screen now, and presses nothing', async () => {
    const other: Ask = { ...commandAsk, ask_id: askId('ask-2'), text: 'rm -rf build' };
    const cases: [string, string, (world: ActWorld, agent: FakeAgent) => void][] = [
      [
        'E_STATE_CHANGED',
        'asked anew',
        (world, agent) => world.becomes(agent, { ask: { ...commandAsk, ask_id: askId('ask-3') } }),
      ],
      [
        'E_STATE_CHANGED',
        'another dialog',
        (_, agent) => Object.assign(agent, { look: otherScreen, screen: ['rm -rf build'] }),
      ],
      ['E_STATE_CHANGED', 'replaced', (world, agent) => world.becomes(agent, { ask: other })],
      ['E_STATE_CHANGED', 'settled', (world, agent) => world.becomes(agent, { ask: null, asks_open: 0 })],
      ['E_STATE_CHANGED', 'not on the screen', (_, agent) => Object.assign(agent, { look: gone })],
      ['E_STATE_CHANGED', 'screen not readable', (_, agent) => Object.assign(agent, { look: null })],
      ['E_STATE_CHANGED', 'words not on the screen', (_, agent) => Object.assign(agent, { screen: ['$ '] })],
      ['E_UNSUPPORTED', 'no keys', (world) => Object.assign(world, { keys: null })],
      ['E_UNSUPPORTED', 'no yes', (world) => Object.assign(world, { keys: { ...testKeys, approve: () => null } })],
      ['E_RUNTIME_STALE', 'not in front', (_, agent) => Object.assign(agent, { place: null })],
      ['E_TARGET_DOWN', 'down', (world) => Object.assign(world, { health: 'down' })],
      ['E_REF_AMBIGUOUS', 'several', (world, agent) => world.becomes(agent, { asks_open: 2 })],
    ];
    for (const [expected, why, prepare] of cases) {
      const { world, agent, actor } = await asking();
      prepare(world, agent);
      const receipt = await world.act(actor, expected === 'E_REF_AMBIGUOUS' ? { action: 'approve' } : approve);
      expect(code(receipt), why).toBe(expected);
      expect(world.typed, why).toEqual([]);
      expect(world.audits, why).toHaveLength(1);
    }
  });

  it('ASK3b compares an ask with a secret in it as it was told, not as it is shown', async () => {
    const secret = (token: string): string => `TOKEN=${token} make deploy`;
    const lookAt = (text: string): FreshLook => ({
      state: 'waiting_approval',
      ask: { kind: 'command', text, options: [{ id: '1', label: 'Yes' }] },
    });
    const key = '-----BEGIN PRIVATE KEY-----\nreboot';
    const cases: [string, Receipt['action'], string | undefined, string, string][] = [
      ['delivered', 'approve', secret('abc'), secret('abc'), 'known'],
      ['delivered', 'reject', secret('abc'), secret('abc'), 'known'],
      ['E_STATE_CHANGED', 'approve', secret('abc'), secret('xyz'), 'another secret'],
      ['E_STATE_CHANGED', 'reject', secret('abc'), secret('xyz'), 'another secret'],
      ['E_UNSUPPORTED', 'approve', undefined, secret('abc'), 'not known any more'],
      ['delivered', 'reject', undefined, secret('abc'), 'a no needs no secret'],
      ['E_STATE_CHANGED', 'reject', undefined, 'TOKEN=abc make destroy', 'another command'],
      ['E_UNSUPPORTED', 'approve', key, key, 'what is hidden may be a command'],
    ];
    for (const [expected, action, whole, shown, why] of cases) {
      const { world, agent, actor } = await asking();
      world.asks(agent, { ...commandAsk, text: redact(whole ?? secret('abc')) }, lookAt(shown));
      agent.whole = whole === undefined ? null : { ...commandAsk, text: whole };
      const receipt = await world.act(actor, { action, ask_id: commandAsk.ask_id } as typeof approve);
      expect(code(receipt), why).toBe(expected);
      expect(world.typed, why).toHaveLength(expected === 'delivered' ? 1 : 0);
    }
  });

  it('ASK3 refuses when the ask is replaced while it is waited for the dialog to stand still', async () => {
    const { world, agent, actor } = await asking();
    world.clock.after(limits.dialogSteadyMs / 2, () => {
      agent.look = otherScreen;
      agent.screen = ['rm -rf build'];
    });
    expect(code(await world.act(actor, approve))).toBe('E_STATE_CHANGED');
    expect(world.typed).toEqual([]);
    // By the guard inside tmux too: the screen is another one at the very moment of the key.
    const late = await asking();
    let looks = 0;
    const raced = await late.world.open({
      ground: {
        ...late.world.ground(),
        placeOf: async () => {
          looks += 1;
          if (looks === 2) late.agent.screen = ['rm -rf build'];
          return late.agent.place;
        },
      },
    });
    expect(code(await late.world.act(raced, approve))).toBe('E_STATE_CHANGED');
    expect(late.world.typed).toEqual([]);
  });

  it('ASK3 refuses when the dialog is replaced after the last look, while the old command still stands above', async () => {
    const { world, agent } = await asking();
    let looks = 0;
    const ground = world.ground();
    const before = agent.look;
    const raced = await world.open({
      ground: {
        ...ground,
        freshLook: async (runtime) => {
          const look = await ground.freshLook(runtime);
          looks += 1;
          if (looks === 2) {
            agent.look = otherScreen;
            agent.screen = [...agent.screen, 'rm -rf build'];
          }
          return look;
        },
      },
    });
    expect(code(await world.act(raced, approve))).toBe('E_STATE_CHANGED');
    expect(world.typed).toEqual([]);
    // Nothing was typed, so the ask may still be answered.
    agent.look = before;
    expect(code(await world.act(raced, approve))).toBe('delivered');
  });

  it('ASK3 answers no ask twice: not at once, not later, not after a restart', async () => {
    const { world, actor } = await asking();
    const both = await Promise.all([world.act(actor, approve), world.act(actor, approve)]);
    expect(both.map(code).sort()).toEqual(['E_STATE_CHANGED', 'delivered']);
    const again = await asking();
    again.world.onStep = null;
    // The dialog stays: the key may wait in the terminal of an agent that hangs.
    expect(await again.world.act(again.actor, approve)).toMatchObject({ outcome: 'unconfirmed' });
    expect(code(await again.world.act(again.actor, approve))).toBe('E_STATE_CHANGED');
    const later = await again.world.open();
    expect(code(await again.world.act(later, { action: 'reject', ask_id: commandAsk.ask_id }))).toBe('E_STATE_CHANGED');
    expect(again.world.typed).toEqual(['%1 press:1']);
    expect(world.typed).toEqual(['%1 press:1']);
  });

  it('ASK3 an answer that the guard refused may be given again', async () => {
    const { world, actor } = await asking();
    const works = world.onStep;
    world.onStep = () => ({ kind: 'refused', why: 'in_mode' });
    expect(code(await world.act(actor, approve))).toBe('E_TMUX_REFUSED');
    world.onStep = works;
    expect(code(await world.act(actor, approve))).toBe('delivered');
  });

  it('ASK3 says that the screen no longer shows it where the guard inside tmux finds so, and that its pane is gone where it is', async () => {
    for (const [why, expected, words] of [
      ['not_shown', 'E_STATE_CHANGED', 'the screen no longer shows'],
      ['gone', 'E_RUNTIME_STALE', 'its pane is gone'],
    ] as const) {
      const { world, actor } = await asking();
      world.onStep = () => ({ kind: 'refused', why });
      const { outcome, failure } = await world.act(actor, approve);
      expect([outcome, failure?.code]).toEqual(['refused', expected]);
      expect(failure?.message).toContain(words);
      expect(world.typed).toEqual([]);
    }
  });

  it('presses nothing when it cannot be written down that it will', async () => {
    const { world, actor } = await asking();
    world.documents.isFull = true;
    expect(code(await world.act(actor, approve))).toBe('E_STORE_FULL');
    expect(world.typed).toEqual([]);
    world.documents.isFull = false;
    expect(code(await world.act(actor, approve))).toBe('delivered');
  });

  it('rejects with words where the dialog takes them, and says so where it does not', async () => {
    const { world, actor } = await asking();
    const receipt = await world.act(actor, { action: 'reject', because: 'use rm' });
    expect(receipt).toMatchObject({
      outcome: 'delivered',
      words: 'its dialog accepts no text: yours was not passed on',
    });
    expect(world.typed).toEqual(['%1 press:Escape']);
  });

  it('answers one question after the other of one ask, each once', async () => {
    const { world, agent, actor } = await asking();
    const ask: Ask = { ...commandAsk, kind: 'question', text: 'Which colour?\nWhich size?' };
    const look = (text: string): FreshLook => ({
      state: 'waiting_input',
      ask: {
        kind: 'question',
        text,
        options: [
          { id: '1', label: 'Red' },
          { id: '2', label: 'Blue' },
        ],
      },
    });
    world.asks(agent, ask, look('Which colour?'));
    world.onStep = () => {
      agent.look = look('Which size?');
      agent.screen = ['Which size?'];
      return undefined;
    };
    expect(code(await world.act(actor, { action: 'answer', option: 'Blue' }))).toBe('delivered');
    world.onStep = null;
    expect(code(await world.act(actor, { action: 'answer', option: '1' }))).toBe('unconfirmed');
    expect(code(await world.act(actor, { action: 'answer', option: '1' }))).toBe('E_STATE_CHANGED');
    expect(code(await world.act(actor, { action: 'answer', option: '1', text: 'x' }))).toBe('E_INPUT');
    expect(world.typed).toEqual(['%1 press:2', '%1 press:1']);
  });

  it('ASK3 stops after a key that brought up another dialog: the words stay out of it', async () => {
    const { world, agent, actor } = await asking();
    const look: FreshLook = { state: 'waiting_input', ask: { kind: 'question', text: 'Which colour?', options: [] } };
    world.asks(agent, { ...commandAsk, kind: 'question', text: 'Which colour?' }, look);
    world.onStep = () => {
      agent.look = otherScreen;
      agent.screen = ['rm -rf build'];
      return undefined;
    };
    expect(await world.act(actor, { action: 'answer', text: 'blue' })).toMatchObject({ outcome: 'unconfirmed' });
    expect(world.typed).toEqual(['%1 press:9']);
  });

  it('ACT6 lets a program answer only what the policy names, by both wordings of the ask', async () => {
    const given = async (kinds: ActWorld['policy']['kinds'], allow: 'operator'[]) => {
      const { world, actor } = await asking();
      world.policy = { ...world.policy, allow_approve: allow, kinds };
      return code(await world.act(actor, approve, program));
    };
    expect(await given([], [])).toBe('E_ROLE');
    expect(await given(['command'], [])).toBe('E_ROLE');
    expect(await given([], ['operator'])).toBe('E_ROLE');
    expect(await given(['edit'], ['operator'])).toBe('E_ROLE');
    expect(await given(['command'], ['operator'])).toBe('delivered');
    const { world, actor } = await asking();
    world.policy = { ...world.policy, allow_approve: ['operator'], kinds: ['command'] };
    expect(code(await world.act(actor, approve, agentClaim('a')))).toBe('E_ROLE');
    expect(code(await world.act(actor, approve, agentClaim('b')))).toBe('E_ROLE');
    expect(world.typed).toEqual([]);
  });

  it('ACT4 prefers the agent’s own channel and remembers its answer too', async () => {
    const { world, actor } = await asking();
    world.channels.push({ name: 'own', can: () => true, run: async () => ({ kind: 'delivered', words: null }) });
    expect(await world.act(actor, approve)).toMatchObject({ outcome: 'delivered', way: 'own' });
    expect(code(await world.act(actor, approve))).toBe('E_STATE_CHANGED');
    expect(world.typed).toEqual([]);
  });
});

describe('an ask on the screen', () => {
  const ask = (kind: Ask['kind'], text: string): Ask => ({ ...commandAsk, kind, text });
  const seen = (kind: Ask['kind'], text: string) => ({ kind, text, options: [] });
  const cases: [string, Ask, ReturnType<typeof seen>, boolean][] = [
    ['a command in its dialog', ask('command', 'touch a.txt'), seen('command', 'Bash\n touch a.txt\nProceed?'), true],
    ['a command that was wrapped', ask('command', 'touch made-a.txt'), seen('command', 'touch ma\nde-a.txt'), true],
    ['another command', ask('command', 'touch a.txt'), seen('command', 'rm a\nProceed?'), false],
    ['a command that only begins alike', ask('command', 'ls; rm -rf x'), seen('command', 'Run ls?'), false],
    ['a question for a yes', ask('command', 'touch a'), seen('question', 'touch a'), false],
    ['an edit by its file', ask('edit', 'src/deep/a.ts\n-old\n+new'), seen('edit', 'Edit a.ts?'), true],
    ['an edit of another file', ask('edit', 'src/deep/a.ts\n-old\n+new'), seen('edit', 'Edit b.md?'), false],
    ['a tool by its name', ask('tool', 'mcp__lab__echo {"x":1}'), seen('tool', 'lab - echo(x: 1)'), true],
    ['another tool', ask('tool', 'mcp__lab__echo {"x":1}'), seen('tool', 'lab - drop(x: 1)'), false],
    [
      'a tool with a dash in its name and its input',
      ask('tool', 'mcp__lab__get-page {"name":"a-b"}'),
      seen('tool', 'lab - get-page(name: "a-b")'),
      true,
    ],
    [
      'a tool whose input is shown as JSON',
      ask('tool', 'toy/shout {"word":"hello","loud":true}'),
      seen('tool', 'shout\n{\n"word": "hello",\n"loud": true\n}\nDo you want to use this tool?'),
      true,
    ],
    [
      'a tool whose input is other JSON',
      ask('tool', 'toy/shout {"word":"hello"}'),
      seen('tool', 'shout\n{\n"word": "hello, all"\n}\nDo you want to use this tool?'),
      false,
    ],
    [
      'a tool with more JSON',
      ask('tool', 'toy/shout {"word":"hello"}'),
      seen('tool', 'shout\n{\n"word": "hello",\n"to": "all"\n}\nDo you want to use this tool?'),
      false,
    ],
    [
      'a command and its reason, the other way round',
      ask('command', 'npm i\nneeds net'),
      seen('command', 'Reason: needs net\n$ npm i'),
      true,
    ],
    ['a short command inside of a word', ask('command', 'ls'), seen('command', 'rm -rf tools'), false],
    ['a short command', ask('command', 'ls'), seen('command', '$ ls\nProceed?'), true],
    [
      'its own reading again',
      { ...ask('command', 'ls\nProceed?'), ask_id: askId('screen:1') },
      seen('command', 'ls\n Proceed?'),
      true,
    ],
    [
      'another reading',
      { ...ask('command', 'ls\nProceed?'), ask_id: askId('screen:1') },
      seen('command', 'ls -l\nProceed?'),
      false,
    ],
    ['a blank more', ask('command', 'rm -rf home/x'), seen('command', 'rm -rf home /x\nProceed?'), false],
    ['a line end more', ask('command', 'echo ab'), seen('command', 'echo a\nb\nDo you want to proceed?'), false],
    ['a program below', ask('command', 'ls'), seen('command', 'ls\nScripts/wipe.sh prod\nProceed?'), false],
    ['a program above', ask('command', 'ls'), seen('command', 'Rscript evil.R\nls\nProceed?'), false],
    ['a forged notice', ask('command', 'ls'), seen('command', 'ls\nContains foo; rm -rf / analyzed\nProceed?'), false],
    ['other words below', ask('command', 'ls'), seen('command', 'ls\nRun the tests\nProceed?'), false],
    [
      'another change',
      ask('edit', 'Edit a/n.txt\n-typo\n+fix'),
      seen('edit', 'Edit n.txt?\n 1 -alpha\n 1 +omega'),
      false,
    ],
    [
      'its change',
      ask('edit', 'Edit a/n.txt\n-alpha\n+omega'),
      seen('edit', 'Edit n.txt?\n 1 -alpha\n 1 +omega'),
      true,
    ],
    ['a part of a command', ask('command', 'ls; rm -rf x'), seen('command', 'ls'), false],
    [
      'a patch by its file',
      ask('edit', '*** Begin Patch\n*** Add File: ~/a/notes.txt\n+x'),
      seen('edit', 'Destination: /home/me/a/notes.txt'),
      true,
    ],
    [
      'a patch of another file',
      ask('edit', '*** Begin Patch\n*** Add File: ~/a/notes.txt\n+x'),
      seen('edit', 'Destination: /home/me/b.txt'),
      false,
    ],
    [
      'one of several questions',
      ask('question', 'Which colour?\nWhich size?'),
      seen('question', 'Which size? 1. S'),
      true,
    ],
    ['another question', ask('question', 'Which colour?\nWhich size?'), seen('question', 'Which shape?'), false],
    [
      'a long plan by its begin',
      ask('plan', `Step one ${'and on '.repeat(40)}`),
      seen('plan', `Step one ${'and on '.repeat(12)}`),
      true,
    ],
    [
      'more behind it',
      ask('command', 'git push origin main'),
      seen('command', 'git push origin main --force && rm -rf ~\nDo you want to proceed?'),
      false,
    ],
    [
      'more on the next line',
      ask('command', 'git push origin main'),
      seen('command', 'git push origin main\n--force && rm -rf ~\nDo you want to proceed?'),
      false,
    ],
    ['more before it', ask('command', 'rm build'), seen('command', '$ cd / &&\nrm build'), false],
    ['another command on its line', ask('command', 'ls'), seen('command', '$ ls; rm -rf $HOME\nProceed?'), false],
    ['other signs', ask('command', 'cat a > b'), seen('command', '$ cat a | b'), false],
    [
      'a command with its description',
      ask('command', 'npm run b || (touch b; sleep 9)\n# Run the requested command'),
      seen(
        'command',
        'Bash command\nnpm run b || (touch b; sleep 9)\nRun the requested command\nDo you want to proceed?',
      ),
      true,
    ],
    [
      'a command above its folder',
      ask('command', 'echo a; echo b'),
      seen('command', '# Shell command\n$ echo a;\necho b\n/home/dev/proj'),
      true,
    ],
    [
      'a command below its title',
      ask('command', 'echo a; sleep 5'),
      seen('command', "?  Shell echo a; sl…\necho a; sleep 5\nAllow execution of: 'echo, sleep'?"),
      true,
    ],
    [
      'a tool with other input',
      ask('tool', 'mcp__db__query {"sql":"select 1"}'),
      seen('tool', 'db - query(sql: "drop table x")'),
      false,
    ],
    [
      'a tool with more input',
      ask('tool', 'mcp__db__query {"sql":"select 1"}'),
      seen('tool', 'db - query(sql: "select 1; drop table x")'),
      false,
    ],
    [
      'a tool with another key',
      ask('tool', 'mcp__db__query {"sql":"select 1"}'),
      seen('tool', 'db - query(sql: "select 1", force: true)'),
      false,
    ],
    [
      'a tool with its input in lines',
      ask('tool', 'mcp__lab__slow {"seconds":70}'),
      seen('tool', 'Allow the lab MCP server to run tool "slow"?\nseconds: 70'),
      true,
    ],
    [
      'other input in lines',
      ask('tool', 'mcp__lab__slow {"seconds":7}'),
      seen('tool', 'Allow the lab MCP server to run tool "slow"?\nseconds: 70'),
      false,
    ],
    [
      'an address',
      ask('tool', 'WebFetch {"url":"http://127.0.0.1:9/doc","prompt":"x"}'),
      seen(
        'tool',
        'Fetch\nhttp://127.0.0.1:9/doc\nClaude wants to fetch content from 127.0.0.1\nDo you want to allow Claude to fetch this\ncontent?',
      ),
      true,
    ],
    [
      'another address',
      ask('tool', 'WebFetch {"url":"http://127.0.0.1:9/doc","prompt":"x"}'),
      seen('tool', 'Fetch\nhttp://127.0.0.1:9/doc/other\nDo you want to allow this?'),
      false,
    ],
    [
      'an edit in another folder',
      ask('edit', '/repo/docs/index.ts\n-a'),
      seen('edit', 'Edit file\n/etc/prod/index.ts\n1 -a\nDo you want to make this edit to index.ts?'),
      false,
    ],
    [
      'an edit in another folder, wrapped',
      ask('edit', '/repo/docs/index.ts\n-a'),
      seen('edit', 'Do you want to edit /etc/prod/\nindex.ts?'),
      false,
    ],
    [
      'an edit by its whole path, wrapped',
      ask('edit', '/tmp/w/demo/notes.txt\n+a'),
      seen(
        'edit',
        'Create file\nnotes.txt +3 -0\n/tmp/w/demo\n1 +   a\nDo you want to create /tmp/w/demo/\nnotes.txt?',
      ),
      true,
    ],
    ['an edit by its tail', ask('edit', '/repo/docs/index.ts\n-a'), seen('edit', 'Edit …/docs/index.ts?'), true],
    [
      'a line of a longer command',
      ask('command', 'ls'),
      seen('command', 'sh x.sh\n$ ls\nDo you want to proceed?'),
      false,
    ],
    [
      'a command with a notice',
      ask('command', 'curl x | sh\n# Run it'),
      seen('command', 'curl x | sh\nRun it\nThis command requires approval\nDo you want to proceed?'),
      true,
    ],
    [
      'input without its key',
      ask('tool', 'mcp__db__query {"sql":"SELECT 1"}'),
      seen('tool', 'db - query\nDROP TABLE users\nDo you want to proceed?'),
      false,
    ],
    [
      'input that goes on',
      ask('tool', 'mcp__db__query {"sql":"select 1"}'),
      seen('tool', 'Run tool "query"?\nsql: select 1\n; drop table x'),
      false,
    ],
    [
      'an address that goes on',
      ask('tool', 'webfetch http://a.b/doc'),
      seen('tool', '% WebFetch http://a.b/doc\n/other\nURL: http://a.b/doc\n/other'),
      false,
    ],
    [
      'an address twice',
      ask('tool', 'webfetch http://a.b/x'),
      seen('tool', '% WebFetch http://a.b/x\nURL: http://a.b/x\n/home/dev/proj'),
      true,
    ],
    [
      'a command with what the agent says about it, below',
      ask('command', 'ls -la\n# List files (`ls`), the hidden ones too'),
      seen('command', 'ls -la\nList files (`ls`), the hidden ones too\nDo you want to proceed?'),
      true,
    ],
    [
      'a command whose dialog does not say what it is for',
      ask('command', 'ls -la\n# List files (`ls`), the hidden ones too'),
      seen('command', 'ls -la\nDo you want to proceed?'),
      true,
    ],
    [
      'a command with other words about it',
      ask('command', 'ls -la\n# List files (`ls`), the hidden ones too'),
      seen('command', 'ls -la\nrm -rf /; # List files\nDo you want to proceed?'),
      false,
    ],
    [
      'a longer command than the one that something is said about',
      ask('command', 'ls\n# List files'),
      seen('command', 'ls\nrm x\nList files\nDo you want to proceed?'),
      false,
    ],
    [
      'a second line that is missing',
      ask('command', 'ls\nrm x\n# List files'),
      seen('command', 'ls\nDo you want to proceed?'),
      false,
    ],
    ['a comment alone', ask('command', '# ls'), seen('command', 'Do you want to proceed?'), false],
    ['nothing', ask('command', ''), seen('command', 'anything'), false],
  ];
  it.each(cases)('ASK3 knows %s', (_, asked, shown, expected) => {
    expect(fitsScreen(asked, shown)).toBe(expected);
  });

  it('ASK3 arguments of any size and with any signs are compared, and no pattern is built out of them', () => {
    const huge = `SELECT ${'(a|b)*+?[^x]{2}\\'.repeat(200_000)}`;
    const shown = (value: string): SeenAsk => seen('tool', `Run tool "query"?\nsql: ${value}`);
    expect(fitsScreen(ask('tool', `mcp__db__query ${JSON.stringify({ sql: huge })}`), shown('SELECT 1'))).toBe(false);
    expect(fitsScreen(ask('tool', `mcp__db__query ${JSON.stringify({ sql: huge })}`), shown(huge))).toBe(true);
    const odd = 'a-b\u{1f600}[z-a](?<x>';
    expect(
      fitsScreen(
        ask('tool', `mcp__db__query ${JSON.stringify({ [odd]: odd })}`),
        seen('tool', `db - query(${odd}: "${odd}")`),
      ),
    ).toBe(true);
    expect(fitsScreen(ask('tool', `mcp__db__${'q'.repeat(3_000_000)} {"a":"b"}`), shown('SELECT 1'))).toBe(false);
  });

  it('ASK3 where several are open only what is shown whole is known', () => {
    const edit = ask('edit', '/repo/docs/index.ts\n-a');
    expect(fitsScreen(edit, seen('edit', 'Edit docs/index.ts?'), false)).toBe(false);
    expect(fitsScreen(edit, seen('edit', 'Edit /repo/docs/index.ts?'), false)).toBe(true);
  });

  it('an option is found by its id on the screen or by its words', () => {
    const options = [
      { id: '1', label: 'Red' },
      { id: '2', label: 'Blue' },
    ];
    const shown = { kind: 'question' as const, text: 'q', options };
    const told = { ...ask('question', 'q'), options: [{ id: '0', label: 'Blue' }] };
    expect(optionMeant('2', ask('question', 'q'), shown)).toMatchObject({ ok: true, value: { label: 'Blue' } });
    expect(optionMeant('blue', ask('question', 'q'), shown)).toMatchObject({ ok: false });
    expect(optionMeant('0', told, shown)).toMatchObject({ ok: true, value: { id: '2' } });
    expect(optionMeant('7', told, shown)).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
  });

  it('ASK3 keys hang on the whole dialog: every row from the first that shows something of it to the last', () => {
    const lines = ['working', '│ touch made.txt │', '│ │', 'Do you want', '> 1. Yes', '  2. No', 'esc to cancel'];
    const options = ['Yes', 'No'].map((label, at) => ({ id: String(at + 1), label }));
    const rowsOf = (text: string) => dialogOn({ text, options }, lines)?.rows ?? null;
    expect(rowsOf('touch made.txt\nDo you want to proceed?')).toEqual([1, 2, 3, 4, 5]);
    expect(rowsOf('Do you want to proceed?')).toEqual([3, 4, 5]);
    expect(rowsOf('rm')).toBeNull();
  });

  it('ASK3 a mark that moved is the same dialog, another command is not', () => {
    const ask = { text: 'touch made.txt', options: [{ id: '1', label: 'Yes' }] };
    const on = (...lines: string[]) => dialogOn(ask, lines);
    const [one, moved, other] = [
      on('touch made.txt', '> 1. Yes'),
      on('touch made.txt', '  1. Yes'),
      on('touch made', '> 1. Yes'),
    ];
    if (one === null || moved === null || other === null) throw new Error('there is no dialog');
    expect([asksSame(ask, one, moved), asksSame(ask, one, other)]).toEqual([true, false]);
  });
});
