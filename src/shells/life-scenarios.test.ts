// The scenarios that background shells were thought up for, told event by event: what the agent is answered, what it is
// told later, and what the card says.

import { describe, expect, it } from 'vitest';
import { born, eventOf, exit, lived, started, t0 } from '../../test/kit/shells.ts';
import type { ShellRecord } from '../model/shells.ts';
import { type LifeEvent, type Step, step } from './life.ts';

interface Story {
  readonly record: ShellRecord;
  readonly steps: readonly Step[];
}

function story(record: ShellRecord, ...events: readonly LifeEvent[]): Story {
  return events.reduce<Story>(
    (so, event) => {
      const next = step(so.record, event);
      return { record: next.record, steps: [...so.steps, next] };
    },
    { record, steps: [] },
  );
}

const answers = ({ steps }: Story, kind: 'answer_call' | 'answer_kills'): readonly string[] =>
  steps.flatMap(({ effects }) =>
    effects.flatMap((effect) => (effect.kind === kind ? [`${effect.result}: ${effect.reason}`] : [])),
  );
const results = ({ steps }: Story): readonly (string | null)[] => steps.map(({ result }) => result);
const notices = ({ steps }: Story): readonly string[] => steps.flatMap((one) => one.notices.map(({ words }) => words));
const kinds = ({ steps }: Story): readonly string[] => steps.flatMap((one) => one.events.map(({ kind }) => kind));
const count = (story: Story, effect: string): number =>
  story.steps.flatMap(({ effects }) => effects).filter(({ kind }) => kind === effect).length;

