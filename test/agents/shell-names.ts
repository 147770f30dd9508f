// What each real agent is led through with the shells of agtmux, in this order.

export const shellNames = [
  'offered to the model',
  'asks a person first',
  'short command',
  'long command answers in time',
  'shell known as its own',
  'log read page by page',
  'told that a person killed it',
  'told once',
  'cancelled by Esc',
] as const;
export type ShellStepName = (typeof shellNames)[number];
