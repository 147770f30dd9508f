// Notifications of the browser: shown once each, taken back when the ask was answered elsewhere, and a press leads to the
// agent. Only where the person has allowed them.

import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { keep, kept, onKept } from './port.ts';
import { isPushed } from './push.ts';
import { go } from './state/hooks.ts';
import { planNotices } from './state/notices.ts';
import { pathOf } from './state/route.ts';
import { current, subscribe } from './state/store.ts';

const rememberedMax = 200;
/** Seen when the first one should have been shown. */
let isRefused = false;
const standing = new Map<string, Notification>();

const remembered = (): readonly string[] => (kept('notices') ?? '').split(' ').filter((id) => id !== '');

const isAllowed = (): boolean => permission() === 'granted';

function look(): void {
  const { notices } = current();
  const { show, close } = planNotices(notices, new Set(remembered()), new Set(standing.keys()));
  for (const id of close) {
    standing.get(id)?.close();
    standing.delete(id);
  }
  // The service worker shows the same ones.
  if (!isAllowed() || isPushed() || kept('notifications') === 'off') return;
  for (const { notice_id, title, body, runtime_id } of show) {
    keep('notices', [...remembered(), notice_id].slice(-rememberedMax).join(' '));
    const notification = shownAs(title, body, notice_id);
    if (notification === null) return;
    notification.onclick = () => {
      window.focus();
      go(pathOf('agents', runtime_id));
      notification.close();
    };
    standing.set(notice_id, notification);
  }
}

/** Null: phones allow them to a page and then refuse to show one. */
function shownAs(title: string, body: string, tag: string): Notification | null {
  try {
    const words = { body: sanitizeLine(foreign(body)), tag, icon: '/icon-192.png' };
    return new Notification(sanitizeLine(foreign(title)), words);
  } catch {
    isRefused = true;
    return null;
  }
}

export function startNotifying(): void {
  subscribe(look);
  onKept((name) => {
    if (name === 'notifications') look();
  });
}

/** `unsupported` where the browser has none: then the desktop channel of the daemon remains. */
export const permission = (): NotificationPermission | 'unsupported' =>
  'Notification' in window && !isRefused ? Notification.permission : 'unsupported';

export async function askPermission(): Promise<NotificationPermission | 'unsupported'> {
  return 'Notification' in window ? await Notification.requestPermission() : 'unsupported';
}
