// Recorded screens of three agents, one for each state a turn goes through: what look-alikes act.

import { LookAlike, type LookAlikeKind } from './look-alike.ts';

export const acts = ['running', 'waiting_approval', 'settled'] as const;
export type Act = (typeof acts)[number];

interface Scene {
  readonly file: string;
  readonly title: string;
}

const scenes: Readonly<Record<LookAlikeKind, Readonly<Record<Act, Scene>>>> = {
  claude: {
    running: { file: '2.1.325-running_thinking.80x24.txt', title: '✳ Claude Code' },
    waiting_approval: { file: '2.1.325-approval_bash.80x24.txt', title: '✳ Claude Code' },
    settled: { file: '2.1.325-completed_text.80x24.txt', title: '✳ Claude Code' },
  },
  codex: {
    running: { file: '05_running_thinking.80x24.txt', title: '⠦ proj' },
    waiting_approval: { file: '10_waiting_approval_exec.80x24.txt', title: '[ ! ] Action Required | proj' },
    settled: { file: '04_turn_completed.80x24.txt', title: 'proj' },
  },
  gemini: {
    running: { file: '0.61.0-80x24-running_thinking.txt', title: '✦  Working… (gem)' },
    waiting_approval: { file: '0.61.0-80x24-waiting_approval_shell.txt', title: '✋  Action Required (gem)' },
    settled: { file: '0.61.0-80x24-completed.txt', title: '◇  Ready (gem)' },
  },
};

/** Draws the act, again every `spinMs` where that is given; resolves with the time at which it was drawn. */
export async function act(actor: LookAlike, what: Act, spinMs?: number): Promise<number> {
  const { file, title } = scenes[actor.kind][what];
  const screen = LookAlike.recorded(actor.kind, file);
  const drawn = await actor.show(screen, title);
  if (spinMs !== undefined) await actor.spin(screen, spinMs);
  return drawn;
}
