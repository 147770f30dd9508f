// When a usage limit resets, out of the words in which agents say it: a clock time, a date, a time from now, or seconds since
// 1970. Pure: told the moment at which the words were said and the time zone of whoever said them.

/** ms since 1970; null where the words name no moment. `zone` is a name of the IANA, used where the words name none. */
export function resetTimeIn(words: string, saidAtMs: number, zone: string): number | null {
  const text = words.replace(/\s+/g, ' ');
  const seconds = /\|(\d{10})\b/.exec(text)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1_000;
  const place = zoneIn(text) ?? zone;
  for (const [, said = ''] of text.matchAll(resetWords)) {
    const found = fromNow(said, saidAtMs) ?? atClock(said, saidAtMs, place);
    if (found !== null) return found;
  }
  return null;
}

/** What stands behind one of these is when; before it stand numbers that mean something else. */
const resetWords =
  /\b(?:resets?|reset(?:ting)?|try again|retry|available again|renews?)\b[:\s]*((?:at|in|on|after)?\b.{0,60})/gi;

const unitMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** `in 4 days 20 hours`, `after 11h32m10s`. */
function fromNow(said: string, saidAtMs: number): number | null {
  const rest = /^(?:in|after) (.*)$/i.exec(said.trim())?.[1];
  if (rest === undefined) return null;
  const part = /^[\s,]*(?:and )?(\d{1,4}) ?(days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])/i;
  let sumMs = 0;
  let left = rest;
  for (let found = part.exec(left); found !== null; found = part.exec(left)) {
    sumMs += Number(found[1]) * (unitMs[(found[2] ?? '').charAt(0).toLowerCase()] ?? 0);
    left = left.slice(found[0].length);
  }
  return sumMs === 0 ? null : saidAtMs + sumMs;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const clock = /\b(\d{1,2})(?::(\d{2}))?(?::\d{2})? ?([ap])\.?m\b|\b([01]?\d|2[0-3]):([0-5]\d)\b/i;
const date = new RegExp(`\\b(${months.join('|')})[a-z]*\\.? (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?(?![\\d:])`, 'i');
const weekday = new RegExp(`\\b(${weekdays.join('|')})[a-z]*\\b`, 'i');

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

interface Minute {
  readonly hour: number;
  readonly minute: number;
}

function atClock(said: string, saidAtMs: number, zone: string): number | null {
  const time = minuteIn(said);
  if (time === null) return null;
  const today = dayAt(saidAtMs, zone);
  const dated = date.exec(said);
  if (dated !== null) return atDate(dated, time, saidAtMs, zone);
  const named = weekday.exec(said)?.[1]?.toLowerCase();
  if (named !== undefined) {
    const ahead = (weekdays.indexOf(named) - new Date(utc(today)).getUTCDay() + 7) % 7;
    const next = atLocal(addDays(today, ahead), time, zone);
    return next >= saidAtMs - hourMs ? next : atLocal(addDays(today, ahead + 7), time, zone);
  }
  // A clock time alone is near: what a screen still shows after it has passed is past, and not of tomorrow.
  const around = [-1, 0, 1].map((days) => atLocal(addDays(today, days), time, zone));
  return around.toSorted((one, other) => Math.abs(one - saidAtMs) - Math.abs(other - saidAtMs))[0] ?? null;
}

const hourMs = 3_600_000;

function minuteIn(said: string): Minute | null {
  const found = clock.exec(said);
  if (found === null) return null;
  const [, twelve, minutes = '0', half, hours, of] = found;
  if (twelve === undefined) return { hour: Number(hours), minute: Number(of) };
  const hour = Number(twelve);
  if (hour < 1 || hour > 12 || Number(minutes) > 59) return null;
  return { hour: (hour % 12) + (half?.toLowerCase() === 'p' ? 12 : 0), minute: Number(minutes) };
}

/** Without its year it is the one that is nearest. */
function atDate(dated: RegExpExecArray, time: Minute, saidAtMs: number, zone: string): number | null {
  const [, name = '', day, year] = dated;
  const month = months.indexOf(name.toLowerCase().slice(0, 3)) + 1;
  const years = year === undefined ? [-1, 0, 1].map((more) => dayAt(saidAtMs, zone).year + more) : [Number(year)];
  const moments = years.map((one) => atLocal({ year: one, month, day: Number(day) }, time, zone));
  return moments.toSorted((one, other) => Math.abs(one - saidAtMs) - Math.abs(other - saidAtMs))[0] ?? null;
}

const utc = ({ year, month, day }: Day): number => Date.UTC(year, month - 1, day);

function addDays(day: Day, count: number): Day {
  const moved = new Date(utc(day) + count * 86_400_000);
  return { year: moved.getUTCFullYear(), month: moved.getUTCMonth() + 1, day: moved.getUTCDate() };
}

function dayAt(ms: number, zone: string): Day {
  const local = new Date(ms + offsetMs(ms, zone));
  return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate() };
}

/** Of a time that comes twice when clocks are set back it is the first; one that is left out is as much later. */
function atLocal(day: Day, { hour, minute }: Minute, zone: string): number {
  const wall = utc(day) + hour * hourMs + minute * 60_000;
  const before = wall - offsetMs(wall - 86_400_000, zone);
  const after = wall - offsetMs(wall + 86_400_000, zone);
  const fits = [before, after].filter((ms) => ms + offsetMs(ms, zone) === wall);
  return fits.length === 0 ? before : Math.min(...fits);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...numeric, second: 'numeric' });
  formats.set(zone, made);
  return made;
}

/** How far the clocks of a zone are ahead of UTC at this moment. */
function offsetMs(ms: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1_000) * 1_000;
}

/** Names that people use, and the place whose clocks they mean. */
const nicknames: Readonly<Record<string, string>> = {
  UTC: 'UTC',
  GMT: 'UTC',
  PST: 'America/Los_Angeles',
  PDT: 'America/Los_Angeles',
  MST: 'America/Denver',
  MDT: 'America/Denver',
  CST: 'America/Chicago',
  CDT: 'America/Chicago',
  EST: 'America/New_York',
  EDT: 'America/New_York',
  CET: 'Europe/Berlin',
  CEST: 'Europe/Berlin',
};

/** Null where none is named, or one that this system does not know. */
function zoneIn(text: string): string | null {
  const place = /\(([A-Z][A-Za-z_]+(?:\/[A-Za-z_+-]+){1,2})\)/.exec(text)?.[1];
  if (place !== undefined && isZone(place)) return place;
  const nickname = /\b(UTC|GMT|[PMCE][SD]T|CES?T)\b/.exec(text)?.[1];
  return nickname === undefined ? null : (nicknames[nickname] ?? null);
}

function isZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}
