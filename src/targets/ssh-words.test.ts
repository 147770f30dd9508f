import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { checkHostAlias, type HostAlias } from '../text/quote.ts';
import { ByteBudget } from './byte-budget.ts';
import { configArguments, controlPathOf, exitArguments, masterArguments, sentVariables } from './ssh-arguments.ts';
import { redialWaitMs, sshFailure, sshTroubleOf, sshTroubles } from './ssh-trouble.ts';

function aliasOf(text: string): HostAlias {
  const checked = checkHostAlias(text);
  if (!checked.ok) throw new Error(checked.failure.message);
  return checked.value;
}
const alias = aliasOf('me@vm1');
const way = { alias, configFile: '/etc/my config', controlPath: '/run/a%b/s1.0' };

describe('the command line of ssh', () => {
  it('asks nothing, forwards nothing, and ends its options before the alias', () => {
    const made = masterArguments(way);
    const args = made.ok ? made.value : [];
    for (const option of [
      'BatchMode=yes',
      'ForwardAgent=no',
      'ForwardX11=no',
      'ClearAllForwardings=yes',
      'PermitLocalCommand=no',
      'UpdateHostKeys=no',
      'ServerAliveInterval=5',
      'ServerAliveCountMax=2',
    ]) {
      expect(args[args.indexOf(option) - 1]).toBe('-o');
    }
    expect(args.slice(-3, -1)).toEqual(['--', 'me@vm1']);
    expect(args.slice(0, 2)).toEqual(['-F', '/etc/my config']);
    expect(args[args.indexOf('-S') + 1]).toBe('/run/a%%b/s1.0');
    expect(exitArguments(way).slice(-4)).toEqual(['-O', 'exit', '--', 'me@vm1']);
  });

  it('without another configuration the one of the user is left in force', () => {
    const args = masterArguments({ ...way, configFile: null });
    expect(args.ok && args.value).not.toContain('-F');
    expect(configArguments({ ...way, configFile: null })).toEqual(['-G', '--', 'me@vm1']);
    expect(configArguments(way)).toEqual(['-F', '/etc/my config', '-G', '--', 'me@vm1']);
  });

  it('variables that the configuration sends are sent: by pattern if there are any, by name with their value', () => {
    const told = 'user me\nsendenv LANG\nsendenv LC_*\nsendenv T?\nsetenv A=b=c d\nsetenv LC_ALL=C\n';
    const own = { LANG: 'de', LC_ALL: 'fr', LC_: '1', TX: '2', TXY: '3', XLANG: '4', HOME: '/h' };
    const sent = { LANG: 'de', LC_ALL: 'C', LC_: '1', TX: '2', A: 'b=c d' };
    expect(Object.fromEntries(sentVariables(told, own))).toEqual(sent);
    expect(sentVariables('', own).size).toBe(0);
  });

  it('the control path is short, differs by target, alias and number, and is refused when it cannot be used', () => {
    const path = (directory: string, target = 'vm1', serial = 0) => controlPathOf(directory, target, alias, serial);
    const plain = path('/run/user/1000/agtmux');
    expect(plain.ok && plain.value).toMatch(/^\/run\/user\/1000\/agtmux\/s[0-9a-f]{12}\.0$/);
    expect(path('/run', 'vm2')).not.toEqual(path('/run'));
    expect(path('/run', 'vm1', 1)).not.toEqual(path('/run'));
    expect(path(`/${'x'.repeat(69)}`).ok).toBe(true);
    expect(path(`/${'x'.repeat(71)}`)).toMatchObject({ ok: false, failure: { code: 'E_SOCKET' } });
    expect(path(`/tmp/${'$'}{HOME}`)).toMatchObject({ ok: false, failure: { code: 'E_SOCKET' } });
    expect(path('~/run')).toMatchObject({ ok: false });
  });
});

