// Where Gemini's hooks are put: an extension folder of our own, which Gemini finds at its next start. Nothing of the user's
// is edited.

import { ownFile } from '../config-text/own-file.ts';
import type { HookInstall, InstallPlace } from '../contract.ts';
import { hooks } from './hooks.ts';

/** In milliseconds, as Gemini counts. */
const timeoutMs = 5_000;

export const folder = ({ home, env }: InstallPlace): string => {
  const moved = env.GEMINI_CLI_HOME;
  return `${moved?.startsWith('/') === true ? moved.replace(/\/+$/, '') : home}/.gemini`;
};

export const install: HookInstall = {
  environment: ['GEMINI_CLI_HOME'],
  folder,
  files: (context) => {
    const place = `${folder(context)}/extensions/agtmux`;
    const entries = hooks.events.map((event) => {
      const handler = { type: 'command', name: 'agtmux', command: context.command(event), timeout: timeoutMs };
      return [event, [{ matcher: '*', hooks: [handler] }]] as const;
    });
    const manifest = { name: 'agtmux', version: '1.0.0' };
    return [
      ownFile(`${place}/gemini-extension.json`, page(manifest), '"agtmux"'),
      ownFile(`${place}/hooks/hooks.json`, page({ hooks: Object.fromEntries(entries) }), 'agtmux-hook'),
    ];
  },
  notes: ['Gemini takes them at its next start', 'while one runs, Gemini shows its name beside the spinner'],
};

const page = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
