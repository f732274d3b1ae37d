// How the statuses of tasks compare, wherever they do.

/**
 * Statuses that are equal by it are the same one. People type them: a `Done` that does not close a
 * task where `done` does would leave it claimed, and what waits for it waiting.
 */
export const foldStatus = (status: string): string => status.trim().toLowerCase()
