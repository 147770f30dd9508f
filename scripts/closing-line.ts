// Prints "N passed, N failed" from the report vitest wrote, as the very last line of a test run, and ends with status 1
// unless tests ran and every one of them passed. With --failed the run is known to have failed: then at least one is.
import { readFileSync } from 'node:fs';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

export interface Closing {
  readonly line: string;
  readonly complaint: string | null;
}

/** `report` is null when the run ended before vitest wrote one. */
export function closing(report: Report | null, runFailed: boolean): Closing {
  const passed = report?.numPassedTests ?? 0;
  const skipped = report === null ? 0 : report.numPendingTests + report.numTodoTests;
  // A file that could not be loaded has no tests to fail: it counts as one.
  const unloaded = (report?.testResults ?? []).filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  ).length;
  const counted = (report?.numFailedTests ?? 0) + unloaded;
  const failed = runFailed ? Math.max(counted, 1) : counted;
  const line = `${passed} passed, ${failed} failed`;
  if (failed > 0) return { line, complaint: runFailed && counted === 0 ? 'a step outside the tests failed' : null };
  if (skipped > 0) return { line, complaint: `${skipped} tests were skipped; every test must run` };
  if (passed === 0) return { line, complaint: 'no test ran' };
  return { line, complaint: null };
}

/** Both projects of one run as one report. One that did not get to write its own counts as a failure; none, as none. */
export function together(reports: readonly (Report | null)[]): Report | null {
  const whole = reports.filter((report) => report !== null);
  const sum = (of: (report: Report) => number): number => whole.reduce((total, report) => total + of(report), 0);
  if (whole.length === 0) return null;
  return {
    numPassedTests: sum((report) => report.numPassedTests),
    numFailedTests: sum((report) => report.numFailedTests) + (reports.length - whole.length),
    numPendingTests: sum((report) => report.numPendingTests),
    numTodoTests: sum((report) => report.numTodoTests),
    testResults: whole.flatMap((report) => report.testResults),
  };
}

function readReport(path: string): Report | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch {
    return null;
  }
}

if (process.argv[1] === import.meta.filename) {
  const runFailed = process.argv.includes('--failed');
  const report = together([readReport('coverage/unit.json'), readReport('coverage/system.json')]);
  const end = closing(report, runFailed);
  if (end.complaint !== null) console.error(end.complaint);
  console.log(end.line);
  if (end.complaint !== null || runFailed || report === null || !end.line.endsWith(' 0 failed')) process.exitCode = 1;
}
