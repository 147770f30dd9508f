// The table of the proof: what is promised, how often it is tried, which command tries it, and the planted bugs that it has to
// find. Nothing is carried out here.

/** A change to a copy of the sources: someone's plausible mistake. */
export interface Edit {
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface PlantedBug {
  readonly words: string;
  readonly edits: readonly Edit[];
  /** How many tries it is given to be found. */
  readonly count: number;
}

interface Ordered {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Suite {
  readonly name: string;
  /** What must hold, as a sentence for people. */
  readonly promise: string;
  /** What is counted: `kills`. */
  readonly unit: string;
  readonly promised: number;
  /** Tries in one piece: some minutes. */
  readonly piece: number;
  /** Tries of the run that takes five minutes with all the others. */
  readonly quick: number;
  /** How to try `count` times what was not tried in the `before` tries of earlier pieces. */
  readonly order: (count: number, before: number) => Ordered;
  /** How many were tried, where the output knows better than the order. */
  readonly counted?: RegExp;
  /** Longer than this is a failure. */
  readonly minutesMax: number;
  /** Needs the bundle. */
  readonly isBuilt?: boolean;
  /** The suite plants its own, and this is the command that does. */
  readonly plantsItself?: Ordered;
  readonly planted: readonly PlantedBug[];
}

const node = (file: string, ...args: readonly string[]): readonly string[] => ['node', file, ...args];

/** One test, or one file, of the system suites; COUNT says how often, SEED where chance begins. */
const suite =
  (file: string, title?: string) =>
  (count: number, before: number): Ordered => ({
    argv: ['vitest', 'run', '--project', 'system', file, ...(title === undefined ? [] : ['-t', title])],
    env: { COUNT: String(count), SEED: String(1_000 + before) },
  });

const sim =
  (...options: readonly string[]) =>
  (count: number, before: number): Ordered => ({
    argv: node('test/sim/main.ts', ...options, '--seeds', String(count), '--from', String(before + 1)),
  });

export const suites: readonly Suite[] = [
  {
    name: 'schedules',
    promise:
      'The same events in any order, doubled, restamped, in any batches, with crashes between, give the same states',
    unit: 'schedules',
    promised: 1_000_000,
    piece: 20_000,
    quick: 2_000,
    // Two of each seed.
    order: (count, before) => sim()(Math.ceil(count / 2), Math.ceil(before / 2)),
    counted: /(\d+) schedules/,
    minutesMax: 30,
    plantsItself: { argv: node('test/sim/main.ts', '--mutants', '--seeds', '20000') },
    planted: [],
  },
  {
    name: 'clocks',
    promise: 'Clocks that are set, drift, sleep or change their zone change no state',
    unit: 'scripts of clocks',
    promised: 10_000,
    piece: 5_000,
    quick: 300,
    order: sim('--clocks'),
    minutesMax: 30,
    plantsItself: { argv: node('test/sim/main.ts', '--mutants', '--clocks', '--seeds', '20000') },
    planted: [],
  },
  {
    name: 'log-kills',
    promise: 'kill -9 while the log is written loses nothing that was acknowledged, and halves nothing',
    unit: 'kills',
    promised: 1_000,
    piece: 100,
    quick: 5,
    order: suite('test/fault/kill.test.ts', 'while committing'),
    minutesMax: 20,
    planted: [
      {
        words: 'a commit is acknowledged before it is on disk',
        count: 10,
        edits: [
          {
            file: 'src/store/database.ts',
            find: "this.connection.exec('BEGIN IMMEDIATE');",
            replace: "if (!this.connection.isTransaction) this.connection.exec('BEGIN IMMEDIATE');",
          },
          {
            file: 'src/store/database.ts',
            find: "this.connection.exec('COMMIT');",
            replace: "if (head.commits % 4 === 0) this.connection.exec('COMMIT');",
          },
        ],
      },
    ],
  },
  {
    name: 'damages',
    promise: 'A damaged file of the log is noticed and set aside, and nothing it says is believed',
    unit: 'damages',
    promised: 1_000,
    piece: 200,
    quick: 30,
    order: suite('test/fault/damage.test.ts', 'is without effect'),
    minutesMax: 20,
    planted: [
      {
        words: 'the checksum of a row is taken from the row and not from its content',
        count: 200,
        edits: [
          { file: 'src/store/row.ts', find: 'const crc = eventCrc(row);', replace: 'const crc = row[14] as number;' },
        ],
      },
    ],
  },
  {
    name: 'full-disks',
    promise: 'A full disk is survived: what is known is served, writes go on once there is room',
    unit: 'fillings',
    promised: 50,
    piece: 10,
    quick: 1,
    order: suite('test/fault/disk-full.test.ts'),
    minutesMax: 20,
    planted: [
      {
        words: 'the ballast is not given up',
        count: 1,
        edits: [
          {
            file: 'src/store/ballast.ts',
            find: 'free(): number {',
            replace: 'free(): number {\n    if (Date.now() > 0) return 0;',
          },
        ],
      },
    ],
  },
  {
    name: 'double-starts',
    promise: 'Of many daemons that start at once exactly one serves, and a kill -9 frees its place',
    unit: 'rounds',
    promised: 100,
    piece: 25,
    quick: 2,
    order: suite('test/fault/lock.test.ts', 'lets exactly one'),
    minutesMax: 20,
    planted: [
      {
        words: 'neither the lock nor the log is held alone',
        count: 3,
        edits: [
          { file: 'src/store/lock.ts', find: "'BEGIN EXCLUSIVE'", replace: "'BEGIN'" },
          { file: 'src/store/database.ts', find: 'PRAGMA locking_mode = EXCLUSIVE;', replace: '' },
        ],
      },
    ],
  },
  {
    name: 'tmux-killed',
    promise:
      'A tmux server that is killed and comes back with the same pane ids is another one, and the list agrees with it',
    unit: 'restarts',
    promised: 200,
    piece: 50,
    quick: 4,
    order: suite('test/system/daemon/faults.test.ts', 'IDN2'),
    minutesMax: 20,
    planted: [],
  },
  {
    name: 'sends',
    promise: 'A message or an answer among adversaries reaches the agent that was shown, or nobody',
    unit: 'sends, and a fifth as many approvals',
    promised: 10_000,
    piece: 500,
    quick: 60,
    order: suite('test/system/actions/adversary.test.ts'),
    minutesMax: 30,
    planted: [
      {
        words: 'the guard asks neither for the process of the pane nor for its command',
        count: 300,
        edits: [
          {
            file: 'src/terminals/tmux/guard-format.ts',
            find: "    equals('pane_pid', String(place.panePid)),\n    equals('pane_current_command', place.command),\n",
            replace: '',
          },
        ],
      },
    ],
  },
  {
    name: 'foreign-text',
    promise: 'Nothing that a program prints has an effect on the terminal it is shown in',
    unit: 'fuzzed texts',
    promised: 1_000_000,
    piece: 50_000,
    quick: 3_000,
    order: suite('test/security/sanitize.test.ts', 'no input has an effect'),
    minutesMax: 30,
    planted: [
      {
        words: 'the 8-bit form of an operating system command is taken for text',
        count: 3_000,
        edits: [
          { file: 'src/text/sanitize.ts', find: 'if (code >= 0x80 && code <= 0x9f)', replace: 'if (code === 0x9b)' },
        ],
      },
    ],
  },
  {
    name: 'web-requests',
    promise: 'No request of a foreign page, with a stolen piece or from a strange client is let in',
    unit: 'requests',
    promised: 10_000,
    piece: 10_000,
    quick: 1_000,
    order: suite('test/system/web/hostile.test.ts', 'none of the product'),
    counted: /hostile requests: (\d+)/,
    minutesMax: 20,
    planted: [
      {
        words: 'the Origin of a request is not looked at',
        count: 1_000,
        edits: [{ file: 'src/server/web/admission.ts', find: '    checkOrigin(knock) ??\n', replace: '' }],
      },
    ],
  },
];
