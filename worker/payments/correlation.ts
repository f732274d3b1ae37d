// The id that follows one request through answers, rows and log lines.

import { drawId } from './draw-id.ts'

const ID = /^[A-Za-z0-9_-]{8,64}$/

/** The caller's own id if it is one, else a new one. `now` in ms. */
export const correlationIdOf = (header: string | null | undefined, now: number): string =>
  header && ID.test(header) ? header : drawId(now)