describe('scenarios', () => {
  it('SHL2 sleep 120 keeps its agent for 60 s and is then moved to the background', () => {
    const so = story(born(), started, eventOf('budget_elapsed'), exit(0));
    expect(answers(so, 'answer_call')).toEqual([
      'Running: shell-3 continues in the background: auto background (60s budget exceeded)',
      'Completed: shell-3 has completed: auto background (60s budget exceeded)',
    ]);
    expect(notices(so)).toEqual([
      'shell-3 (sleep 120) continues in the background: auto background (60s budget exceeded)',
      'shell-3 (sleep 120) has completed: auto background (60s budget exceeded)',
    ]);
    expect(kinds(so)).toEqual(['start', 'promote', 'terminate']);
    expect(so.record).toMatchObject({ promoted_by: 'system', ended_by: 'system', end_reason: 'exited' });
  });

  it('SHL2 over MCP the words name the budget of that caller', () => {
    expect(lived(born({ budget_ms: 55_000 }), started, eventOf('budget_elapsed')).words).toBe(
      'auto background (55s budget exceeded)',
    );
  });

  it('SHL2 Ctrl+R before the budget is over moves it at once, and the budget then changes nothing', () => {
    const so = story(
      born({ command: 'npm run build' }),
      started,
      eventOf('background_request:user'),
      eventOf('budget_elapsed'),
    );
    expect(so.record).toMatchObject({ promoted_by: 'user', words: 'moved to background by user (Ctrl+R)' });
    expect(results(so)).toEqual([null, 'Backgrounded', null]);
    expect(answers(so, 'answer_call')).toEqual([
      'Running: shell-3 continues in the background: moved to background by user (Ctrl+R)',
    ]);
    expect(notices(so)).toEqual(['the user moved shell-3 (npm run build) to the background']);
    expect(kinds(so)).toEqual(['start', 'background_request', 'promote']);
  });

  it('SHL2 an exit in the same moment as the end of the budget wins', () => {
    const so = story(born(), started, exit(0, { awaited: true }), eventOf('budget_elapsed'));
    expect(so.record).toMatchObject({ status: 'completed', promoted_by: null });
    expect(answers(so, 'answer_call')).toHaveLength(1);
    expect(notices(so)).toEqual([]);
  });

  it('SHL7 a kill by the user is seen by the agent as ended_by user', () => {
    const so = story(
      born({ run_in_background: true }),
      started,
      eventOf('kill:user'),
      exit(143, { signal: 'SIGTERM', is_signal_inferred: true }),
    );
    expect(so.record).toMatchObject({
      status: 'failed',
      ended_by: 'user',
      end_reason: 'killed',
      exit_code: 143,
      words: 'killed by user (Shell panel)',
    });
    expect(results(so)).toEqual([null, 'KillPending', null]);
    expect(answers(so, 'answer_kills')).toEqual(['Killed: shell-3 has ended: killed by user (Shell panel)']);
    expect(notices(so)).toEqual(['the user killed shell-3 (sleep 120)']);
    expect(kinds(so)).toEqual(['start', 'kill', 'terminate']);
  });

  it('SHL7 in the foreground the same kill is the answer of the call, and a notice with it', () => {
    const so = story(born(), started, eventOf('kill:user'), exit(143, { awaited: true }));
    expect(answers(so, 'answer_call')).toEqual(['Failed: shell-3 failed (code 143): killed by user (Shell panel)']);
    expect(notices(so)).toEqual(['the user killed shell-3 (sleep 120)']);
  });

  it('the card says what is under way, and names the place where it is another one', () => {
    const asked = lived(born(), started, { kind: 'kill', by: 'user', via: 'command line', at: t0 });
    expect(asked.words).toBe('being killed by user (command line)');
    expect(lived(asked, exit(143)).words).toBe('killed by user (command line)');
    expect(lived(asked, exit(0))).toMatchObject({ status: 'completed', words: 'stopped by user (command line)' });
  });

  it('SHL3 killing what has finished reports how it finished, never the caller', () => {
    const done = lived(born(), started, eventOf('kill:user'), exit(143));
    expect(step(done, eventOf('kill:agent'))).toMatchObject({
      record: done,
      result: 'AlreadyFinishedFailed',
      ended_by: 'user',
      reason: 'shell-3 had already ended, failed (code 143): killed by user (Shell panel)',
    });
    const fine = lived(born(), started, exit(0));
    expect(step(fine, eventOf('kill:user'))).toMatchObject({
      result: 'AlreadyFinishedCompleted',
      ended_by: 'system',
      reason: 'shell-3 had already completed',
      effects: [],
      events: [],
    });
  });

  it('SHL3 a second kill leaves the first one’s author in place and sends nothing again', () => {
    const so = story(
      born(),
      started,
      eventOf('kill:agent'),
      eventOf('kill:user'),
      eventOf('timeout_elapsed'),
      exit(143),
    );
    expect(so.record).toMatchObject({ ended_by: 'agent', kill_requested_by: 'agent', words: 'killed by agent' });
    expect(count(so, 'send_term')).toBe(1);
  });

  it('a kill that fails is taken back: a later end is its own', () => {
    const so = story(born(), started, eventOf('kill:user'), eventOf('kill_failed'), exit(0));
    expect(answers(so, 'answer_kills')[0]).toBe(
      'KillFailed: shell-3 keeps running: not killed by user (Shell panel): not permitted',
    );
    expect(results(so)[2]).toBe('KillFailed');
    expect(so.record).toMatchObject({ status: 'completed', ended_by: 'system', kill_requested_by: null });
  });

  it('after a failed kill the next one counts', () => {
    const so = story(born(), started, eventOf('kill:user'), eventOf('kill_failed'), eventOf('kill:agent'), exit(143));
    expect(so.record.ended_by).toBe('agent');
    expect(count(so, 'send_term')).toBe(2);
  });

  it('several shells at once do not touch each other', () => {
    const first = lived(born({ run_in_background: true }), started, eventOf('kill:user'));
    const second = { ...lived(born({ run_in_background: true }), started), shell_id: 'shell-4' as const };
    expect(step(second, exit(0)).record).toMatchObject({ shell_id: 'shell-4', ended_by: 'system' });
    expect(step(first, exit(143)).record).toMatchObject({ shell_id: 'shell-3', ended_by: 'user' });
  });

  it('a cancelled call kills what it waited for, on behalf of the agent', () => {
    const so = story(born(), started, eventOf('cancelled'), exit(143));
    expect(so.record).toMatchObject({ ended_by: 'agent', words: 'killed by agent (the call was cancelled)' });
    expect(notices(so)).toEqual(['you killed shell-3 (sleep 120)']);
  });

  it('a timeout ends it as the system, with its own reason', () => {
    const so = story(born({ run_in_background: true }), started, eventOf('timeout_elapsed'), exit(143));
    expect(so.record).toMatchObject({
      ended_by: 'system',
      end_reason: 'timeout',
      words: 'killed at its timeout (30s)',
    });
    expect(notices(so)).toEqual(['shell-3 (sleep 120) has ended: killed at its timeout (30s)']);
  });

  it('SHL6 a shell whose daemon went away is adopted, and one that ended meanwhile is told', () => {
    const adopted = story(lived(born(), started), eventOf('adopted'), exit(3));
    expect(adopted.record).toMatchObject({ promoted_by: 'system', exit_code: 3, words: 'exited with status 3' });
    expect(notices(adopted)).toEqual([
      'shell-3 (sleep 120) continues in the background: auto background (the daemon restarted)',
      'shell-3 (sleep 120) failed (code 3): exited with status 3',
    ]);
    const meanwhile = story(lived(born(), started), exit(0));
    expect(notices(meanwhile)).toEqual(['shell-3 (sleep 120) has completed']);
    const lost = story(lived(born({ run_in_background: true }), started), eventOf('holder_lost'));
    expect(lost.record).toMatchObject({ end_reason: 'lost', ended_by: 'system', words: 'exit status lost' });
    expect(notices(lost)).toEqual(['shell-3 (sleep 120) has ended: exit status lost']);
  });

  it('SHL1 killed from outside, not found, not started', () => {
    const outside = lived(born(), started, exit(null, { signal: 'SIGKILL' }));
    expect(outside).toMatchObject({ ended_by: 'system', end_reason: 'signaled', words: 'killed by SIGKILL (outside)' });
    expect(lived(born(), started, exit(127)).words).toBe('exited with status 127 (command not found)');
    expect(lived(born(), started, exit(126)).words).toBe('exited with status 126 (cannot be executed)');
    expect(lived(born(), eventOf('spawn_failed'))).toMatchObject({
      end_reason: 'spawn_error',
      words: 'could not be started: no more processes',
    });
  });

  it('SHL4 a stopped one is continued, a finished one runs again as the next attempt', () => {
    const stopped = story(lived(born(), started), eventOf('stopped'), eventOf('resume:user'), eventOf('continued'));
    expect(stopped.record).toMatchObject({ attempt: 1, is_stopped: false });
    expect(notices(stopped)).toEqual(['the user continued shell-3 (sleep 120)']);
    const again = story(lived(born(), started, exit(3)), eventOf('resume:user'), started, exit(0));
    expect(again.record).toMatchObject({ attempt: 2, started_by: 'user', status: 'completed' });
    expect(again.steps[0]?.reason).toBe('shell-3 run again by user, attempt 2');
    expect(notices(again)[0]).toBe('the user ran shell-3 (sleep 120) again, attempt 2');
    expect(kinds(again)).toEqual(['resume', 'start', 'terminate']);
    const gone = step(lived(born(), started, exit(3)), eventOf('resume:agent:unavailable'));
    expect(gone).toMatchObject({
      result: 'ResumeUnavailable',
      ended_by: 'system',
      reason: 'shell-3 cannot be run again: its folder is gone',
    });
  });

  it('SHL4 a second attempt that is continued is not called a new run', () => {
    const second = lived(born(), started, exit(3), eventOf('resume:user'), started, eventOf('stopped'));
    expect(step(second, eventOf('resume:user')).notices[0]?.words).toBe('the user continued shell-3 (sleep 120)');
  });

  it('SEC3 foreign words in notices and reasons have no effect', () => {
    const evil = 'x\u001b]0;owned\u0007\n\u001b[2Jy';
    const so = story(born({ command: evil, run_in_background: true }), {
      kind: 'spawn_failed',
      reason: evil,
      awaited: false,
      at: t0,
    });
    for (const text of [...notices(so), so.record.words ?? '', ...answers(so, 'answer_call')])
      expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });
});
