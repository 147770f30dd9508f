// Writes the documents that are made from the code: the map of src/ (from layers.json), the reference of config.toml (from its
// schema) and the reference of the commands (from their table). A tidy test fails when one is stale: `make references`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { indexText } from '../corpus/build.ts';
import { readDefinition } from '../src/agents/definition/read.ts';
import { type Definition, definitionSchema } from '../src/agents/definition/schema.ts';
import { type CommandSpec, commands, type OptionSpec } from '../src/cli/commands.ts';
import { configSchema } from '../src/config/config.ts';

const note = '<!-- Written by scripts/references.ts: run `make references` to renew it. -->';
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], body: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => '---')), ...body.map(row)].join('\n');
/** Bars would end a cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

interface Layers {
  readonly about: Readonly<Record<string, string>>;
  readonly layers: Readonly<Record<string, readonly string[]>>;
}

/** src/README.md: one line a folder, in the order in which a fact passes through them. */
export function sourceMap(layersText: string): string {
  const { about, layers } = JSON.parse(layersText) as Layers;
  const missing = Object.keys(layers).filter((name) => !(name in about));
  if (missing.length > 0) throw new Error(`scripts/layers.json: about lacks ${missing.join(', ')}`);
  const lines = Object.entries(about).map(([name, words]) => [`[\`${name}/\`](${name}/)`, words]);
  return `# The folders of src

${note}

The pure core stands first. Then the order is that of the path: what happens in a terminal comes in at the top and reaches a
person at the bottom; what a person does goes back up. Which folder may import which: [ARCHITECTURE](../ARCHITECTURE.md#the-folders-of-src).

${table(['folder', 'what lives there'], lines)}
`;
}

interface Field {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Field;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly additionalProperties?: Field | boolean;
}

function typeText({ type, enum: choices, minimum, maximum, items, additionalProperties: each }: Field): string {
  if (choices !== undefined) return choices.map((choice) => `"${choice}"`).join(', ');
  if (type === 'array') return `list of ${items?.type ?? 'value'}s`;
  if (type === 'object') return `table of ${typeof each === 'object' ? (each.type ?? 'value') : 'value'}s`;
  if (type !== 'number' && type !== 'integer') return type ?? 'any';
  return `${type} from ${minimum} to ${maximum}`;
}

/** One row a setting; a table of tables is shown by what one of them holds. */
function settingRows(field: Field, path: readonly string[]): readonly (readonly string[])[] {
  const name = path.map((part) => (part === '*' ? '<name>' : part)).join('.');
  const usual = field.default === undefined ? 'none' : `\`${JSON.stringify(field.default)}\``;
  const own = [`\`${name}\``, cell(typeText(field)), usual, cell(field.description ?? '')];
  const each = typeof field.additionalProperties === 'object' ? field.additionalProperties : null;
  if (each?.properties !== undefined) return [own, ...settingsOf(each, [...path, '*'])];
  if (field.items?.properties !== undefined) return [own, ...settingsOf(field.items, path)];
  return field.properties === undefined ? [own] : settingsOf(field, path);
}

const settingsOf = (field: Field, path: readonly string[]): readonly (readonly string[])[] =>
  Object.entries(field.properties ?? {}).flatMap(([key, below]) => settingRows(below, [...path, key]));

/** docs/config.md: every key of config.toml with its type, bounds, default and meaning. */
export function configReference(): string {
  const schema = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as Field;
  const rows = settingsOf(schema, []);
  const bare = rows.find(([, , , words]) => words === '');
  if (bare !== undefined) throw new Error(`src/config/config.ts: ${bare[0]} has no description`);
  return `# config.toml

${note}

The daemon reads \`~/.config/agtmux/config.toml\`, or the file that \`AGTMUX_CONFIG\` names; \`agtmux config path\` prints which.
Every key is optional. The daemon follows changes within seconds; the MCP server reads them when it starts. A mistake changes nothing:
\`agtmux config check\` names the line and the key, and the settings before it stay in force. \`agtmux config show\` prints what is in force.
Notifications have [a file of their own](notifications.md#the-file), and so has [the policy](../SECURITY.md#the-policy-file).

${table(['key', 'type', 'default', 'meaning'], rows)}

\`\`\`toml
[states]
completed_seconds = 300

[sessions.agents.mine]
command = ["mine", "--acp"]
model_flag = "--model"

[preset.review]
layout = "tiled"

[[preset.review.agents]]
agent = "claude"
directory = "~/shop"
prompt = "Review the last commit."

[[preset.review.agents]]
agent = "codex"
directory = "~/shop"
worktree = "review/second"
\`\`\`

\`agtmux new --preset review\` starts both, in one window ([Presets](cli.md#presets)).
`;
}

const begin = '<!-- commands: begin; written by scripts/references.ts, run `make references` to renew it -->';
const end = '<!-- commands: end -->';

function optionText({ name, short, value, isValueOptional }: OptionSpec): string {
  const place = value === undefined ? '' : isValueOptional === true ? `[=${value}]` : ` <${value}>`;
  return `\`${short === undefined ? '' : `-${short}, `}--${name}${place}\``;
}

function usageOf(path: string, spec: CommandSpec): string {
  const words = (spec.arguments ?? []).map(({ name, isOptional, isRest, isMany }) => {
    const word = isRest === true || isMany === true ? `${name}...` : name;
    return isOptional === true ? `[${word}]` : `<${word}>`;
  });
  return [path, ...words].join(' ');
}

