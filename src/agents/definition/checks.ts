// What a definition must never say, however well its words are written: that a shell is an agent, that every dialog means
// yes, that a key is pressed which grants for ever.

import { reasonFits } from '../../model/reasons.ts';
import { isRuntimeName } from '../program.ts';
import { isNeverAgent } from '../screen/not-agents.ts';
import { linearPattern } from '../screen/pattern.ts';
import type { RuleFile } from '../screen/rule-file.ts';
import type { DefinitionProblem } from './lines.ts';
import type { Definition } from './schema.ts';

export interface DefinitionPlace {
  /** As messages name it. */
  readonly path: string;
  /** Names of programs that other agents are known by. */
  readonly taken: ReadonlySet<string>;
  /** The built-in definition that this one is laid over; null: it defines a new agent. */
  readonly base: { readonly rules: RuleFile } | null;
}

type Check = (definition: Definition, place: DefinitionPlace) => readonly DefinitionProblem[];

export const problemsOf: Check = (definition, place) =>
  [tables, names, places, measure, promises, answers, drafts, pastes, meanings].flatMap((check) =>
    check(definition, place),
  );

const problem = (
  path: DefinitionProblem['path'],
  word: string | null,
  words: string,
  next: string,
): DefinitionProblem => ({ path, word, words, next });

/** How a built-in agent is recognised and answered was tested as a whole; a part of it changed would be something else. */
const tables: Check = ({ agent, identify, keys, screen, hooks, acp, mcp }, { base }) => {
  if (base === null) {
    if (identify === undefined)
      return [
        problem([], 'agent', `${agent} is not known, and nothing says which processes it is`, 'add a table [identify]'),
      ];
    return screen?.disable === undefined && screen?.replace === undefined
      ? []
      : [problem(['screen'], 'disable', 'there is no built-in definition to leave rules out of', 'leave it out')];
  }
  const closed = { identify, keys, hooks, acp, mcp };
  return Object.entries(closed).flatMap(([name, table]) =>
    table === undefined
      ? []
      : [
          problem(
            [name],
            null,
            `${agent} is built in, and what is built in stays`,
            'lay over [screen] and [run] alone, or define an agent under a name of its own',
          ),
        ],
  );
};

const names: Check = ({ identify }, { taken }) => {
  const check = (field: 'commands' | 'argv0' | 'runtime_names'): readonly DefinitionProblem[] =>
    (identify?.[field] ?? []).flatMap((name, at) => {
      const why = isNeverAgent(name)
        ? 'is a program that is never an agent'
        : taken.has(name)
          ? 'is the name of an agent that agtmux knows'
          : field !== 'runtime_names' && isRuntimeName(name)
            ? 'runs any program'
            : /[\s/]/.test(name)
              ? 'is no name: it holds a blank or a /'
              : null;
      return why === null
        ? []
        : [
            problem(
              ['identify', field, at],
              name,
              `${name} ${why}`,
              'name the agent’s own program, or its folder in places',
            ),
          ];
    });
  return [...check('commands'), ...check('argv0'), ...check('runtime_names')];
};

/** Paths of programs that are certainly something else. */
const others = [
  ...['/usr/bin/bash', '/bin/sh', '/usr/bin/zsh', '/usr/bin/vim', '/usr/bin/node', '/usr/bin/python3', '/usr/bin/ssh'],
  ...['/usr/bin/tmux', '/usr/bin/make', '/home/user/.local/bin/tool', '/usr/lib/node_modules/npm/bin/npm-cli.js'],
  ...['/opt/tool/bin/tool', '/home/user/project/index.js', '/home/user/.npm/_npx/0/node_modules/.bin/tool'],
];

const places: Check = ({ identify }, { taken }) =>
  (identify?.places ?? []).flatMap((source, at) => {
    const pattern = compiled(source);
    const paths = [...others, ...[...taken].map((name) => `/usr/local/bin/${name}`)];
    const hit = pattern === null ? undefined : paths.find((path) => pattern.test(path));
    return hit === undefined
      ? []
      : [problem(['identify', 'places', at], source, `it fits ${hit} too`, 'name a folder that nothing else has')];
  });

const measure: Check = ({ measured, limits, keys }) => {
  const pressed = keys !== undefined && (keys.answer.length > 0 || keys.interrupt !== undefined);
  if (measured.length === 0 && pressed)
    return [
      problem(
        ['keys'],
        null,
        'keys are pressed only for versions whose behaviour was seen',
        'name them in measured, or leave [keys] out',
      ),
    ];
  return measured.length === 0 && limits.length === 0
    ? [problem([], 'agent', 'nothing was measured, and limits does not say so', 'add measured or limits')]
    : [];
};

