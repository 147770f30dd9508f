// The hours in which nobody wants to be told anything. Pure: minutes of the day, told from outside.

export interface QuietTime {
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
