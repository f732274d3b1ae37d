import { describe, expect, it } from 'vitest'
import {
  messageOf,
  NOTHING,
  startOver,
  summarize,
  touch,
  touchFollowing,
} from '../../../../worker/board/streams/message.ts'
import type { Key, Message } from '../../../../worker/board/wire.ts'

/** `follows` stands for a task that changed though its own file did not. */
const messageOfKeys = (...keys: (Key | 'follows')[]) =>
  messageOf(
    keys.reduce((to, key) => (key === 'follows' ? touchFollowing(to) : touch(to, key)), NOTHING),
  )

describe('the message of a window', () => {
  it.each<[(Key | 'follows')[], Message | null]>([
    [[], null],
    [['task:A'], { type: 'task-changed', id: 'A' }],
    [['task:A', 'task:A'], { type: 'task-changed', id: 'A' }],
    [['task:tag:5.2'], { type: 'task-changed', id: 'tag:5.2' }],
    [['session:s', 'task:A', 'session:t'], { type: 'task-changed', id: 'A' }],
    [['task:A', 'task:B'], { type: 'tasks-changed' }],
    [['board:board'], { type: 'tasks-changed' }],
    [['task:A', 'board:board'], { type: 'tasks-changed' }],
    [['session:s'], { type: 'session-changed', session: 's' }],
    [['session:s', 'session:t'], { type: 'session-changed', session: 't' }],
    [['task:A', 'follows'], { type: 'task-changed', id: 'A' }],
    [['follows', 'session:s', 'task:A', 'follows'], { type: 'task-changed', id: 'A' }],
    [['follows', 'session:s'], { type: 'session-changed', session: 's' }],
    [['follows', 'board:board'], { type: 'tasks-changed' }],
    [['follows'], { type: 'tasks-changed' }],
  ])('%j is %j', (keys, message) => {
    expect(messageOfKeys(...keys)).toEqual(message)
  })
})

describe('many missed messages', () => {
  it('of one task are that task, not the list', () => {
    const missed: Message[] = Array.from({ length: 20 }, () => ({ type: 'task-changed', id: 'A' }))
    expect(summarize(missed)).toEqual([{ type: 'task-changed', id: 'A' }])
  })

  it('keep the session that was told alone beside the tasks', () => {
    expect(
      summarize([
        { type: 'session-changed', session: 's' },
        { type: 'task-changed', id: 'A' },
        { type: 'task-changed', id: 'B' },
      ]),
    ).toEqual([{ type: 'tasks-changed' }, { type: 'session-changed', session: 's' }])
  })

  it.each<Message[]>([
    [{ type: 'tasks-changed' }, { type: 'task-changed', id: 'A' }],
    [{ type: 'task-changed', id: 'A' }, { type: 'tasks-changed' }],
  ])('are the list where one of them was', (...missed) => {
    expect(summarize(missed)).toEqual([{ type: 'tasks-changed' }])
  })
})

it('starting over names the newest session, and none where none ever existed', () => {
  const [list, session] = [{ type: 'tasks-changed' }, { type: 'session-changed', session: 's' }]
  expect([startOver('s'), startOver(undefined)]).toEqual([[list, session], [list]])
})
