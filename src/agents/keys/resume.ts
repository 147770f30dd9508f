// Commands that go on with a conversation. Its id comes from the agent's own files and goes onto a command line, so only
// what looks like an id gets there.

export const isSessionWord = (session: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/.test(session);

/** `by` makes the arguments for an id; `last` are those for the latest one. */
export const resumeBy =
  (program: string, by: (session: string) => readonly string[], last: readonly string[]) =>
  (session: string | null): readonly string[] | null => {
    if (session === null) return [program, ...last];
    return isSessionWord(session) ? [program, ...by(session)] : null;
  };
