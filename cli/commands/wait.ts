// Waits for a change of a board, or for a task, and prints one line of JSON: for agents, which
// would look again and again.

import { BoardError } from '../../libraries/client/types.ts'
import { noBoardIn } from '../../sidecar/layouts/registry.ts'
import { jsonText } from '../../sidecar/log.ts'
import { type Context, type Input, noticeTo, UsageError } from '../command.ts'
import { findPlace, type PlaceOptions } from '../wait/place.ts'
import { doubtAbout, type Until, waitFor } from '../wait/wait-for.ts'

interface WaitOptions extends PlaceOptions {
  task?: string
  until: string
  since?: string
  /** In ms. */
  timeout: number
}

const FAILED = 1
const TIMED_OUT = 3
/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** An event id, or a place in files. */
const PLACE = /^[0-9a-z]{1,32}-[0-9a-f]{1,32}$/

export async function run(input: Input<WaitOptions>, context: Context): Promise<number> {
  const { io } = context
  const { task, since, timeout } = input.options
  const until = readUntil(input.options.until)
  if (since !== undefined && !PLACE.test(since)) {
    throw new UsageError(`--since must be the id of a line before, not "${since}".`)
  }
  const notice = noticeTo(io)
  const place = await findPlace(input, context, notice)
  if (!place) {
    notice(noBoardIn(context.cwd, 'above or below').message)
    return FAILED
  }
  const { board } = place
  const asked = io.ended()
  const end = new AbortController()
  const signal = AbortSignal.any([asked, end.signal])
  let isOver = false
  const timer = setTimeout(
    () => {
      isOver = true
      end.abort()
    },
    Math.min(timeout, MAX_TIMER_MS),
  )
  const print = (line: object) => io.out(`${jsonText(line)}\n`)
  let reached: string | undefined
  const onDoubt = (sentence: string | undefined) => {
    if (sentence !== undefined && !signal.aborted) notice(sentence)
  }
  try {
    const watched = place.open(since, signal)
    const wait = { task, until, since }
    const { row, ...outcome } = await waitFor(watched, wait, (id) => {
      // A failure is ignored here: the wait hits the same error and reports it.
      if (reached === undefined) doubtAbout(watched, wait).then(onDoubt, () => undefined)
      reached = id
    })
    // Nothing of it was said yet, and of a folder that is gone a task may look ready.
    const isAtOnce = reached === undefined && until.kind !== 'any'
    if (isAtOnce) onDoubt(await doubtAbout(watched, wait).catch(() => undefined))
    print({ ...outcome, status: row?.status, title: row?.title, board })
    return 0
  } catch (error) {
    if (isOver && reached !== undefined) {
      print({ id: reached, type: 'timeout', ...(task !== undefined && { task }), board })
      return TIMED_OUT
    }
    const why = isOver
      ? 'The board could not be read in the time of --timeout.'
      : asked.aborted
        ? `It was ended by ${asked.reason}.`
        : error instanceof BoardError && error.message
    if (!why) throw error
    notice(why)
    return FAILED
  } finally {
    clearTimeout(timer)
    end.abort()
  }
}

function readUntil(text: string): Until {
  if (text === 'any' || text === 'ready') return { kind: text }
  const [, status] = /^status=(.*\S)/.exec(text) ?? []
  if (status !== undefined) return { kind: 'status', status }
  throw new UsageError(`--until must be any, ready or status=X, not "${text}".`)
}
