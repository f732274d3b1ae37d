// What clients are told of a change: the rules of the contract. Pure.

import { type Key, type Message, parseKey } from './wire.ts'

/** All that is remembered of the changes of one window: enough to choose the message, no more. */
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

/** Adds a record whose file changed. A run is none of its own for clients: pass its task's key. */
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
  // What these tasks follow from was told before, and they only now: only the list has all of them.
  return touched.follows ? { type: 'tasks-changed' } : null
}

/** A client that missed more messages than this is told of them as of one window. */
export const MAX_REPLAY = 16

/**
 * Many missed messages as one window's: one for their tasks, and one for their sessions, because a
 * message that was only about sessions must not vanish behind one that makes clients refetch tasks.
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

/** What a client is told whose place in the log is unknown or gone: refetch everything. */
export function startOver(newestSession: string | undefined): Message[] {
  const messages: Message[] = [{ type: 'tasks-changed' }]
  if (newestSession !== undefined) {
    messages.push({ type: 'session-changed', session: newestSession })
  }
  return messages
}
