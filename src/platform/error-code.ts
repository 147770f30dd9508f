// The name that the system gives to a failure.

/** The errno name a Node error carries, or null when it is not a system error. */
export function errorCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
