// The table of buttons and warnings, row by row and by hand.

import { describe, expect, it } from 'vitest';
import { type MachineState, machineStates, type SessionView } from '../model/sessions.ts';
import { viewOf } from './entry.ts';

const where = (name: keyof SessionView, auto_approve = false): MachineState[] =>
  machineStates.filter((state) => viewOf({ state, auto_approve })[name]);

describe('SES7 what a session shows', () => {
  it('SES7 the spinner turns while it starts and works', () => {
    expect(where('showSpinner')).toEqual(['creating', 'streaming']);
  });
  it('SES7 cancel stands where there is something to cancel', () => {
    expect(where('showCancelButton')).toEqual(['creating', 'streaming', 'waiting_approval', 'waiting_input']);
  });
  it('SES7 resume stands where it rests', () => {
    expect(where('showResumeButton')).toEqual(['completed', 'paused', 'stopped']);
  });
  it('SES7 the warning stands while it works and approves for itself, and only then', () => {
    expect(where('showAutoModeWarning', true)).toEqual(['creating', 'streaming']);
    expect(where('showAutoModeWarning', false)).toEqual([]);
  });
  it('SES7 input is taken where words lead on', () => {
    expect(where('inputEnabled')).toEqual(['waiting_input', 'completed', 'paused', 'stopped']);
  });
  it('SES7 it is active while a turn is open', () => {
    expect(where('isActive')).toEqual(['creating', 'streaming', 'waiting_approval', 'waiting_input']);
  });
  it('SES7 retry stands in an error', () => {
    expect(where('showRetryButton')).toEqual(['error']);
  });
  it('SES7 dismiss stands where cancel does not and something is still open', () => {
    expect(where('showDismissButton')).toEqual(['paused', 'error']);
  });
  it('SES7 before it was started nothing is shown', () => {
    expect(Object.values(viewOf({ state: 'idle', auto_approve: true }))).toEqual(Array(8).fill(false));
  });
});
