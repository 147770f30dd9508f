// Every cell of the life of a shell, written by hand and apart from the table that carries it out: what stands, what
// happens, and all that has to follow. `+stopped` and `+killed_by_user` are about the record; `!` is a call that waits.

/** state | event | next state | result | effects | events on the feed | notices */
const table = `
running_fg | started | running_fg | - | - | start | -
running_bg | started | running_bg | - | answer_call:Started | start | -
completed | started | completed | - | - | - | -
failed | started | failed | - | - | - | -

running_fg | exit:0! | completed | - | answer_call:Completed answer_kills:Killed | terminate:system | -
running_fg | exit:3! | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | -
running_fg | exit:SIGKILL! | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | -
running_fg | exit:3 | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | exited:system
running_fg +killed_by_user | exit:143! | failed | - | answer_call:Failed answer_kills:Killed | terminate:user | killed:user
running_fg +killed_by_agent | exit:143! | failed | - | answer_call:Failed answer_kills:Killed | terminate:agent | -
running_fg +killed_by_agent | exit:143 | failed | - | answer_call:Failed answer_kills:Killed | terminate:agent | killed:agent
running_fg +killed_by_system | exit:143! | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | -
running_fg +unheard | exit:0! | completed | - | answer_call:Completed answer_kills:Killed | start terminate:system | -
running_bg | exit:0 | completed | - | answer_call:Completed answer_kills:Killed | terminate:system | exited:system
running_bg | exit:3 | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | exited:system
running_bg | exit:SIGKILL | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | exited:system
running_bg +killed_by_user | exit:0 | completed | - | answer_call:Completed answer_kills:Killed | terminate:user | killed:user
running_bg +killed_by_user | exit:143 | failed | - | answer_call:Failed answer_kills:Killed | terminate:user | killed:user
running_bg +killed_by_agent | exit:143! | failed | - | answer_call:Failed answer_kills:Killed | terminate:agent | -
running_bg +killed_by_system | exit:143 | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | killed:system
completed | exit:0 | completed | - | - | - | -
completed | exit:3 | completed | - | - | - | -
failed | exit:0 | failed | - | - | - | -
failed | exit:3 | failed | - | - | - | -

running_fg | budget_elapsed | running_bg | - | answer_call:Running | promote | auto_background:system
running_fg +killed_by_user | budget_elapsed | running_bg | - | answer_call:Running | promote | auto_background:system
running_bg | budget_elapsed | running_bg | - | - | - | -
completed | budget_elapsed | completed | - | - | - | -
failed | budget_elapsed | failed | - | - | - | -

running_fg | background_request:user | running_bg | Backgrounded | answer_call:Running | background_request promote | user_background:user
running_fg | background_request:agent | running_bg | Backgrounded | answer_call:Running | promote | -
running_bg | background_request:user | running_bg | AlreadyBackground | - | - | -
completed | background_request:user | completed | AlreadyFinishedCompleted | - | - | -
failed | background_request:user | failed | AlreadyFinishedFailed | - | - | -

running_fg | kill:user | running_fg | KillPending | send_term send_kill_later | kill | -
running_fg | kill:agent | running_fg | KillPending | send_term send_kill_later | - | -
running_fg +stopped | kill:user | running_fg | KillPending | send_term continue send_kill_later | kill | -
running_fg +killed_by_user | kill:agent | running_fg | KillPending | - | - | -
running_bg | kill:user | running_bg | KillPending | send_term send_kill_later | kill | -
running_bg | kill:agent | running_bg | KillPending | send_term send_kill_later | - | -
running_bg +stopped | kill:agent | running_bg | KillPending | send_term continue send_kill_later | - | -
running_bg +killed_by_agent | kill:user | running_bg | KillPending | - | - | -
running_bg +killed_by_system | kill:user | running_bg | KillPending | - | - | -
completed | kill:user | completed | AlreadyFinishedCompleted | - | - | -
completed | kill:agent | completed | AlreadyFinishedCompleted | - | - | -
failed | kill:user | failed | AlreadyFinishedFailed | - | - | -
failed | kill:agent | failed | AlreadyFinishedFailed | - | - | -

running_fg | kill_failed | running_fg | - | - | - | -
running_fg +killed_by_user | kill_failed | running_fg | KillFailed | answer_kills:KillFailed | - | -
running_bg | kill_failed | running_bg | - | - | - | -
running_bg +killed_by_agent | kill_failed | running_bg | KillFailed | answer_kills:KillFailed | - | -
completed | kill_failed | completed | - | - | - | -
failed | kill_failed | failed | - | - | - | -

running_fg | resume:user | running_fg | AlreadyRunning | - | - | -
running_fg +stopped | resume:user | running_fg | Resumed | continue | resume | resumed:user
running_fg +stopped | resume:agent | running_fg | Resumed | continue | - | -
running_bg | resume:agent | running_bg | AlreadyRunning | - | - | -
running_bg +stopped | resume:user | running_bg | Resumed | continue | resume | resumed:user
running_bg +stopped | resume:agent | running_bg | Resumed | continue | - | -
completed | resume:user | running_bg | Restarted | rerun | resume | resumed:user
completed | resume:agent | running_bg | Restarted | rerun | - | -
completed | resume:user:unavailable | completed | ResumeUnavailable | - | - | -
failed | resume:user | running_bg | Restarted | rerun | resume | resumed:user
failed | resume:agent | running_bg | Restarted | rerun | - | -
failed | resume:agent:unavailable | failed | ResumeUnavailable | - | - | -

running_fg | stopped | running_fg | - | - | - | -
running_bg | stopped | running_bg | - | - | - | -
completed | stopped | completed | - | - | - | -
failed | stopped | failed | - | - | - | -
running_fg +stopped | continued | running_fg | - | - | - | -
running_bg +stopped | continued | running_bg | - | - | - | -
completed | continued | completed | - | - | - | -
failed | continued | failed | - | - | - | -

running_fg | timeout_elapsed | running_fg | - | send_term send_kill_later | - | -
running_fg +stopped | timeout_elapsed | running_fg | - | send_term continue send_kill_later | - | -
running_fg +killed_by_user | timeout_elapsed | running_fg | - | - | - | -
running_bg | timeout_elapsed | running_bg | - | send_term send_kill_later | - | -
running_bg +stopped | timeout_elapsed | running_bg | - | send_term continue send_kill_later | - | -
running_bg +killed_by_agent | timeout_elapsed | running_bg | - | - | - | -
completed | timeout_elapsed | completed | - | - | - | -
failed | timeout_elapsed | failed | - | - | - | -

running_fg +unheard | spawn_failed! | failed | - | answer_call:Failed answer_kills:AlreadyFinishedFailed | terminate:system | -
running_bg +unheard | spawn_failed! | failed | - | answer_call:Failed answer_kills:AlreadyFinishedFailed | terminate:system | -
running_bg +unheard | spawn_failed | failed | - | answer_call:Failed answer_kills:AlreadyFinishedFailed | terminate:system | exited:system
completed | spawn_failed | completed | - | - | - | -
failed | spawn_failed | failed | - | - | - | -

running_fg | holder_lost! | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | -
running_fg | holder_lost | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | lost:system
running_bg | holder_lost | failed | - | answer_call:Failed answer_kills:Killed | terminate:system | lost:system
running_bg +killed_by_user | holder_lost | failed | - | answer_call:Failed answer_kills:Killed | terminate:user | lost:user
completed | holder_lost | completed | - | - | - | -
failed | holder_lost | failed | - | - | - | -

running_fg | adopted | running_bg | - | - | promote | auto_background:system
running_fg +unheard | adopted | running_bg | - | - | start promote | auto_background:system
running_fg +killed_by_user | adopted | running_bg | - | send_term send_kill_later | promote | auto_background:system
running_bg | adopted | running_bg | - | - | - | -
running_bg +unheard | adopted | running_bg | - | - | start | -
running_bg +killed_by_agent | adopted | running_bg | - | send_term send_kill_later | - | -
completed | adopted | completed | - | - | - | -
failed | adopted | failed | - | - | - | -

running_fg | cancelled | running_fg | - | send_term send_kill_later | - | -
running_fg +stopped | cancelled | running_fg | - | send_term continue send_kill_later | - | -
running_fg +killed_by_user | cancelled | running_fg | - | - | - | -
running_bg | cancelled | running_bg | - | - | - | -
completed | cancelled | completed | - | - | - | -
failed | cancelled | failed | - | - | - | -
`;

export interface LifeCell {
  readonly title: string;
  readonly state: string;
  readonly marks: readonly string[];
  readonly event: string;
  readonly to: string;
  readonly result: string | null;
  readonly effects: readonly string[];
  readonly events: readonly string[];
  readonly notices: readonly string[];
}

const words = (text = ''): readonly string[] => (text === '-' ? [] : text.split(' '));

export const lifeCells: readonly LifeCell[] = table
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [before = '', event = '', to = '', result = '', effects, events, notices] = line.split(' | ');
    const [state = '', ...marks] = before.split(' +');
    return {
      title: `${before}, ${event}`,
      state,
      marks,
      event,
      to,
      result: result === '-' ? null : result,
      effects: words(effects),
      events: words(events),
      notices: words(notices),
    };
  });
