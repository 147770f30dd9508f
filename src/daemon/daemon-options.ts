// What the daemon is given by its program: the places, ports and settings that it stands on.

import type { Settings } from '../config/settings.ts';
import type { HooksParts } from '../install/service.ts';
import type { TargetControllerParts } from '../observe/target-controller.ts';
import type { Clock } from '../platform/clock.ts';
import type { Places } from '../platform/environment.ts';
import type { Log } from '../platform/log.ts';

export interface DaemonParts {
  readonly version: string;
  readonly pid: number;
  readonly places: Places;
  readonly home: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly memoryBytes: () => number;
  /** Asked to end; called at most once. */
  readonly onStop: () => void;
  readonly settings: Settings;
  readonly hooks: Pick<HooksParts, 'here' | 'program'>;
  /** What agents start as our MCP server. */
  readonly mcpProgram: HooksParts['program'];
  /** Where the user's screen rules are. */
  readonly rulesFolder: string;
  /** Where a user's definitions of agents are. */
  readonly definitionsFolder: string;
  /** Where it says who may answer asks besides people. */
  readonly policyPath: string;
  /** Where it says who is told when an agent needs a person. */
  readonly noticesPath: string;
  readonly platform: string;
  /** bin/agtmux-wrap. */
  readonly wrapperPath: string;
  /** bin/agtmux-shell. */
  readonly shellPath: string;
  readonly machines: Pick<TargetControllerParts, 'clientsFile' | 'terminals'> & {
    readonly manager: Omit<TargetControllerParts['manager'], 'book' | 'clock'>;
  };
}
