// The exit codes of commands, and their text in the help.

export const FAILED = 1
export const USAGE = 2
export const TIMED_OUT = 3
/** Somebody else's, or lost. */
export const NOT_OURS = 4

export const EXIT_CODES = `
Exit codes:
  0  done, and nothing is wrong
  1  it failed: a sync that could not finish, a check that found an error, a webhook that was not
     accepted, a port that is taken, a disk that is full, a process of start that ended again and
     again, a wait without a board
  2  wrong usage, or a configuration that it cannot work with
  3  wait, claim: the time is over; claim: the board is paused or at a limit
  4  claim, renew, release, check: the task is somebody else's`