function commandText(spec: CommandSpec, above: string): readonly string[] {
  const path = `${above} ${spec.name}`;
  const alias = spec.alias === undefined ? '' : ` Also: \`${above} ${spec.alias}\`.`;
  const usual = spec.fallback === undefined ? '' : ` Without a command: \`${path} ${spec.fallback}\`.`;
  const options = (spec.options ?? []).map((option) => [
    cell(optionText(option)),
    cell(option.isRepeatable === true ? `${option.words} (repeatable)` : option.words),
  ]);
  const level = above === 'agtmux' ? '###' : '####';
  return [
    `${level} ${path}`,
    `\`${usageOf(path, spec)}\``,
    `${spec.words}.${usual}${alias}`,
    ...(options.length === 0 ? [] : [table(['option', 'meaning'], options)]),
    ...(spec.commands ?? []).flatMap((below) => commandText(below, path)),
  ];
}

/** The part of docs/cli.md between its two marks: every command with its options, as its help tells them. */
export function commandReference(document: string): string {
  const [start, stop] = [document.indexOf(begin), document.indexOf(end)];
  if (start < 0 || stop < start) throw new Error('docs/cli.md: the marks of the command reference are missing');
  const text = commands.flatMap((spec) => commandText(spec, 'agtmux')).join('\n\n');
  return `${document.slice(0, start)}${begin}\n\n${text}\n\n${document.slice(stop)}`;
}

const root = join(import.meta.dirname, '..');
const agentsFolder = 'src/agents';

/** Names of the folders that hold a definition. */
export const definedNames = (): readonly string[] =>
  readdirSync(join(root, agentsFolder))
    .filter((name) => existsSync(join(root, agentsFolder, name, `${name}.toml`)))
    .sort();

/** src/agents/definitions.json: the definitions of all folders, checked and with their defaults, one a line. */
export function definitionsText(read: (path: string) => string): string {
  const lines = definedNames().map((name) => {
    const path = `${agentsFolder}/${name}/${name}.toml`;
    const definition = readDefinition(read(path), { path, taken: new Set(), base: null });
    if (!definition.ok) throw new Error(definition.failure.message);
    if (definition.value.agent !== name) throw new Error(`${path}: agent must be ${name}`);
    return JSON.stringify(definition.value satisfies Definition);
  });
  return `[\n${lines.join(',\n')}\n]\n`;
}

/** What editors read beside a definition. */
const definitionJsonSchema = (): string =>
  `${JSON.stringify(z.toJSONSchema(definitionSchema, { io: 'input' }), null, 2)}\n`;

const typeOf = (field: Field & { readonly anyOf?: readonly Field[]; readonly const?: unknown }): string => {
  if (field.anyOf !== undefined) return [...new Set(field.anyOf.map((one) => typeOf(one)))].join(' or ');
  if (field.const !== undefined) return `\`${JSON.stringify(field.const)}\``;
  if (field.enum !== undefined) return field.enum.length > 8 ? 'word' : field.enum.join(', ');
  if (field.type === 'array')
    return field.items?.properties === undefined ? `list of ${typeOf(field.items ?? {})}s` : 'tables';
  if (field.type === 'object') return 'table';
  if (field.type === 'integer' || field.type === 'number') return 'number';
  if (field.type === 'boolean') return 'true or false';
  return field.description === 'A regular expression as RE2 takes it.' ? 'pattern' : 'text';
};

/** The words of one table and, after it, those of the tables in it. */
function wordTables(field: Field, path: string): readonly string[] {
  const required: readonly string[] = (field as { required?: readonly string[] }).required ?? [];
  const entries = Object.entries(field.properties ?? {});
  const rows = entries.map(([name, below]) => {
    const usual =
      below.default === undefined
        ? required.includes(name)
          ? 'required'
          : ''
        : `\`${JSON.stringify(below.default)}\``;
    return [`\`${name}\``, cell(typeOf(below)), cell(usual), cell(below.description ?? '')];
  });
  const inner = entries.flatMap(([name, below]) => {
    const each = below.items?.properties === undefined ? below : below.items;
    if (each.properties === undefined || name === 'rules' || name === 'regions') return [];
    return wordTables(each, path === '' ? name : `${path}.${name}`);
  });
  const title = path === '' ? 'The file' : `[${path}]`;
  const words = path === '' ? [] : field.description === undefined ? [] : [field.description];
  return [`### ${title}`, ...words, table(['word', 'what', 'left out', 'meaning'], rows), ...inner];
}

/** docs/definitions.md: the part between its marks, every word with its type and meaning. */
export function definitionReference(document: string): string {
  const [open, close] = [
    '<!-- words: begin; written by scripts/references.ts, run `make references` to renew it -->',
    '<!-- words: end -->',
  ];
  const [start, stop] = [document.indexOf(open), document.indexOf(close)];
  if (start < 0 || stop < start) throw new Error('docs/definitions.md: the marks of the reference are missing');
  const schema = z.toJSONSchema(definitionSchema, { io: 'input' }) as Field;
  return `${document.slice(0, start)}${open}\n\n${wordTables(schema, '').join('\n\n')}\n\n${document.slice(stop)}`;
}

/** Path and text of every document that is made from the code. */
export function references(read: (path: string) => string): ReadonlyMap<string, string> {
  return new Map([
    ['src/README.md', sourceMap(read('scripts/layers.json'))],
    ['docs/config.md', configReference()],
    ['docs/cli.md', commandReference(read('docs/cli.md'))],
    ['docs/definitions.md', definitionReference(read('docs/definitions.md'))],
    ['src/agents/definitions.json', definitionsText(read)],
    ['src/agents/definition/schema.json', definitionJsonSchema()],
    ['corpus/index.jsonl', indexText()],
  ]);
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of references((name) => readFileSync(join(root, name), 'utf8')))
    writeFileSync(join(root, path), text);
}
