// What a scenario has to know of one agent: how it is set up and started without a network, which keys do what, and which
// words on its screen are the truth that agtmux is compared with. These words are written apart from the screen rules.

import type { ActingName } from './act-names.ts';
import type { Stage, StageSetup } from './stage.ts';

export const stepNames = [
  'start',
  'trust dialog',
  'idle',
  'running',
  'completed',
  'approval asked',
  'approval granted',
  'tool running',
  'completed after tool',
  'approval refused',
  'question asked',
  'question answered',
  'question declined',
  'two questions declined',
  'API error',
  'retrying',
  'recovered',
  'interrupted',
  'interrupted in silence',
  'interrupted in a tool',
  'dialog quoted',
  'menu below the quote',
  'exit',
  'kill -9',
] as const;
export type StepName = (typeof stepNames)[number];

export interface ActionExecutor extends StageSetup {
  /** As the daemon calls it. */
  readonly agent: string;
  /** The name of this run in results: the agent, or the agent and how it was started. */
  readonly label: string;
  readonly version: string;
  readonly command: string;
  /** Truth: patterns on the screen. */
  readonly shows: {
    readonly trust: RegExp;
    readonly ready: RegExp;
    readonly busy: RegExp;
    readonly approval: RegExp;
    readonly question: RegExp;
    readonly error: RegExp;
    readonly interrupted: RegExp;
    readonly refused: RegExp;
  };
  readonly press: {
    trust(stage: Stage): void | Promise<void>;
    approve(stage: Stage): void | Promise<void>;
    refuse(stage: Stage): void | Promise<void>;
    answer(stage: Stage): void | Promise<void>;
    /** Leaves a question without an answer. */
    decline(stage: Stage): void | Promise<void>;
    interrupt(stage: Stage): void | Promise<void>;
    exit(stage: Stage): void | Promise<void>;
    /** Empties the prompt: some agents put an interrupted prompt back. */
    clear(stage: Stage): void | Promise<void>;
  };
  /**
   * A dialog of its own that the mock quotes, by its name there, and a menu that a person opens below it: the keys, what
   * shows it, and how it is left.
   */
  readonly quoted: {
    readonly quote: string;
    readonly menu: {
      open(stage: Stage): void | Promise<void>;
      readonly shows: RegExp;
      readonly leave: readonly string[];
    };
  } | null;
  /** What the mock answers so that this agent tries again, and how its screen says so; null when it says nothing. */
  readonly retry: { readonly status: number; readonly shows: RegExp | null };
  /**
   * How a turn ends that a person broke off, where not like everywhere. goes on: the model is told and finishes its answer.
   * unsaid: its screen does not say so, and what was given up looks like what was done.
   */
  readonly ends?: Partial<Readonly<Record<StepName, 'goes on' | 'unsaid'>>>;
  /** Rows beside a dialog that change by themselves: tips that take turns. */
  readonly restless?: RegExp;
  /** What names the second option of the mock's question, where it shows no digits. */
  readonly violet?: string;
  /** Steps that this agent does not have, with the evidence. */
  readonly missing: Partial<Readonly<Record<StepName, string>>>;
  /** The same for what agtmux does to it. */
  readonly cannot: Partial<Readonly<Record<ActingName, string>>>;
}
