// Where Codex tells its own state: the control socket of its shared server, and the journal of a run that works alone.

import type { NativeSource } from '../contract.ts';
import { appServer } from './app-server.ts';
import { rollout } from './rollout.ts';

export const natives: readonly NativeSource[] = [appServer, rollout];