describe('what ssh says when it gives up', () => {
  it.each([
    ['ssh: Could not resolve hostname x: Name or service not known', 'unknown_host'],
    ['ssh: connect to host x port 22: Connection refused', 'refused'],
    ['ssh: connect to host x port 22: No route to host', 'unreachable'],
    ['ssh: connect to host x port 22: Connection timed out', 'timeout'],
    ['me@x: Permission denied (publickey).', 'auth_failed'],
    ['@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.', 'host_key_changed'],
    ['Host key verification failed.', 'host_key_unknown'],
    ['/x: line 1: Bad configuration option: foo', 'bad_config'],
    ['kex_exchange_identification: Connection closed by remote host', 'closed'],
    ['something new', 'other'],
  ])('%s', (stderr, trouble) => {
    expect(sshTroubleOf(stderr)).toBe(trouble);
  });

  it('becomes one safe line with what to do next', () => {
    const told = sshFailure(alias, 'refused', 'first\n\u001b[31mred\u001b[0m words\r\n\n');
    expect(told).toEqual({
      code: 'E_TARGET_DOWN',
      message: 'me@vm1: the connection was refused (red words)',
      next: 'check that sshd runs there and that the port is right',
    });
  });
});

describe('the budget of a target', () => {
  it('lets a burst of one second pass, then asks to wait as long as the debt takes', () => {
    const clock = createSimulatedClock();
    const budget = new ByteBudget(clock, 1_000);
    expect(budget.take(1_000)).toBe(0);
    expect(budget.take(500)).toBe(500);
    clock.advance(500);
    expect(budget.take(0)).toBe(0);
    clock.advance(60_000);
    expect(budget.take(1_500)).toBe(500);
  });
});

describe('FED4a the wait before a machine is dialled again', () => {
  const minute = 60_000;

  it('never has two attempts within five seconds, whatever went wrong, and always some chance', () => {
    for (const trouble of sshTroubles) {
      for (let failures = 1; failures < 40; failures += 1) {
        for (const attemptMs of [0, 1_000, 10_000, 15_000]) {
          for (const downForMs of [0, 20 * minute]) {
            const past = { trouble, failures, downForMs, attemptMs };
            expect(attemptMs + redialWaitMs(past, 0)).toBeGreaterThanOrEqual(5_000);
            expect(redialWaitMs(past, 0.99)).toBeGreaterThan(redialWaitMs(past, 0));
            expect(redialWaitMs(past, 0.99)).toBeLessThanOrEqual(15 * minute);
          }
        }
      }
    }
  });

  it.each(['auth_failed', 'host_key_changed', 'host_key_unknown'] as const)(
    'stays below five attempts in any ten minutes after %s, for which servers ban',
    (trouble) => {
      const attempts = [0];
      let at = redialWaitMs({ trouble, failures: 0, downForMs: 0, attemptMs: 0 }, 0);
      for (let failures = 1; failures < 30; failures += 1) {
        attempts.push(at);
        at += redialWaitMs({ trouble, failures, downForMs: at, attemptMs: 0 }, 0);
      }
      const refused = attempts.slice(1);
      for (const from of refused) {
        expect(refused.filter((one) => one >= from && one < from + 10 * minute).length).toBeLessThan(5);
      }
    },
  );

  it('has an attempt under way nearly all the time where nobody answers, and slows down after ten minutes', () => {
    const hung = { trouble: 'timeout', failures: 9, attemptMs: 10_000 } as const;
    expect(redialWaitMs({ ...hung, downForMs: minute }, 1)).toBeLessThanOrEqual(500);
    expect(redialWaitMs({ ...hung, downForMs: 11 * minute }, 0)).toBe(30_000);
  });

  it('is short once after a connection that stood was lost', () => {
    const lost = { trouble: 'closed', failures: 0, downForMs: 0, attemptMs: 1e6 } as const;
    expect(redialWaitMs(lost, 0.5)).toBeLessThanOrEqual(500);
    expect(redialWaitMs({ ...lost, failures: 1 }, 0)).toBe(5_000);
  });
});
