// What is done to each real agent, in this order.

export const actingNames = [
  'send into the trust dialog',
  'trust dialog answered',
  'send',
  'send of many lines',
  'send into an approval',
  'interrupt of an approval',
  'approve',
  'approve once more',
  'asks again',
  'reject',
  'send after reject',
  'send into an edit',
  'approve of an edit',
  'program sends into a question',
  'answer with an option',
  'answer in own words',
  'send after answers',
  'interrupt',
  'send after interrupt',
  'kill TERM',
] as const;
export type ActingName = (typeof actingNames)[number];
