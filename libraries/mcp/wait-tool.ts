// The tool that waits for a change of a board.

import * as z from 'zod'
import { messageSchema } from '../../worker/board/records.ts'
import type { Message } from '../api/types.ts'
import { boardOf } from './caller.ts'
import { type Change, changesOf, within } from './changes.ts'
import { MAX_SECONDS, READING, seconds, tool } from './tool.ts'

export const waitForChange = tool({
  name: 'wait_for_change',
  title: 'Wait for a change',
  description:
    'Blocks until a task of the board changes, or the time is over (then `changes` is empty). ' +
    'Give `since` of the last answer, and nothing is missed between two calls. Never poll.',
  reads: true,
  input: z.strictObject({
    ...READING,
    task: z.string().min(1).max(1_024).describe('Only changes of this one.').exactOptional(),
    since: z.string().min(1).max(128).describe('The `since` of the last answer.').exactOptional(),
    wait_seconds: seconds.min(1).default(MAX_SECONDS),
  }),
  output: z.object({
    changes: z.array(messageSchema).describe('What to read again.'),
    since: z.string().describe('For the next call.').exactOptional(),
  }),
  async run({ board, task, since, wait_seconds }, call) {
    const signal = within(call, wait_seconds)
    let known = since
    for await (const { message, id } of changesOf(call, await boardOf(call, board), {
      since,
      signal,
    })) {
      known = id ?? known
      if (message && isAbout(task, message)) return { changes: [message], since: known ?? '' }
    }
    return { changes: [], ...(known !== undefined && { since: known }) }
  },
  text: ({ changes: [message] }) => (message ? sentenceOf(message) : 'Nothing changed.'),
})

/** Sessions end no wait: their heartbeats come every half minute. */
function isAbout(task: string | undefined, message: Message): boolean {
  if (message.type === 'session-changed') return false
  return task === undefined || message.type === 'tasks-changed' || message.id === task
}

const sentenceOf = (message: NonNullable<Change['message']>): string =>
  message.type === 'task-changed'
    ? `${message.id} changed: get_task has it.`
    : 'Several tasks changed: list_tasks has them.'
