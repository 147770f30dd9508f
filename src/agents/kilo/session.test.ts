import { expect, it } from 'vitest';
import { agentSessionId } from '../../model/ids.ts';
import { lastConversation, sessions } from './session.ts';

const wish = { cwd: '/w', model: null, auto_approve: false, resume: null, home: '/home/u', env: {} };
const way = sessions.find(({ driver }) => driver === 'kilo-lines');
const words = (rest: object = {}): readonly string[] => way?.launch({ ...wish, ...rest }).command ?? [];

it('before 7 Kilo speaks in lines of JSON, and approves by itself in automatic mode', () => {
  expect(words()).toEqual(['kilocode', '--json-io', '--nosplash', '--workspace=/w']);
  expect(words({ auto_approve: true, model: '--auto' }).slice(4)).toEqual(['--model=--auto', '--yolo']);
});

it('goes on with a conversation of Kilo’s cloud by its name, and with any other as the last of its directory', () => {
  expect(words({ resume: agentSessionId('k-1') }).at(-1)).toBe('--session=k-1');
  expect(words({ resume: agentSessionId(lastConversation) }).at(-1)).toBe('--continue');
});
