import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { createRealChannels, type ProcessChannel, type ProcessEnd } from './channel.ts';
import { createRealClock } from './clock.ts';

const channels = createRealChannels(createRealClock());
const env = { PATH: '/usr/bin:/bin', LANG: 'C' };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

interface Heard {
  output: string;
  ends: ProcessEnd[];
}

function open(program: string, args: readonly string[]): { channel: ProcessChannel; heard: Heard } {
  const heard: Heard = { output: '', ends: [] };
  const onData = (chunk: Uint8Array): void => {
    heard.output += text(chunk);
  };
  const channel = channels.open({ program, args, env }, { onData, onEnd: (end) => heard.ends.push(end) });
  return { channel, heard };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function isAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false;
  }
}

describe('channel', () => {
  it('carries both ways, then tells status and last words once, after the last data', async () => {
    const { channel, heard } = open('sh', ['-c', 'read line; printf "got %s" "$line"; echo bad >&2; exit 3']);
    expect(channel.pid).toBeGreaterThan(0);
    channel.write(bytes('word\n'));
    await until(() => heard.ends.length > 0);
    expect(heard.output).toBe('got word');
    expect(heard.ends).toMatchObject([{ status: 3, signal: null, spawnError: null }]);
    expect(text(heard.ends[0]?.stderr ?? bytes(''))).toBe('bad\n');
    channel.write(bytes('too late'));
    channel.end();
    expect(heard.ends.length).toBe(1);
  });

  it('what cannot be started is told the same way, after the caller has its channel', async () => {
    const { channel, heard } = open('/no/such/program', []);
    expect(heard.ends).toEqual([]);
    channel.write(bytes('x'));
    await until(() => heard.ends.length > 0);
    expect(heard.ends).toMatchObject([{ status: null, spawnError: 'ENOENT' }]);
  });

  it('words with a NUL, which the system refuses at once, are told the same way', async () => {
    const { channel, heard } = open('sh', ['a\0b']);
    expect(channel.pid).toBe(null);
    await until(() => heard.ends.length > 0);
    expect(heard.ends[0]?.spawnError).toBe('ERR_INVALID_ARG_VALUE');
  });

  it('the end reaches everything the program started', async () => {
    const { channel, heard } = open('sh', ['-c', 'sleep 60 & echo $!; wait']);
    await until(() => heard.output.includes('\n'));
    const pid = Number(heard.output);
    expect(isAlive(pid)).toBe(true);
    channel.end();
    await until(() => heard.ends.length > 0 && !isAlive(pid));
    expect(heard.ends).toMatchObject([{ status: null, signal: 'SIGKILL' }]);
  });

  it('someone left behind with the pipes does not hold up the end', async () => {
    const { heard } = open('sh', ['-c', 'setsid sleep 1000 & echo $!; exit 4']);
    await until(() => heard.ends.length > 0);
    const pid = Number(heard.output);
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
    expect(heard.ends).toMatchObject([{ status: 4 }]);
  });

  it('keeps only the last words on stderr', async () => {
    const { heard } = open('sh', ['-c', 'yes flood | head -c 100000 >&2; printf last >&2']);
    await until(() => heard.ends.length > 0);
    const said = text(heard.ends[0]?.stderr ?? bytes(''));
    expect(said.length).toBe(limits.channelStderrBytesMax);
    expect(said.endsWith('last')).toBe(true);
  });

  it('a program that does not read shows as a backlog', async () => {
    const { channel, heard } = open('sleep', ['60']);
    channel.write(new Uint8Array(1_000_000));
    expect(channel.writeBacklog).toBeGreaterThan(500_000);
    channel.end();
    await until(() => heard.ends.length > 0);
    expect(channel.writeBacklog).toBe(0);
  });

  it('a paused channel hears nothing until it goes on, and can be ended meanwhile', async () => {
    const { channel, heard } = open('sh', ['-c', 'while read x; do echo $x; done']);
    channel.write(bytes('one\n'));
    await until(() => heard.output === 'one\n');
    channel.pause();
    channel.write(bytes('two\n'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(heard.output).toBe('one\n');
    channel.resume();
    await until(() => heard.output === 'one\ntwo\n');
    channel.pause();
    channel.end();
    await until(() => heard.ends.length > 0);
  });
});
