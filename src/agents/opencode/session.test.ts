import { describe, expect, it } from 'vitest';
import { sessions as kilo } from '../kilo/session.ts';
import { sessions as opencode } from './session.ts';

const wish = { cwd: '/w', model: null, auto_approve: false, resume: null, home: '/home/u', env: {}, secret: 's3cret' };

describe.each([
  { name: 'opencode', prefix: 'OPENCODE', ways: opencode, install: 'npm install -g opencode-ai' },
  { name: 'kilo', prefix: 'KILO', ways: kilo, install: 'npm install -g @kilocode/cli' },
])('starting $name as a session', ({ name, prefix, ways, install }) => {
  const [way] = ways;

  it('is a server on loopback, on any port, behind a password of its own', () => {
    expect(way?.driver).toBe('opencode-http');
    expect(way?.install).toBe(install);
    const launch = way?.launch(wish);
    expect(launch?.command).toEqual([name, 'serve', '--hostname=127.0.0.1', '--port=0']);
    expect(launch?.env).toEqual({ [`${prefix}_SERVER_USERNAME`]: 'agtmux', [`${prefix}_SERVER_PASSWORD`]: 's3cret' });
    expect(launch).toMatchObject({ auth: 'agtmux', events: '/event' });
    expect(JSON.stringify(launch?.command)).not.toContain('s3cret');
  });

  it('says where it listens', () => {
    const found = way?.launch(wish).address?.exec(`${name} server listening on http://127.0.0.1:41234`);
    expect(found?.[1]).toBe('http://127.0.0.1:41234');
  });

  it('ACP is the second way', () => {
    expect(ways[1]?.driver).toBe('acp');
  });
});
