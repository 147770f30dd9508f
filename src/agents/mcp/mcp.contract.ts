// The suite that every registration of our MCP server passes: put in twice is put in once, what the user had is byte for byte
// what it was when ours is gone, and an entry that somebody else wrote is left alone.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Agent, InstallFile, McpContext, McpInstall } from '../contract.ts';

export const mcpContext: McpContext = {
  home: '/home/user',
  env: {},
  programPath: '/home/user/.local/state/agtmux/bin/agtmux-mcp',
};

export function mcpSuite({ name, mcp }: Agent): void {
  if (mcp === undefined) return;
  describe(`the MCP registration of ${name}`, () => {
    it('is put in once, and taken out leaves nothing', () => {
      for (const file of mcp.files(mcpContext)) {
        const text = installed(file, null);
        expect(file.isOwn).toBe(false);
        expect(text).toContain(mcpContext.programPath);
        expect(file.install(text)).toEqual({ text });
        expect(file.remove(text)).toEqual({ text: null });
        expect([file.status(null), file.status(''), file.status(text)]).toEqual(['absent', 'absent', 'installed']);
      }
    });

    it('is found again when agtmux kept its things elsewhere, and is then set right', () => {
      const moved = { ...mcpContext, programPath: '/else where/bin/agtmux-mcp' };
      eachPair(mcp, moved, (file, other) => {
        const old = installed(other, null);
        expect(file.status(old)).toBe('partial');
        expect(installed(file, old)).toBe(installed(file, null));
        expect(file.remove(old)).toEqual({ text: null });
      });
    });

    it('what its user added to the entry stays when it is renewed, every other byte too', () => {
      const moved = { ...mcpContext, programPath: '/else where/bin/agtmux-mcp' };
      eachPair(mcp, moved, (file, other) => {
        const old = ownedBy(file.path, installed(other, null), moved.programPath);
        expect(file.status(old)).toBe('partial');
        const renewed = installed(file, old);
        expect(file.status(renewed)).toBe('installed');
        expect(renewed).toBe(old.replace(moved.programPath, mcpContext.programPath));
      });
    });

    it('stays out of an entry of the same name that somebody else wrote', () => {
      const strange = { ...mcpContext, programPath: '/usr/bin/something' };
      eachPair(mcp, strange, (file, other) => {
        const text = installed(other, null);
        const problem = { problem: expect.stringContaining(file.path), next: expect.any(String) };
        expect([file.install(text), file.status(text)]).toEqual([problem, problem]);
        expect(file.remove(text)).toEqual({ text });
      });
    });

    it('leaves what the user has, byte for byte', () => {
      for (const file of mcp.files(mcpContext)) {
        fc.assert(
          fc.property(userTexts(file.path), (before) => {
            const first = file.install(before);
            if (!('text' in first)) return;
            expect(file.status(first.text)).toBe('installed');
            expect(file.install(first.text)).toEqual(first);
            expect(file.remove(first.text)).toEqual({ text: before });
          }),
          { numRuns: 300 },
        );
      }
    });
  });
}

function installed(file: InstallFile, before: string | null): string {
  const done = file.install(before);
  if (!('text' in done)) throw new Error(done.problem);
  return done.text;
}

/** The entry with what people add to it: variables, times, words behind the program, fewer tools, comments. */
function ownedBy(path: string, text: string, program: string): string {
  if (!path.endsWith('.json'))
    return `# mine\n${text}startup_timeout_sec = 20 # slow\nargs = ["--budget-s", "7"]\n\n[mcp_servers.agtmux.env]\nA = "b"\n\n[last]\n`;
  return text
    .replace('"args": []', '"args": ["--budget-s", "7"]')
    .replace('"tools": ["*"]', '"tools": ["shell_run"]')
    .replace('"enabled": true', '"enabled": false')
    .replace(`["${program}"]`, `["${program}", "--budget-s", "7"]`)
    .replace('"agtmux": {', '"agtmux": { "env": { "A": "b" }, // mine\n "timeout": 9,');
}

function eachPair(mcp: McpInstall, context: McpContext, check: (file: InstallFile, other: InstallFile) => void): void {
  const others = mcp.files(context);
  const files = mcp.files(mcpContext);
  expect(files.length).toBeGreaterThan(0);
  files.forEach((file, place) => {
    const other = others[place];
    if (other !== undefined) check(file, other);
  });
}

/** Texts of a user, as far as the name of the file tells what may stand in it. */
function userTexts(path: string): fc.Arbitrary<string> {
  return path.endsWith('.json') ? jsonTexts : tomlTexts;
}

const name = fc.oneof(fc.constantFrom('mcpServers', 'mcp', 'other', 'agtmuxx'), fc.string({ maxLength: 8 }));
const entry = fc.constantFrom({ command: 'x', args: ['y'] }, { url: 'http://localhost' }, {});
const servers = fc.dictionary(fc.constantFrom('one', 'two words', 'agtmux-other'), entry, { maxKeys: 3 });
const member = fc.oneof(servers, fc.jsonValue({ maxDepth: 2 }));
const jsonTexts = fc
  .tuple(fc.dictionary(name, member, { maxKeys: 5 }), fc.constantFrom(0, 2, 4, '\t'), fc.constantFrom('\n', ''))
  .map(([object, space, end]) => `${JSON.stringify(object, null, space)}${end}`);

const line = fc.constantFrom('model = "x"', '# [mcp_servers.agtmux]', '', 'notify = ["say", "[x]"]', 'a.b = 1');
const table = fc.constantFrom(
  '[profiles.x]\nmodel = "y"\n',
  '[mcp_servers.z]\ncommand = "c" # [mcp_servers.agtmux]\n',
  '[mcp_servers.z.env]\nTEXT = """\n[mcp_servers.agtmux]\n"""\n',
  '[[skills]]\nname = "n"\n',
  '[projects."/home/a.b"]\ntrust_level = "trusted"\n\n',
  '[empty]',
);
const tomlTexts = fc
  .tuple(fc.uniqueArray(line, { maxLength: 4 }), fc.uniqueArray(table, { maxLength: 4 }))
  .map(([lines, tables]) => [...lines, ...tables].join('\n'));
