// Names of agents as the daemon resolves them; the rules are the engine's, since acting needs the same ones.

export { type AgentPaneRow, referTo } from '../engine/refer.ts';
