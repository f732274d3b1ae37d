// What was thrown, in words. Anything can be thrown, and a rejection may come from any package.

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
