// The command line: finds the command, runs it, prints one line for a failure, and ends with its exit code. Commands are
// loaded only when they are asked for.

import manifest from '../../package.json' with { type: 'json' };
import { AgtmuxError, errors, type Failure, failure } from '../model/errors.ts';
import { foreign, gateLine } from '../text/gate.ts';

const help = `agtmux ${manifest.version}: the true state of every coding agent, or honestly unknown

Usage: agtmux <command> [options]

Commands:
  replay FILE        take recorded events, one JSON envelope a line, and show the states that follow
                     (FILE - reads standard input; --json prints one object; --verdicts lists every line)

Options:
  -h, --help         this text
  -V, --version      the version

Examples:
  agtmux replay docs/examples/first-day.jsonl
  agtmux replay --json day.jsonl | jq '.items[] | select(.state == "waiting_approval")'
`;

async function run(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args;
  switch (command) {
    case undefined:
    case 'help':
    case '-h':
    case '--help':
      process.stdout.write(help);
      return;
    case '-V':
    case '--version':
      process.stdout.write(`${manifest.version}\n`);
      return;
    case 'replay': {
      const { replay } = await import('./replay.ts');
      return replay(rest);
    }
    default:
      throw new AgtmuxError('E_USAGE', `there is no command "${gateLine(foreign(command))}"`);
  }
}

function report(problem: Failure): void {
  process.stderr.write(`agtmux: ${problem.message}; ${problem.next} [${problem.code}]\n`);
  process.exitCode = errors[problem.code].exit;
}

function asFailure(problem: unknown): Failure {
  if (problem instanceof AgtmuxError) return failure(problem.code, problem.message, problem.next);
  return failure('E_INTERNAL', problem instanceof Error ? (problem.stack ?? problem.message) : String(problem));
}

// A reader that goes away (`| head`) is not a failure.
process.stdout.on('error', (problem: NodeJS.ErrnoException) => {
  if (problem.code === 'EPIPE') process.exit(0);
  throw problem;
});

await run(process.argv.slice(2)).catch((problem: unknown) => report(asFailure(problem)));
