// What the scenes of managed sessions have to know of one agent: how it is set up without a network, how it is led, and
// where it differs from the others. One file an agent in players/.

import type { MachineState } from '../../../src/model/sessions.ts';
import type { PlaceSetup } from './place.ts';

export const sceneNames = [
  'text',
  'approve',
  'reject',
  'question',
  'interrupt',
  'API error',
  'retrying',
  'stop while asked',
  'resume',
  'automatic',
  'two at once',
  'rejoin',
] as const;
export type SceneName = (typeof sceneNames)[number];

export interface Player extends PlaceSetup {
  /** As the daemon calls it. */
  readonly agent: string;
  /** The name of this run in results: the agent, or the agent and how it is led. */
  readonly label: string;
  readonly version: string;
  /** Which of the agent's ways is taken, by its driver. */
  readonly driver: string;
  readonly model: string | null;
  /** What the mock answers so that this agent tries again by itself. */
  readonly retryStatus: number;
  /** Sequences that differ from the usual one, each with the reason. */
  readonly states?: Partial<
    Readonly<Record<SceneName, { readonly states: readonly MachineState[]; readonly why: string }>>
  >;
  /** Scenes that this agent cannot play, with the evidence. */
  readonly cannot: Partial<Readonly<Record<SceneName, string>>>;
}
