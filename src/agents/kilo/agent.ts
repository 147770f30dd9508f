// The parts of the kilo adapter, put together for the registry.

import { agentName } from '../../model/ids.ts';
import type { Agent } from '../contract.ts';
import { identify } from './identify.ts';

export const agent: Agent = { name: agentName('kilo'), identify };
