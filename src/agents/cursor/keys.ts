// How Cursor's agent is worked at the keyboard. It was never run here and no key of its dialogs is proven, so none is
// pressed: only what its documentation says of starting it is used.

import { limits } from '../../model/limits.ts';
import type { Keys } from '../contract.ts';
import { atPath } from '../keys/file-ref.ts';
import { resumeBy } from '../keys/resume.ts';
import { modelOption } from '../keys/start-options.ts';

export const keys: Keys = {
  interrupt: [],
  collapsed: null,
  // Not known, so the longest that any agent needs.
  enterPauseMs: limits.enterPauseMs,
  approve: () => null,
  reject: () => null,
  choose: () => null,
  write: () => null,
  fileRef: atPath,
  resume: resumeBy('cursor-agent', (session) => [`--resume=${session}`], ['resume']),
  start: ['cursor-agent'],
  startOptions: [modelOption, { names: ['--force', '-f', '--yolo'], skipsPermissions: true }],
};
