// The policy of tests whose own programs do everything that a person may: whoever runs a test may have no parents left, and
// counts as a program of the user's then (ACT6).

import { operatorRights } from '../../src/auth/program-names.ts';

export const programsMayAll = `trust_untraceable = true\nallow_operator = ${JSON.stringify(operatorRights)}\n`;
