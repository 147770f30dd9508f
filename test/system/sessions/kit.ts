// A private daemon with scripted agents that it leads, and a look at what really reached them.

import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AuditItem } from '../../../src/api/actions.ts';
import { pathTo } from '../../../src/api/requests.ts';
import type { ManagedItem, MessageItem, NewSessionBody } from '../../../src/api/sessions.ts';
import { askKinds } from '../../../src/model/asks.ts';
import type { MachineState, SessionCommand } from '../../../src/model/sessions.ts';
import { Live, until } from '../../kit/live.ts';
import { programsMayAll } from '../../kit/policy.ts';

const fakeAgent = fileURLToPath(new URL('./fake-agent.ts', import.meta.url));
const program = fileURLToPath(new URL('../../../bin/agtmux', import.meta.url));

export interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class LedWorld extends Live {
  readonly bin = join(this.dir, 'bin');
  readonly project = join(this.dir, 'project');
  readonly logFile = join(this.dir, 'agent.log');

  constructor() {
    super();
    for (const folder of [this.bin, this.project, join(this.dir, 'home/.config/agtmux')])
      mkdirSync(folder, { recursive: true });
    this.env.PATH = `${this.bin}:${this.env.PATH}`;
    this.env.FAKE_LOG = this.logFile;
    writeFileSync(join(this.bin, 'claude'), `#!/bin/sh\nexec '${process.execPath}' '${fakeAgent}' "$@"\n`);
    chmodSync(join(this.bin, 'claude'), 0o755);
    this.policy(`allow_approve = ["operator"]\nkinds = ${JSON.stringify(askKinds)}\n`);
  }

  /** Whoever runs these tests may have no parents left; they count as a program of the user's. */
  policy(text: string): void {
    writeFileSync(join(this.dir, 'home/.config/agtmux/policy.toml'), `${programsMayAll}${text}`);
  }

  /** What an agent finds around itself. */
  agentEnv(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const own = Object.entries(this.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return { ...Object.fromEntries(own), ...more };
  }

  async begin(prompt: string, more: Partial<NewSessionBody> = {}): Promise<ManagedItem> {
    const body: NewSessionBody = {
      agent: 'claude',
      prompt,
      cwd: this.project,
      env: this.agentEnv(),
      ...more,
    };
    return (await this.client.post('/v1/managed', body, { caller: { pid: process.pid } })).session;
  }

  async session(id: string): Promise<ManagedItem> {
    return (await this.client.get(pathTo('/v1/managed/{id}', { id }))).session;
  }

  async deed(id: string, name: SessionCommand['action'], more: object = {}): Promise<ManagedItem> {
    const path = pathTo(`/v1/managed/{id}/${name}`, { id });
    return (await this.client.post(path, { ...more, pid: process.pid, hops: 0 })).session;
  }

  /** Until the session is in this state, and as it is then. */
  async becomes(id: string, ...states: readonly MachineState[]): Promise<ManagedItem> {
    let seen: ManagedItem | null = null;
    try {
      await until(async () => {
        seen = await this.session(id);
        return states.includes(seen.state);
      });
    } catch (problem) {
      throw new Error(`${id} is ${JSON.stringify(seen)}, not ${states.join(' or ')}`, { cause: problem });
    }
    return this.session(id);
  }

  async messages(id: string): Promise<readonly MessageItem[]> {
    return (await this.client.get(pathTo('/v1/managed/{id}/messages', { id: id }), { count: 2_000 })).messages;
  }

  /** Everything that was said in this role. */
  async words(id: string, role: MessageItem['role']): Promise<string> {
    const messages = await this.messages(id);
    return messages
      .filter((message) => message.role === role)
      .map(({ text }) => text)
      .join('\n');
  }

  /** What the agents wrote down, by its first word. */
  noted(word: string): readonly string[] {
    if (!existsSync(this.logFile)) return [];
    return readFileSync(this.logFile, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`${word} `))
      .map((line) => line.slice(word.length + 1));
  }

  /** Answers that reached an agent. */
  answers(): readonly string[] {
    return this.noted('told').filter((line) => line.includes('"control_response"'));
  }

  async audit(): Promise<readonly AuditItem[]> {
    return (await this.client.get('/v1/audit', { count: 200 })).items as readonly AuditItem[];
  }

  agtmux(args: readonly string[], input = '', more: NodeJS.ProcessEnv = {}): Promise<Said> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [program, ...args], { env: { ...this.env, ...more }, cwd: this.project });
      const said = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (data: string) => {
          said[name] += data;
        });
      }
      child.once('error', reject);
      child.once('close', (status) => resolve({ status, ...said }));
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    });
  }
}

/** A process by this number runs, dead ones that nobody has collected not counted. */
export function runs(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
