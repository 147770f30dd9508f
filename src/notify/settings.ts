// notifications.toml: who is told of what, on which channels, and when not. A file of its own, because agtmux writes it too
// (`agtmux notify`, the web page); config.toml is the user's alone. Pure: text in, settings out.

import { parse, stringify, TomlError } from 'smol-toml';
import { z } from 'zod';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import {
  desktopTexts,
  type NoticeChange,
  type NoticeChannel,
  type NoticeEvent,
  type NoticeScope,
  noticeChannels,
  noticeEvents,
} from '../model/notices.ts';

// The hours in which nobody wants to be told anything. Pure: minutes of the day, told from outside.

interface QuietTime {
  /** Minutes since midnight; `to` is the first minute that is no longer quiet. */
  readonly from: number;
  readonly to: number;
}

const pattern = /^([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-3]):([0-5]\d)$/;

/** Null when it is not a time from and to. The same time twice would mean all day or never, so it is neither. */
export function quietOf(text: string): QuietTime | null {
  const parts = pattern.exec(text)?.slice(1).map(Number);
  if (parts === undefined) return null;
  const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = parts;
  const [from, to] = [fromHour * 60 + fromMinute, toHour * 60 + toMinute];
  return from === to ? null : { from, to };
}

/** Nights go over midnight. */
export function isQuiet({ from, to }: QuietTime, minute: number): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

const events = z.array(z.enum(noticeEvents));
const channels = z.array(z.enum(noticeChannels));
const name = z.string().min(1).max(limits.idCharsMax);
const path = z.string().min(1).max(limits.pathCharsMax);

const settingsSchema = z.strictObject({
  on: events.default([...noticeEvents]),
  /** The browser shows nothing unless a page is open and was allowed to; everything else is chosen. */
  channels: channels.default(['browser']),
  /** `22:00-07:00`, in local time. */
  quiet: z
    .string()
    .refine((text) => quietOf(text) !== null, 'must be a time range such as 22:00-07:00')
    .optional(),
  /** No notice for the pane that an attached client shows. */
  skip_looked_at: z.boolean().default(false),
  desktop_text: z.enum(desktopTexts).default('names'),
  /** A phone shows it while it is locked. */
  push_text: z.enum(desktopTexts).default('names'),
  command: z.strictObject({ argv: z.array(path).min(1).max(limits.filterValuesMax) }).optional(),
  webhook: z
    .strictObject({
      url: z.url({ protocol: /^https?$/ }).max(limits.pathCharsMax),
      headers: z.record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().regex(/^[\t\x20-\x7e]*$/)).default({}),
    })
    .optional(),
  rules: z
    .array(
      z.strictObject({
        agent: name.optional(),
        project: path.optional(),
        on: events.optional(),
        channels: channels.optional(),
      }),
    )
    .max(limits.noticeRulesMax)
    .default([]),
});

export type NoticeSettings = z.infer<typeof settingsSchema>;

export const defaultNoticeSettings: NoticeSettings = settingsSchema.parse({});

export function readNoticeSettings(text: string, where: string): Result<NoticeSettings> {
  try {
    const checked = settingsSchema.safeParse(parse(text));
    if (checked.success) return ok(checked.data);
    const problems = checked.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    return fail('E_CONFIG', `${where}: ${problems.join('; ')}`);
  } catch (problem) {
    if (!(problem instanceof TomlError)) throw problem;
    return fail('E_CONFIG', `${where}, line ${problem.line}: ${problem.message.split('\n')[0]}`);
  }
}

/** In the first line of a file that was not there before: `agtmux uninstall` takes such a one away. */
const madeHere = '# Made by agtmux.\n';

const head = `# Notification settings. \`agtmux notify\` and the web page rewrite this file when a setting is
# changed there, and your comments are lost then. Reference: docs/notifications.md
`;

/** `before` is what the file holds now; null when there is none. */
export function writeNoticeSettings(settings: NoticeSettings, before: string | null = null): string {
  const isOurs = before === null || before.startsWith(madeHere);
  return `${isOurs ? madeHere : ''}${head}\n${stringify(settings)}`;
}

/** What was asked for, on top of what is in force. A setting of `null` is taken out. */
export function changedSettings(settings: NoticeSettings, change: NoticeChange): Result<NoticeSettings> {
  const { quiet, ...rest } = settings;
  const channels = change.channels ?? settings.channels;
  const wanted = change.quiet === undefined ? quiet : (change.quiet ?? undefined);
  const checked = settingsSchema.safeParse({
    ...rest,
    ...(wanted === undefined ? {} : { quiet: wanted }),
    on: [...(change.on ?? settings.on)],
    channels: [...new Set([...channels, ...(change.turn_on ?? [])])].filter((one) => !change.turn_off?.includes(one)),
    skip_looked_at: change.skip_looked_at ?? settings.skip_looked_at,
    desktop_text: change.desktop_text ?? settings.desktop_text,
    push_text: change.push_text ?? settings.push_text,
  });
  if (checked.success) return ok(checked.data);
  const [issue] = checked.error.issues;
  return fail('E_FILTER', `${issue?.path.join('.') ?? 'it'} ${issue?.message ?? 'is not valid'}`);
}

export interface NoticeSubject {
  readonly event: NoticeEvent;
  readonly agent: string;
  readonly cwd: string;
}

/** On which channels this is told; null when it is not told at all. The first rule that fits says what it says. */
export function channelsFor(
  settings: NoticeSettings,
  { event, agent, cwd }: NoticeSubject,
  home: string,
): readonly NoticeChannel[] | null {
  const rule = settings.rules.find((one) =>
    fits({ agent: one.agent ?? null, project: one.project ?? null }, agent, cwd, home),
  );
  const on = rule?.on ?? settings.on;
  return on.includes(event) ? (rule?.channels ?? settings.channels) : null;
}

/** A project is a folder and everything below it, or the bare name of a folder. */
export function fits({ agent, project }: NoticeScope, name: string, cwd: string, home: string): boolean {
  if (agent !== null && agent !== name) return false;
  if (project === null) return true;
  const folder = project.replace(/^~(?=\/|$)/, home).replace(/(?<=.)\/+$/, '');
  if (!folder.includes('/')) return cwd.split('/').includes(folder);
  return cwd === folder || cwd.startsWith(folder === '/' ? '/' : `${folder}/`);
}
