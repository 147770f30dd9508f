// Events of Kilo 7.7.7, recorded from its server: the same as OpenCode's, with two of its own that add nothing.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooks } from './hooks.ts';

function wordsOf(file: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, 'fixtures/events', file), 'utf8').trimEnd();
  const words = text.split('\n').flatMap((line) => {
    const payload = JSON.parse(line) as { type: string; id: string };
    return hooks.read({ event: payload.type, payload, time: 1_794_730_700_000 }).map(({ fact }) => {
      switch (fact.kind) {
        case 'state.observed':
          return `${fact.state}/${fact.reason}${fact.detail === undefined ? '' : ` ${fact.detail}`}`;
        case 'ask.opened':
          return `asks ${fact.ask.text}`;
        case 'ask.settled':
          return fact.how;
        default:
          return fact.kind;
      }
    });
  });
  return words.filter((word, at) => word !== words[at - 1]);
}

describe('events of Kilo', () => {
  it('a command that is asked for and allowed', () => {
    expect(wordsOf('serve-command-7.7.7.jsonl')).toMatchInlineSnapshot(`
      [
        "running/turn_running",
        "running/tool_running bash: echo hi-from-command; sleep 0.3; echo done-cmd",
        "asks echo hi-from-command; sleep 0.3; echo done-cmd",
        "answered",
        "running/tool_running",
        "running/turn_running",
        "turn.ended",
        "completed/turn_completed",
        "turn.ended",
        "completed/turn_completed",
      ]
    `);
  });

  it('an error that is final, and one that is tried again', () => {
    expect(wordsOf('serve-fail400-7.7.7.jsonl')).toMatchInlineSnapshot(`
      [
        "running/turn_running",
        "error/api_error mock bad request",
        "turn.ended",
      ]
    `);
    expect(wordsOf('serve-fail429-7.7.7.jsonl')).toMatchInlineSnapshot(`
      [
        "running/turn_running",
        "running/retrying mock rate limit",
        "running/turn_running",
        "running/retrying mock rate limit",
        "running/turn_running",
        "running/retrying mock rate limit",
      ]
    `);
  });
});
