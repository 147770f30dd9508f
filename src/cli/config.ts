// `agtmux config`: where the settings are, whether they are right, and what is in force. Needs no daemon.

import { readFileSync } from 'node:fs';
import { AgtmuxError } from '../model/errors.ts';
import { type Config, defaultConfig, readConfig } from '../offline/config.ts';
import { errorCodeOf } from '../platform/files.ts';
import { type Action, configPath, must } from './context.ts';
import { print, printShown } from './output.ts';

/** `config` is null when there is no file: the defaults are in force then. */
export function loadConfig(path: string): Config | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const code = errorCodeOf(cause);
    if (code === 'ENOENT') return null;
    throw new AgtmuxError('E_FILE', `cannot read ${path} (${code ?? 'unknown error'})`, { cause });
  }
  return must(readConfig(text, path));
}

export const configCheck: Action = async () => {
  const path = configPath();
  printShown(loadConfig(path) === null ? `${path}: no such file; the defaults apply` : `${path}: no mistakes`);
};

export const configShow: Action = async (parsed) => {
  const config = loadConfig(configPath()) ?? defaultConfig;
  if (parsed.has('json')) print(JSON.stringify(config));
  else printShown(toml(config));
};

export const configWhere: Action = async () => printShown(configPath());

function toml(config: Config): string {
  return Object.entries(config)
    .map(([section, values]) => {
      const lines = Object.entries(values).map(([name, value]) => `${name} = ${valueText(value)}`);
      return [`[${section}]`, ...lines].join('\n');
    })
    .join('\n\n');
}

/** A table within a section stands in one line. */
function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)} = ${valueText(one)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
