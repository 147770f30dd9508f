// Calls of the plugin: each carries one event as OpenCode made it, under the name of its type. What events mean stands in
// events.ts, because they also come as a stream.

import { agentSessionId } from '../../model/ids.ts';
import type { HookReader } from '../contract.ts';
import { EventReader } from './events.ts';

/** Kilo is a fork with the same events and has a reader of its own, so that neither forgets because of the other. */
export function eventHooks(): HookReader {
  const reader = new EventReader();
  return {
    // Of messages only what is known of them as a whole, above all how they ended. Not asked for: parts of messages (one call a chunk), `tool.execute.before` (fires before the permission is asked, so
    // it does not mean that anything runs) and `permission.ask` (was never called). The first two tell who is a subagent.
    events: [
      'session.created',
      'session.updated',
      'session.status',
      'session.idle',
      'session.error',
      'message.updated',
      'permission.asked',
      'permission.updated',
      'permission.replied',
      'question.asked',
      'question.replied',
      'question.rejected',
    ],
    stored: [],
    session(call) {
      const session = reader.rootOf(call.payload ?? {});
      return session === null ? null : agentSessionId(session);
    },
    read(call) {
      return reader.read({ ...call.payload, type: call.event }, call.time);
    },
  };
}

export const hooks: HookReader = eventHooks();