const promises: Check = ({ never_prompts: isSilent, screen, keys }) => {
  if (!isSilent) return [];
  const asks = (screen?.rules ?? []).findIndex(({ proves }) => proves.state.startsWith('waiting'));
  const next = 'leave out never_prompts, or what contradicts it';
  return [
    ...(asks < 0 ? [] : [problem(['screen', 'rules', asks], null, 'it never asks, and this rule says it does', next)]),
    ...((keys?.answer.length ?? 0) === 0 ? [] : [problem(['keys', 'answer', 0], null, 'it never asks', next)]),
  ];
};

/** As agents word what lasts, what refuses, and what is nobody's business: none of it may be taken for a plain yes. */
const neverOnce = [
  ...['', ' ', 'x', '~', 'No', 'No, and tell it what to do differently', 'Reject', 'Deny', 'Cancel', 'Always allow'],
  ...[
    'Yes, and don’t ask again',
    "Yes, and don't ask again for `rm`",
    'Yes, allow all edits during this session',
    'Quit',
  ],
  ...[
    'Yes, always',
    'Allow for this session',
    'Always allow run commands in this project',
    'Delete everything',
    'Yesterday',
  ],
  ...["Yes, and don't ask again for anything (always-approve mode)", "Continue + don't ask again (shift+tab)", 'Maybe'],
];

const answers: Check = ({ keys }) =>
  (keys?.answer ?? []).flatMap((table, at) => {
    const path = ['keys', 'answer', at] as const;
    const words = [
      ...table.once.map((one, place) => ['once', one, place] as const),
      ...table.no.map((one, place) => ['no', one, place] as const),
    ];
    const loose = words.flatMap(([field, source, place]) =>
      source.startsWith('^')
        ? []
        : [
            problem(
              [...path, field, place],
              source,
              'it must begin with ^',
              'words in the middle of an option may be a stranger’s',
            ),
          ],
    );
    const wide = table.once.flatMap((source, place) => {
      const pattern = compiled(source);
      const hit = pattern === null ? undefined : neverOnce.find((label) => pattern.test(label));
      return hit === undefined
        ? []
        : [
            problem(
              [...path, 'once', place],
              source,
              `it would take "${hit}" for a plain yes`,
              'write the whole option, from ^ to $',
            ),
          ];
    });
    const enters = /Enter|arrows/.test(table.choose) && keys?.never_press.includes('Enter') === true;
    return [
      ...loose,
      ...wide,
      ...(table.once.length > 0 && table.no.length === 0 && table.kinds.some((kind) => kind !== 'question')
        ? [problem([...path], null, 'once without no: a dialog is known by both', 'add the options that refuse')]
        : []),
      ...(enters
        ? [
            problem(
              [...path, 'choose'],
              null,
              'it ends in Enter, which never_press forbids',
              'choose by digit, letter or label',
            ),
          ]
        : []),
    ];
  });

const drafts: Check = ({ keys }) =>
  keys?.draft_returns_on_interrupt === true && (keys.prompt === undefined || keys.clear_prompt === undefined)
    ? [
        problem(
          ['keys', 'draft_returns_on_interrupt'],
          null,
          'it can only be cleared where the prompt is known',
          'add clear_prompt and [keys.prompt]',
        ),
      ]
    : [];

const pastes: Check = ({ keys }) =>
  keys?.paste === 'plain' && keys.prompt === undefined
    ? [
        problem(
          ['keys', 'paste'],
          'plain',
          'without the marks of a paste a message can only be sent off where the prompt is known',
          'add [keys.prompt]',
        ),
      ]
    : [];

const meanings: Check = ({ hooks, never_prompts: isSilent }) =>
  (hooks?.map ?? []).flatMap(({ state, reason }, at) => {
    const path = ['hooks', 'map', at] as const;
    if (isSilent && state?.startsWith('waiting') === true)
      return [
        problem(path, state, 'it never asks, and this event says it does', 'leave out never_prompts, or this event'),
      ];
    if (reason === undefined || (state !== undefined && reasonFits(reason, state))) return [];
    return [
      problem(
        path,
        reason,
        `the reason ${reason} does not go with ${state ?? 'no state'}`,
        'leave out reason for the usual one',
      ),
    ];
  });

function compiled(source: string): ReturnType<typeof linearPattern> | null {
  try {
    return linearPattern(source);
  } catch {
    // Told as a pattern that is none.
    return null;
  }
}
