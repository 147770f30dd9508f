// A toy agent whose readers repeat what they are told, and a world of real files and clocks around NativeSources.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Agent,
  contractVersion,
  type Finding,
  type NativeAnswer,
  type NativeInput,
  type NativeSource,
  type RunView,
  type Watch,
} from '../../../src/agents/contract.ts';
import { agentName, runtimeId } from '../../../src/model/ids.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import type { Reach } from '../../../src/sources/native/follower.ts';
import { createLocalReach } from '../../../src/sources/native/local-reach.ts';
import { NativeSources } from '../../../src/sources/native/sources.ts';

export const runOf = (id: string, more: Partial<RunView> = {}): RunView => ({
  runtime_id: runtimeId(id),
  version: null,
  programs: [],
  home: '/home/dev',
  cwd: '/home/dev',
  env: {},
  openFiles: [],
  title: '',
  startedAt: 0,
  ...more,
});

/** A finding that says in its detail what was seen. */
export const saying = (detail: string, more: Partial<Finding> = {}): Finding => ({
  fact: { kind: 'state.observed', state: 'running', reason: 'turn_running', confidence: 'high', detail },
  time: 1,
  ...more,
});

/** What was told, in one line each. */
export function wordsOf(input: NativeInput): string {
  switch (input.kind) {
    case 'file':
      return input.text === null ? 'gone' : `text ${input.text}`;
    case 'lines':
      return `lines ${input.lines.join('|')}`;
    case 'found':
      return `found ${input.paths.map((path) => path.slice(path.indexOf('/tree') + 5)).join(' ')}`;
    case 'message':
      return `message ${input.text}`;
    case 'look':
      return `look ${input.runtime_id} ${input.state}`;
    case 'opened':
    case 'closed':
      return input.kind;
  }
}

export interface Toy {
  readonly plan: (run: RunView) => readonly Watch[];
  readonly take?: (input: NativeInput, runs: readonly RunView[]) => NativeAnswer;
  readonly more?: Partial<NativeSource>;
}

export function toyAgent(name: string, toy: Toy): Agent {
  const source: NativeSource = {
    id: 'toy',
    source: 'native',
    environment: [],
    remote: true,
    plan: toy.plan,
    open: () => ({
      take: (input, runs) => toy.take?.(input, runs) ?? { findings: [saying(wordsOf(input))] },
    }),
    ...toy.more,
  };
  return {
    name: agentName(name),
    contract: contractVersion,
    capabilities: {
      event_driven: true,
      polling_required: false,
      supports_waiting_approval: true,
      supports_waiting_input: true,
      supports_completed: true,
      supports_interrupted: true,
      measured: [],
      limits: [],
    },
    identify: () => null,
    screen: null,
    hooks: null,
    natives: [source],
    install: null,
    keys: null,
  };
}

export class World {
  readonly dir = mkdtempSync(join(tmpdir(), 'agtmux-native-'));
  /** `runtime: detail`, in the order they were offered. */
  readonly told: string[] = [];
  readonly findings: Finding[] = [];
  readonly sources: NativeSources;

  constructor(reach: Reach = createLocalReach(createRealClock())) {
    this.sources = new NativeSources({
      reach,
      now: () => Date.now(),
      offer: (_agent, _source, finding) => {
        this.findings.push(finding);
        const detail = finding.fact.kind === 'state.observed' ? finding.fact.detail : finding.fact.kind;
        this.told.push(`${finding.runtime_id ?? finding.agent_session ?? '?'}: ${detail}`);
      },
    });
  }

  path(name: string): string {
    return join(this.dir, name);
  }

  close(): void {
    this.sources.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export async function until(holds: () => boolean, deadlineMs = 20_000): Promise<void> {
  const began = performance.now();
  while (!holds()) {
    if (performance.now() - began > deadlineMs) throw new Error(`waited ${deadlineMs} ms in vain for ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
