// Which agents at rest may lose their process, by what was recorded of each: those whose own resume brings everything back,
// and nothing goes on behind (SES11).

import { describe, expect, it } from 'vitest';
import { acpRecording } from '../../../test/kit/recorded-acp.ts';
import { kiloRecording } from '../../../test/kit/recorded-kilo.ts';
import { serverRecording } from '../../../test/kit/recorded-servers.ts';
import { claudeRecording, codexRecording, recordingsOf } from '../../../test/kit/recorded-sessions.ts';
import { type Replay, replaySession, type Scene } from '../../../test/kit/replay-session.ts';
import { agentSessionId } from '../../model/ids.ts';
import { protocolAdapters } from '../protocol-adapters.ts';

const lives = (scene: Scene): boolean => !('heard' in scene && scene.heard.from === 'exit');

function replayed(driver: string, scenes: readonly Scene[], options: Parameters<typeof replaySession>[2] = {}): Replay {
  const adapter = protocolAdapters.get(driver);
  if (adapter === undefined) throw new Error('no such adapter');
  return replaySession(adapter, scenes.filter(lives), options);
}

const lineIn = (scene: Scene): string => ('heard' in scene && scene.heard.from === 'stdout' ? scene.heard.line : '');

describe('an agent that has finished', () => {
  it.each([
    ['claude', 'claude-stream', claudeRecording, 15],
    ['codex', 'codex-app-server', codexRecording, 10],
    ['acp', 'acp', acpRecording, 15],
  ] as const)('SES11 %s may sleep after every recorded turn that came to its end', (agent, driver, record, count) => {
    const done = recordingsOf(agent)
      .map((name) => ({ name, ...replayed(driver, record(name).scenes) }))
      .filter(({ final }) => final.state === 'completed');
    expect(done.length).toBeGreaterThanOrEqual(count);
    expect(done.filter(({ wakeful }) => wakeful !== null).map(({ name }) => name)).toEqual([]);
    expect(done.filter(({ final }) => final.agent_session === null)).toEqual([]);
  });

  it('SES11 a server of OpenCode or Kilo may go, since its conversations are on disk', () => {
    const { scenes, prompt, model } = serverRecording('opencode-text');
    expect(replayed('opencode-http', scenes, { opening: { prompt, model } })).toMatchObject({
      final: { state: 'completed' },
      wakeful: null,
    });
  });
});

describe('an agent that keeps its process', () => {
  it('SES11 Claude with a shell in the background, until that has ended', () => {
    const { scenes } = claudeRecording('bgbash');
    const result = scenes.findIndex((scene) => lineIn(scene).includes('"type":"result"'));
    const before = scenes.slice(0, result + 1);
    expect(replayed('claude-stream', before)).toMatchObject({ final: { state: 'completed' }, wakeful: 'behind' });
    expect(replayed('claude-stream', scenes).wakeful).toBe(null);
  });

  it('SES11 Codex with a command that goes on after its turn was stopped', () => {
    const { scenes } = codexRecording('app-server.interrupt');
    expect(replayed('codex-app-server', scenes).wakeful).toBe('behind');
    const item = { type: 'commandExecution', id: 'call_mock_125_0', status: 'completed', command: 'x' };
    const line = JSON.stringify({ method: 'item/completed', params: { item } });
    const ended: Scene = { at: 60_000, heard: { from: 'stdout', line } };
    expect(replayed('codex-app-server', [...scenes, ended]).wakeful).toBe(null);
  });

  it('SES11 the shared server of Codex, which is not ours', () => {
    expect(replayed('codex-daemon', codexRecording('app-server.text').scenes).wakeful).toBe('shared');
  });

  it('SES11 an agent on ACP that takes up no conversation', () => {
    const scenes = acpRecording('gemini').scenes.map((scene): Scene => {
      const line = lineIn(scene).replace('"loadSession":true', '"loadSession":false');
      return line === '' ? scene : { at: scene.at, heard: { from: 'stdout', line } };
    });
    expect(replayed('acp', scenes)).toMatchObject({ final: { state: 'completed' }, wakeful: 'no_resume' });
  });

  it('SES11 Kilo before 7, unless its conversation has a name of its own', () => {
    const { scenes, prompt, startWall } = kiloRecording('complete');
    const options = { startWall, opening: { prompt, spawned_at: startWall } };
    expect(replayed('kilo-lines', scenes, options)).toMatchObject({
      final: { state: 'completed' },
      wakeful: 'no_resume',
    });
    const line = JSON.stringify({ event: 'session_created', sessionId: 'cloud-1' });
    const named: Scene = { at: scenes[0]?.at ?? 0, heard: { from: 'stdout', line } };
    expect(replayed('kilo-lines', [named, ...scenes], options)).toMatchObject({
      final: { agent_session: agentSessionId('cloud-1') },
      wakeful: null,
    });
  });
});
