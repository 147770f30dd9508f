// What channels are given: what is published of a runtime, its run and its pane as they are now, and a clock.

import type { ActGround } from '../../act/ground.ts';
import type { RuntimeId } from '../../model/ids.ts';
import type { NativeLine } from '../../observe/native/entry.ts';
import type { NativeRun } from '../../observe/native/sources.ts';

export interface ChannelParts extends Pick<ActGround, 'clock' | 'stateOf' | 'wholeAskOf' | 'sessionsOf' | 'freshLook'> {
  /** All runs whose own files and streams are followed. */
  readonly runs: () => readonly NativeRun[];
  /** The title of a runtime's pane at this moment; null when it is not known. */
  readonly titleOf: (runtime: RuntimeId) => string | null;
}

/** For channels over a connection that is followed anyway. */
export interface LineParts extends ChannelParts {
  /** What is open for a runtime, by the id of the source that follows it. */
  readonly linesOf: (runtime: RuntimeId, source: string) => readonly NativeLine[];
}
