// Where Gemini's hooks are put: an extension folder of our own, which Gemini finds at its next start. What somebody else put
// into it stays.

import { jsonHooksFile } from '../config-text/json-hooks.ts';
import { isProblem, readJson } from '../config-text/json-text.ts';
import { isObject, jsonOf } from '../config-text/json-user.ts';
import { isOurCommand, ownFile } from '../config-text/own-file.ts';
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
    return [
      ownFile(`${place}/gemini-extension.json`, `${JSON.stringify(manifest, null, 2)}\n`, isManifest),
      jsonHooksFile({
        path: `${place}/hooks/hooks.json`,
        events: hooks.events,
        entry: (event) => ({
          matcher: '*',
          hooks: [{ type: 'command', name: 'agtmux', command: context.command(event), timeout: timeoutMs }],
        }),
        isOurs: (command) => isOurCommand(context, command),
      }),
    ];
  },
  notes: ['Gemini loads them at its next start', 'while one runs, Gemini shows its name beside the spinner'],
};

const manifest = { name: 'agtmux', version: '1.0.0' };

/** Of any version: our name and a version, and nothing that somebody added. */
function isManifest(text: string): boolean {
  const root = readJson(text);
  const held = isProblem(root) || text.includes('//') || text.includes('/*') ? null : jsonOf(root);
  return held !== null && isObject(held) && held.name === manifest.name && Object.keys(held).join() === 'name,version';
}
