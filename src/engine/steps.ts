// The steps of the engine as one value. The simulation swaps single steps for broken ones to prove that it would notice;
// nothing else ever passes anything but the standard ones.

import { join } from './base.ts';
import { bind } from './bind.ts';
import { type DecayLimits, decay, standardDecay } from './decay.ts';
import { judgeCopy } from './dedupe.ts';
import { publish } from './publish.ts';
import { resolve } from './resolve.ts';
import { activeRuntime } from './route.ts';

export interface Steps {
  readonly bind: typeof bind;
  readonly judgeCopy: typeof judgeCopy;
  readonly join: typeof join;
  readonly resolve: typeof resolve;
  readonly decay: typeof decay;
  readonly publish: typeof publish;
  readonly activeRuntime: typeof activeRuntime;
  readonly decayLimits: DecayLimits;
}

export const standardSteps: Steps = {
  bind,
  judgeCopy,
  join,
  resolve,
  decay,
  publish,
  activeRuntime,
  decayLimits: standardDecay,
};
