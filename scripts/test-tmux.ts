// Runs the suites in which the version of tmux matters with one tmux program after the other, and prints a table: version,
// passed, failed, names of failures. The programs stand in the arguments; without any it is the one that is installed.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const reports = join(root, 'coverage');

/** Those whose subject is the tmux server, what its panes show, and what is typed into them. */
const suites = [
  'test/system/tmux/',
  'test/system/process/',
  'test/system/notify/',
  ...['adversary', 'daemon', 'expired', 'fuzz', 'marks', 'pane-writer', 'resume', 'start', 'unsent', 'view-output'].map(
    (name) => `test/system/actions/${name}`,
  ),
  'test/system/tui/board',
  'test/system/tui/live',
  ...['act', 'lists', 'tmux', 'watch'].map((name) => `test/cli/${name}`),
];

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

interface Row {
  readonly version: string;
  readonly passed: number;
  readonly failures: readonly string[];
}

function failuresOf({ testResults }: Report): readonly string[] {
  return testResults.flatMap((file) => {
    const place = file.name.slice(root.length);
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    // A file that could not be loaded has no tests to fail.
    if (failed.length === 0 && file.status === 'failed') return [`${place}: ${file.message.split('\n')[0]}`];
    return failed.map(({ fullName }) => `${place}: ${fullName}`);
  });
}

function run(program: string, files: readonly string[]): Row {
  const version = execFileSync(program, ['-V'], { encoding: 'utf8' })
    .trim()
    .replace(/^tmux /, '');
  const output = join(reports, `tmux-${version}.json`);
  rmSync(output, { force: true });
  const argv = ['vitest', 'run', '--project', 'system', '--reporter=default', '--reporter=json'];
  const env = { ...process.env, AGTMUX_TEST_TMUX: program === 'tmux' ? '' : resolve(program) };
  const ended = spawnSync('sh', ['scripts/run.sh', ...argv, `--outputFile=${output}`, ...files], {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const report = JSON.parse(readFileSync(output, 'utf8')) as Report;
  const failures = failuresOf(report);
  const isUnsaid = ended.status !== 0 && failures.length === 0;
  return { version, passed: report.numPassedTests, failures: isUnsaid ? ['a step outside the tests'] : failures };
}

const separator = process.argv.indexOf('--');
const programs = process.argv.slice(2, separator < 0 ? undefined : separator);
const files = separator < 0 ? suites : process.argv.slice(separator + 1);
mkdirSync(reports, { recursive: true });
const rows = (programs.length === 0 ? ['tmux'] : programs).map((program) => run(program, files));
console.log('\n| tmux | passed | failed | which |\n|---|---|---|---|');
for (const { version, passed, failures } of rows) {
  console.log(`| ${version} | ${passed} | ${failures.length} | ${failures.join('<br>')} |`);
}
process.exitCode = rows.some(({ failures }) => failures.length > 0) ? 1 : 0;
