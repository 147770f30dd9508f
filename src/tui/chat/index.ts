// The screens of sessions that agtmux leads: the form of a new one, the list of all, and the chat with one.

import type { Place, Screen, Stream } from '../contract.ts';
import { type ChatModel, type ChatOwn, firstChat, isWriting } from './model.ts';
import { updateChat } from './update.ts';
import { chatKeys, viewChat } from './view.ts';

export { newScreen } from './form.ts';
export { sessionsScreen } from './sessions.ts';

/** What is said in it, as it comes; again from the start where that broke off. */
const follow = ({ id, tries }: ChatModel): Stream<ChatOwn> => ({
  key: `session:${id}:${tries}`,
  start: async function* ({ api }, signal) {
    for await (const event of api.session(id, { signal })) yield { is: 'followed', event };
  },
  failed: (problem) => ({ is: 'unfollowed', problem }),
});

export const chatScreen: Screen<ChatModel, ChatOwn, Extract<Place, { readonly screen: 'chat' }>> = {
  title: 'Session',
  open: ({ id }) => ({ model: firstChat(id) }),
  update: updateChat,
  view: viewChat,
  keys: chatKeys,
  isTyping: isWriting,
  streams: (model) => (model.trouble?.is === 'gone' ? [] : [follow(model)]),
  // Only what turns on the screen: not while it is scrolled away.
  moves: ({ item, up, trouble }) => (item?.view.showSpinner ?? false) && up === 0 && trouble === null,
};
