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
  /** Tries of the run that takes five minutes with all the others; 0 leaves it out there. */
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
    // The time of a test is for the few tries it makes by itself; a piece has a limit of its own.
    argv: [
      'vitest',
      'run',
      '--project',
      'system',
      '--testTimeout',
      '3600000',
      file,
      ...(title === undefined ? [] : ['-t', title]),
    ],
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
    piece: 20,
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
    name: 'kills-under-load',
    promise:
      'kill -9 of the daemon (as the kernel kills it when memory runs out) among messages, waiting messages, shells and hook calls: nothing acknowledged is lost, nothing doubled',
    unit: 'kills',
    promised: 1_000,
    piece: 25,
    quick: 2,
    order: suite('test/fault/load-kill.test.ts'),
    minutesMax: 30,
    planted: [
      {
        words: 'a waiting message is acknowledged before it is on disk',
        count: 3,
        edits: [{ file: 'src/actions/sending.ts', find: '    await save();\n', replace: '' }],
      },
    ],
  },
  {
    name: 'session-kills',
    promise: 'kill -9 around a message to a managed session: it is said once, or shown as not said',
    unit: 'kills',
    promised: 200,
    piece: 20,
    quick: 3,
    order: suite('test/system/sessions/crash-sends.test.ts'),
    minutesMax: 30,
    planted: [
      {
        words: 'a message that waits for a session is accepted before it is on disk',
        count: 20,
        edits: [
          {
            file: 'src/sessions/running.ts',
            find: 'const problem = await this.#kept.keep({ ...this.#record, queue });',
            replace: 'const problem = null;',
          },
        ],
      },
    ],
  },
  {
    name: 'shell-kills',
    promise: 'kill -9 of the daemon and its group while twenty shells run loses no shell, no status and no line',
    unit: 'kills',
    promised: 200,
    piece: 20,
    quick: 2,
    order: suite('test/system/shells/crash.test.ts', 'loses no shell'),
    minutesMax: 30,
    planted: [
      {
        words: 'the holder of a shell notes another status',
        count: 2,
        edits: [{ file: 'bin/agtmux-shell', find: 'echo "exit $status" >>', replace: 'echo "exit 0" >>' }],
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
    planted: [
      {
        words: 'a server that is gone keeps its panes',
        count: 2,
        edits: [
          {
            file: 'src/observe/tmux-observer.ts',
            find: "    this.#topology = null;\n    this.#shape = '';\n",
            replace: "    this.#shape = '';\n",
          },
        ],
      },
    ],
  },
  {
    name: 'descriptors-and-disks',
    promise: 'A daemon that may open nothing any more lives on; one that may write nothing says so and leaves',
    unit: 'rounds of both',
    promised: 100,
    piece: 10,
    quick: 1,
    order: suite('test/fault/daemon-faults.test.ts'),
    minutesMax: 20,
    planted: [
      {
        words: 'a program that cannot be started ends the daemon',
        count: 2,
        edits: [
          {
            file: 'src/platform/exec.ts',
            find: "  child.on('error', (error) => finish(false, errorCodeOf(error) ?? 'EUNKNOWN'));\n",
            replace: '',
          },
        ],
      },
    ],
  },
  {
    name: 'stalls',
    promise:
      'A daemon that is stopped and goes on (SIGSTOP, as a sleeping machine) sees within a second what it missed',
    unit: 'stalls',
    promised: 100,
    piece: 20,
    quick: 20,
    // With a number of its own it takes fifty agents and stalls of ten seconds.
    order: (count, before) => {
      const { argv, env } = suite('test/system/daemon/stall.test.ts')(count, before);
      return { argv, env: count > 20 ? { ...env } : {} };
    },
    minutesMax: 30,
    planted: [
      {
        words: 'what was printed in the second of the last look is not looked at again',
        count: 20,
        edits: [
          {
            file: 'src/terminals/tmux/sweep-state.ts',
            find: ' || !last.isSettled',
            replace: '',
          },
        ],
      },
    ],
  },
  {
    name: 'spool-floods',
    promise:
      'A million hook calls that wait are taken in bounded pieces, each once, and hooks are told to stop meanwhile',
    unit: 'files',
    promised: 1_000_000,
    piece: 250_000,
    quick: 55_000,
    order: suite('test/system/spool/hook.test.ts', 'a flood is taken'),
    minutesMax: 40,
    planted: [
      {
        words: 'hooks are not told that the spool is full',
        count: 55_000,
        edits: [
          {
            file: 'src/sources/spool/spool.ts',
            find: 'if (more && !isTold) await files.append',
            replace: 'if (more && isTold) await files.append',
          },
        ],
      },
    ],
  },
  {
    name: 'ssh-faults',
    promise:
      'A connection that is killed on either side, half open, or never answered ends with its reason in time and holds up no other machine',
    unit: 'faults',
    promised: 300,
    piece: 5,
    quick: 5,
    order: suite('test/system/targets/ssh.test.ts', 'a connection that is lost'),
    counted: /Tests +(\d+) passed/,
    minutesMax: 20,
    planted: [
      {
        words: 'a program on another machine has a minute more than its deadline',
        count: 5,
        edits: [
          {
            file: 'src/targets/ssh.ts',
            find: 'const deadlineMs = Math.max(dueMs - clock.monotonicMs(), 1);',
            replace: 'const deadlineMs = dueMs - clock.monotonicMs() + 60_000;',
          },
        ],
      },
    ],
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
    name: 'messages',
    promise:
      'A message arrives byte for byte as one message, or is refused; none of it runs, none of it stands in an argument',
    unit: 'fuzzed messages',
    promised: 10_000,
    piece: 1_000,
    quick: 100,
    order: suite('test/system/actions/fuzz.test.ts'),
    minutesMax: 30,
    planted: [
      {
        words: 'the escape character is let through',
        count: 300,
        edits: [
          {
            file: 'src/actions/message-text.ts',
            find: '/(?![\\n\\t])\\p{Cc}/gu',
            replace: '/(?![\\n\\t\\u001b])\\p{Cc}/gu',
          },
        ],
      },
    ],
  },
  {
    name: 'self-approvals',
    promise: 'No agent answers its own question or writes to itself, by any way there is a name for',
    unit: 'tries',
    promised: 1_000,
    piece: 100,
    quick: 20,
    order: suite('test/system/actions/self.test.ts', 'neither answers its own asks'),
    minutesMax: 30,
    isBuilt: true,
    planted: [
      {
        words: 'an agent above the one that asks is not recognised as itself',
        count: 40,
        edits: [
          {
            file: 'src/auth/policy.ts',
            find: 'caller.above.includes(runtime)',
            replace: 'caller.above.length < 0',
          },
        ],
      },
    ],
  },
  {
    name: 'fuzzed-screens',
    promise: 'No screen makes a reader of any agent fail, or takes it more than 50 ms',
    unit: 'screens',
    promised: 200_000,
    piece: 20_000,
    quick: 400,
    order: suite('test/fault/readers.test.ts'),
    minutesMax: 30,
    planted: [
      {
        words: 'a line with half a character is too much for a reader',
        count: 2_000,
        edits: [
          {
            file: 'src/agents/screen/regions.ts',
            find: '  return line.slice(start, end);',
            replace: '  return decodeURIComponent(encodeURIComponent(line.slice(start, end)));',
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
          { file: 'src/text/sanitize.ts', find: '(code >= deleted && code <= 0x9f)', replace: 'code === deleted' },
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
        edits: [
          {
            file: 'src/server/web/admission.ts',
            find: '    checkOrigin(knock, isProxied',
            replace: '    (() => null)(knock, isProxied',
          },
        ],
      },
    ],
  },
  {
    name: 'soak',
    promise:
      'Sixty panes whose agents come and go, a board, a page and a live terminal: memory, descriptors, files, CPU and disk stay flat',
    unit: 'minutes',
    promised: 120,
    piece: 120,
    // Nothing can be said of what grows after so short a time.
    quick: 0,
    order: (count) => ({ argv: node('bench/main.ts', 'soak'), env: { MINUTES: String(count) } }),
    minutesMax: 150,
    isBuilt: true,
    planted: [],
  },
];
