// The agents' own channels, in the order they are asked (ACT4): one line for each agent that has one.

import type { Channel } from '../../act/ground.ts';
import { createCodexChannel } from './codex.ts';
import { createHttpChannels } from './http.ts';
import type { LineParts } from './parts.ts';

export function createChannels(parts: LineParts): readonly Channel[] {
  return [createCodexChannel(parts), ...createHttpChannels(parts)];
}
