// What the API serves of acting: the daemon's hands as its doors see them. The words are the model's, since the hands may
// not know the API.

export type {
  ActionService,
  AttachPlan,
  CallerClaim,
  QueuedMessage,
} from '../model/actions.ts';
