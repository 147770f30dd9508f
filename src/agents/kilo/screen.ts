// Kilo draws OpenCode's interface, so its rules are OpenCode's. Its own is what a title can prove.

import chrome from '../opencode/screen.json' with { type: 'json' };

export const screen = {
  ...chrome,
  agent: 'kilo',
  title:
    '7.7: `Kilo CLI` before the first question, `Kilo CLI | <name of the conversation>` after it. No title tells a state. An empty one after a full one is a goodbye and nothing else.',
};
