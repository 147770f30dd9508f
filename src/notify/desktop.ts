// Notifications of a Linux desktop by notify-send. What it shows stands in its arguments, which every user of the machine
// can read: so these are names only, unless the person chose otherwise (SEC6, ADR 0019). With buttons it stays until the
// notification is gone and says which one was pressed.

import { limits } from '../model/limits.ts';
import type { DesktopText } from '../model/notices.ts';
import type { Channels, ProcessChannel, ProcessEnd } from '../platform/channel.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import { cut, width } from '../text/width.ts';
import type { Message, NotificationChannel, NotifyResult, Press } from './channel.ts';
import { troubleOf } from './words.ts';

interface DesktopParts {
  readonly clock: Clock;
  readonly channels: Channels;
  readonly exec: Exec;
  readonly env: Readonly<Record<string, string>>;
  readonly text: () => DesktopText;
  readonly onPress: (id: string, press: Press) => void;
}

interface Shown {
  readonly message: Message;
  readonly process: ProcessChannel;
}

export class LinuxDesktop implements NotificationChannel {
  readonly name = 'desktop';
  readonly #parts: DesktopParts;
  /** Those whose buttons are listened to, oldest first. */
  readonly #listening = new Map<string, Shown>();
  /** notify-send before 0.8 knows neither numbers nor buttons. */
  #isOld = false;
  /** While it waits for a button it keeps the number in its buffer; without stdbuf it could not be taken back. */
  #hasStdbuf = true;

  constructor(parts: DesktopParts) {
    this.#parts = parts;
  }

  async tell(message: Message): Promise<NotifyResult> {
    if (this.#isOld) return this.#plainly(message);
    const told = await this.#show(message);
    if (told === 'without stdbuf') {
      this.#hasStdbuf = false;
      return this.tell(message);
    }
    if (told.ok || !told.problem.includes('nknown option')) return told;
    this.#isOld = true;
    return this.#plainly(message);
  }

  /** Desktops tell a button only to whoever has shown it, and that one is gone. */
  async renew(message: Message, handle: string): Promise<NotifyResult> {
    if (!/^\d{1,10}$/.test(handle) || !this.#argsOf(message).hasButtons) return { ok: true, handle };
    const told = await this.#show(message, handle);
    return told === 'without stdbuf' ? { ok: false, problem: 'stdbuf is not installed' } : told;
  }

  async withdraw(id: string, handle: string | null): Promise<void> {
    const number = handle === null || !/^\d{1,10}$/.test(handle) ? null : handle;
    if (number !== null && !(await this.#close(number))) await this.#fade(number);
    this.#listening.get(id)?.process.end();
    this.#listening.delete(id);
  }

  close(): void {
    for (const { process } of this.#listening.values()) process.end();
    this.#listening.clear();
  }

  /** What is shown is in the arguments of a process. */
  #argsOf(
    message: Message,
    inPlaceOf: string | null = null,
  ): { readonly args: readonly string[]; readonly hasButtons: boolean } {
    const isWhole = this.#parts.text() === 'ask' && message.body !== '';
    const fits = width(message.body) <= limits.noticeBodyColumnsMax;
    // Nobody should approve what they do not see whole.
    const hasButtons =
      isWhole &&
      fits &&
      this.#hasStdbuf &&
      message.notice?.event === 'waiting_approval' &&
      message.notice.is_whole &&
      message.notice.ask_id !== null;
    const body = isWhole && fits ? message.body : message.plain;
    const buttons = hasButtons ? ['--action=approve=Approve', '--action=reject=Reject'] : [];
    // It was heard once.
    const place = inPlaceOf === null ? [] : [`--replace-id=${inPlaceOf}`, '--hint=boolean:suppress-sound:true'];
    const args = [
      '--app-name=agtmux',
      `--urgency=${message.isUrgent ? 'critical' : 'normal'}`,
      '--print-id',
      ...place,
      ...buttons,
      '--',
      message.title,
      // Desktops read it as markup.
      body.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    ];
    return { args, hasButtons };
  }

  #show(message: Message, inPlaceOf: string | null = null): Promise<NotifyResult | 'without stdbuf'> {
    const { clock, channels, env } = this.#parts;
    const { args, hasButtons } = this.#argsOf(message, inPlaceOf);
    return new Promise((resolve) => {
      let text = '';
      let isSettled = false;
      const settle = (told: NotifyResult | 'without stdbuf'): void => {
        if (isSettled) return;
        isSettled = true;
        cancel();
        resolve(told);
      };
      const onLine = (line: string): void => {
        // A zero is said when no desktop took it; its status tells the rest.
        if (!isSettled && /^[1-9]\d{0,9}$/.test(line)) settle({ ok: true, handle: line });
        else if (isSettled && (line === 'approve' || line === 'reject')) this.#parts.onPress(message.id, line);
      };
      const onData = (bytes: Uint8Array): void => {
        text = `${text}${Buffer.from(bytes).toString()}`.slice(-limits.noticeOutputBytesMax);
        const lines = text.split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) onLine(line.trim());
      };
      const onEnd = (end: ProcessEnd): void => {
        if (this.#listening.get(message.id)?.process === process) this.#listening.delete(message.id);
        if (hasButtons && end.spawnError === 'ENOENT') settle('without stdbuf');
        else settle(end.status === 0 ? { ok: true, handle: null } : { ok: false, problem: problemOf(end) });
      };
      const command = hasButtons
        ? { program: 'stdbuf', args: ['-oL', 'notify-send', ...args] }
        : { program: 'notify-send', args };
      const process = channels.open({ ...command, env }, { onData, onEnd });
      const cancel = clock.after(limits.noticeShowMs, () => {
        settle({ ok: false, problem: 'notify-send did not answer in time' });
        process.end();
      });
      if (hasButtons) this.#listen({ message, process });
    });
  }

  #listen(shown: Shown): void {
    this.#listening.set(shown.message.id, shown);
    const [oldest] = this.#listening.values();
    if (this.#listening.size <= limits.noticeButtonsMax || oldest === undefined) return;
    this.#listening.delete(oldest.message.id);
    oldest.process.end();
  }

  async #plainly(message: Message): Promise<NotifyResult> {
    const args = this.#argsOf(message).args.filter((one) => one !== '--print-id' && !/^--(action|app-name)=/.test(one));
    const problem = await this.#run('notify-send', args);
    return problem === null ? { ok: true, handle: null } : { ok: false, problem };
  }

  /** Asks the desktop itself, which then ends whoever waits for a button. */
  async #close(number: string): Promise<boolean> {
    const name = 'org.freedesktop.Notifications';
    const where = ['--session', `--dest=${name}`, '--object-path=/org/freedesktop/Notifications'];
    return (await this.#run('gdbus', ['call', ...where, `--method=${name}.CloseNotification`, number])) === null;
  }

  /** Without gdbus: something that goes away by itself takes its place. */
  async #fade(number: string): Promise<void> {
    const how = [`--replace-id=${number}`, '--expire-time=1', '--hint=int:transient:1', '--urgency=low'];
    await this.#run('notify-send', ['--app-name=agtmux', ...how, '--', 'agtmux', 'The request was answered.']);
  }

  /** Null when it went well. */
  async #run(program: string, args: readonly string[]): Promise<string | null> {
    const { exec, env } = this.#parts;
    const bounds = { deadlineMs: limits.noticeShowMs, outputBytesMax: limits.noticeOutputBytesMax };
    const end = await exec.run({ program, args, env, ...bounds });
    if (end.timedOut) return `${program} did not answer in time`;
    return end.status === 0 ? null : problemOf(end, program);
  }
}

