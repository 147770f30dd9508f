// What is put into the files of agents: our hooks, or our MCP server. Both go the same way; here is what differs.

export interface InstallKind {
  /** For messages: `hooks`. */
  readonly noun: string;
  /** The program that agents call, in the folder of programs of the state directory. */
  readonly programName: string;
  /** Whether its calls are written into the spool. */
  readonly hasSpool: boolean;
  /** Whether other machines can have it: what talks to the daemon itself needs one there. */
  readonly isForFarMachines: boolean;
}

export const hookKind: InstallKind = {
  noun: 'hooks',
  programName: 'agtmux-hook',
  hasSpool: true,
  isForFarMachines: true,
};

export const mcpKind: InstallKind = {
  noun: 'MCP registration',
  programName: 'agtmux-mcp',
  hasSpool: false,
  isForFarMachines: false,
};
