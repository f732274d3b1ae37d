// What a stream tells, read with care. Pure.

import type { Message } from '../worker/board/wire.ts'

export const taskRoute = (id: string): string => `/tasks/${encodeURIComponent(id)}`

/** Undefined for what this version does not know: then everything may have changed. */
export function parseMessage(data: string): Message | undefined {
  try {
    const message = JSON.parse(data) as Message
    switch (message.type) {
      case 'task-changed':
        // An id that no address can hold would end the stream each time it is told again.
        return typeof message.id === 'string' && taskRoute(message.id) ? message : undefined
      case 'tasks-changed':
      case 'session-changed':
        return message
      default:
        return undefined
    }
  } catch {
    return undefined
  }
}