export function problemOf(
  { spawnError, stderr, status, signal }: Pick<ProcessEnd, 'spawnError' | 'stderr' | 'status' | 'signal'>,
  program = 'notify-send',
): string {
  if (spawnError === 'ENOENT') return `${program} is not installed`;
  if (spawnError !== null) return `${program} could not be started (${spawnError})`;
  // So says stdbuf of what it cannot find.
  if (status === 127) return `${program} is not installed`;
  const said = Buffer.from(stderr).toString().trim().split('\n')[0] ?? '';
  // It may say anything: what it was given, with a token, or a page of it.
  return troubleOf(`${program} failed${said === '' ? ` with ${status ?? signal}` : `: ${said}`}`);
}

// Notifications of macOS by osascript. The script comes on its standard input, so nothing of it stands in its arguments
// (SEC6). Such a notification has no buttons and cannot be taken back; the Notification Centre keeps it.

interface MacParts {
  readonly exec: Exec;
  readonly env: Readonly<Record<string, string>>;
}

export class MacDesktop implements NotificationChannel {
  readonly name = 'desktop';
  readonly #parts: MacParts;

  constructor(parts: MacParts) {
    this.#parts = parts;
  }

  async tell({ title, body, plain }: Message): Promise<NotifyResult> {
    const { exec, env } = this.#parts;
    const text = cut(body === '' ? plain : body, limits.noticeBodyColumnsMax);
    const script = `display notification ${quoted(text)} with title ${quoted(title)}\n`;
    const end = await exec.run({
      program: 'osascript',
      args: ['-'],
      stdin: Buffer.from(script),
      env,
      deadlineMs: limits.noticeShowMs,
      outputBytesMax: limits.noticeOutputBytesMax,
    });
    if (end.timedOut) return { ok: false, problem: 'osascript did not answer in time' };
    return end.status === 0 ? { ok: true, handle: null } : { ok: false, problem: problemOf(end, 'osascript') };
  }

  async withdraw(): Promise<void> {
    // It cannot be done there.
  }

  close(): void {
    // Nothing is left open.
  }
}

/** A string of AppleScript: only these two characters mean something in it, and the gate has let no newline through. */
const quoted = (text: string): string => `"${text.replaceAll(/[\\"]/g, '\\$&').replaceAll(/[\r\n]/g, ' ')}"`;
