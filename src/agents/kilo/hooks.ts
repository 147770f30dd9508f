// Calls of Kilo's plugin. Since 7 it is a fork of OpenCode with the same events; the versions before it had none.

import type { HookReader } from '../contract.ts';
import { eventHooks } from '../opencode/hooks.ts';

export const hooks: HookReader = eventHooks();
