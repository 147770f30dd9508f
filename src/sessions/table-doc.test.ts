// The document shows the table that the program uses.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sessionDocument, sessionTable, withSessionTable } from '../../scripts/session-table.ts';
import { extraEventKinds, machineEventKinds, machineStates } from '../model/sessions.ts';

describe('the table in the document', () => {
  it('SES1 is up to date; otherwise run `node scripts/session-table.ts`', () => {
    const document = readFileSync(sessionDocument, 'utf8');
    expect(withSessionTable(document)).toBe(document);
  });

  it('SES1 names every state and every event, and draws the arrows', () => {
    const text = sessionTable();
    for (const name of [...machineStates, ...machineEventKinds, ...extraEventKinds])
      expect(text).toContain(`\`${name}\``);
    expect(text).toContain('stateDiagram-v2');
    expect(text).toContain('  idle --> creating: start_session');
    expect(text).toContain('  waiting_approval --> streaming: api_req_started<br/>approve_action [asked]<br/>');
  });

  it('SES1 replaces what stands between the marks and nothing else', () => {
    const document = readFileSync(sessionDocument, 'utf8');
    const stale = document.replace('stateDiagram-v2', 'something older');
    expect(stale).not.toBe(document);
    expect(withSessionTable(stale)).toBe(document);
    expect(withSessionTable('no marks')).toBeNull();
  });
});
