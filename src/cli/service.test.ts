import { describe, expect, it } from 'vitest';
import { type ServiceFacts, serviceOf } from './service.ts';

const facts: ServiceFacts = {
  platform: 'linux',
  home: '/home/me',
  configHome: undefined,
  uid: 501,
  argv: ['/opt/no de/bin/node', '/opt/50%/$HOME/"x"/agtmux', 'daemon', 'run'],
  path: '/usr/bin:/bin',
  variables: [['AGTMUX_STATE_DIR', '/srv/a & <b>']],
};

describe('the service', () => {
  it('under systemd quotes what systemd would read as its own', () => {
    const { file, text, install } = serviceOf(facts);
    expect(file).toBe('/home/me/.config/systemd/user/agtmux.service');
    expect(text).toContain('ExecStart="/opt/no de/bin/node" "/opt/50%%/$$HOME/\\"x\\"/agtmux" "daemon" "run"\n');
    expect(text).toContain('Environment="AGTMUX_STATE_DIR=/srv/a & <b>"\n');
    expect(install.at(-1)).toEqual(['systemctl', '--user', 'enable', '--now', 'agtmux.service']);
    expect(serviceOf({ ...facts, configHome: '/c' }).file).toBe('/c/systemd/user/agtmux.service');
  });

  it('under launchd is XML', () => {
    const { file, text, uninstall } = serviceOf({ ...facts, platform: 'darwin' });
    expect(file).toMatch(/^\/home\/me\/Library\/LaunchAgents\/.*\.plist$/);
    expect(text).toContain('<string>/opt/50%/$HOME/&quot;x&quot;/agtmux</string>');
    expect(text).toContain('<key>AGTMUX_STATE_DIR</key><string>/srv/a &amp; &lt;b&gt;</string>');
    expect(uninstall[0]?.at(-1)).toMatch(/^gui\/501\//);
  });

  it('INS4 a file of ours is known wherever it was made, and one that somebody changed is theirs', () => {
    for (const platform of ['linux', 'darwin'] as const) {
      const { text, isOurs } = serviceOf({ ...facts, platform });
      const elsewhere = { ...facts, platform, argv: ['/n', '/b/agtmux', 'daemon', 'run'], path: '/p', variables: [] };
      expect([isOurs(text), isOurs(serviceOf(elsewhere).text)]).toEqual([true, true]);
      const changes =
        platform === 'linux'
          ? [
              text.replace('[Install]', 'Environment="HTTP_PROXY=http://p"\n[Install]'),
              text.replace('UMask', 'Nice=5\nUMask'),
              text.replace('"daemon" "run"', '"daemon" "run" "--mine"'),
            ]
          : [text.replace('<key>RunAtLoad</key>', '<key>Nice</key><integer>5</integer>\n  <key>RunAtLoad</key>')];
      for (const changed of [...changes, `${text}# mine\n`, '']) expect(isOurs(changed)).toBe(false);
    }
  });
});
