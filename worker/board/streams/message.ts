// Which message clients get for a change: the rules of the contract. Pure.

import { type Key, type Message, parseKey } from '../wire.ts'

/** What is stored of the changes of one window: only what the message depends on. */
export interface Touched {
  /** The board's configuration changed, or more than one task did. */
  list?: true
  /** The one task that changed. */
  task?: string
  /** The session that changed last. */
  session?: string
  /** Tasks changed whose own files did not: what follows from other files, or from time. */
  follows?: true
}

export const NOTHING: Touched = {}

/** Adds a record whose file changed. Clients do not see runs: for one, pass its task's key. */
export function touch(touched: Touched, key: Key): Touched {
  const { kind, id } = parseKey(key)
  switch (kind) {
    case 'board':
      return { ...touched, list: true }
    case 'session':
      return { ...touched, session: id }
    case 'task':
    case 'run':
      if (touched.task === undefined) return { ...touched, task: id }
      return touched.task === id ? touched : { ...touched, list: true }
  }
}

/** Adds a task that changed, but not by its own file. */
export const touchFollowing = (touched: Touched): Touched => ({ ...touched, follows: true })

/** The message of a window; null when nothing changed. */
export function messageOf(touched: Touched): Message | null {
  if (touched.list) return { type: 'tasks-changed' }
  if (touched.task !== undefined) return { type: 'task-changed', id: touched.task }
  if (touched.session !== undefined) return { type: 'session-changed', session: touched.session }
  // Other files were the cause, and had their message before. Only the list has all of these tasks.
  return touched.follows ? { type: 'tasks-changed' } : null
}

/** If a client missed more messages than this, it gets the messages of one window instead. */
export const MAX_REPLAY = 16

/**
 * The messages of one window for many that were missed: one for tasks and one for sessions, since a
 * message about sessions alone must not be lost when there is one about tasks.
 */
export function summarize(missed: readonly Message[]): Message[] {
  let tasks: Touched = NOTHING
  let sessions: Touched = NOTHING
  for (const message of missed) {
    if (message.type === 'session-changed') sessions = { session: message.session }
    else if (message.type === 'task-changed') tasks = touch(tasks, `task:${message.id}`)
    else tasks = { list: true }
  }
  return [messageOf(tasks), messageOf(sessions)].filter((message) => message !== null)
}

/** For a client whose place in the log is unknown or gone: it refetches everything. */
export function startOver(newestSession: string | undefined): Message[] {
  const messages: Message[] = [{ type: 'tasks-changed' }]
  if (newestSession !== undefined) {
    messages.push({ type: 'session-changed', session: newestSession })
  }
  return messages
}
