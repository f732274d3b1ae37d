import { describe, expect, it } from 'vitest'
import { FanOut, type Member, type Step } from '../../../../worker/board/streams/fan-out.ts'
import { idBlock, messageFrame } from '../../../../worker/board/streams/sse.ts'

const ROOM = { all: 100, each: 100 }
const encoder = new TextEncoder()
const decoder = new TextDecoder()

const stream = (lastEventId?: string, holder = 'ann'): Member => ({
  from: { lastEventId, since: 0 },
  holder,
  mailbox: [],
})

const block = (seq: number, epoch = 'e') =>
  encoder.encode(messageFrame({ epoch, seq }, { type: 'task-changed', id: `T-${seq}` }))
const bare = (id: string) => encoder.encode(idBlock(id))

/** What a stream is sent until it has to wait, as ids; other steps as they are. */
function take(fanOut: FanOut<Member>, member: Member, now = 0): (string | Step)[] {
  const taken: (string | Step)[] = []
  for (;;) {
    const step = fanOut.next(member, now)
    if (step.do === 'wait') return taken
    if (step.do !== 'send') {
      taken.push(step)
      if (step.do !== 'lead') return taken
      continue
    }
    taken.push(...(decoder.decode(step.bytes).match(/(?<=^id: ).*$/gm) ?? []))
  }
}

/** A subscription that is live at `e-3`, and its leader. */
function live() {
  const fanOut = new FanOut<Member>(ROOM)
  const leader = stream()
  fanOut.join(leader, 0)
  expect(take(fanOut, leader)).toEqual([{ do: 'lead', term: 1 }])
  fanOut.received(1, bare('e-3'))
  fanOut.reported(1, 0)
  expect(take(fanOut, leader)).toEqual(['e-3'])
  return { fanOut, leader }
}

describe('streams that share a subscription', () => {
  it('are led by the one that asks first, and the others wait', () => {
    const fanOut = new FanOut<Member>(ROOM)
    const [one, two] = [stream(), stream('e-1')]
    for (const member of [one, two]) fanOut.join(member, 0)
    expect(take(fanOut, two)).toEqual([{ do: 'lead', term: 1 }])
    expect(take(fanOut, one)).toEqual([])
    expect(fanOut.dialFrom(two)).toEqual({ lastEventId: 'e-1', since: 0 })
  })

  it('are sent each block once, whoever asks when', () => {
    const { fanOut, leader } = live()
    const other = stream()
    fanOut.join(other, 0)
    expect(take(fanOut, other)).toEqual(['e-3'])
    for (const seq of [4, 4, 3, 5]) fanOut.received(1, block(seq))
    expect(take(fanOut, leader)).toEqual(['e-4', 'e-5'])
    fanOut.received(1, block(6))
    expect(take(fanOut, leader)).toEqual(['e-6'])
    expect(take(fanOut, other)).toEqual(['e-4', 'e-5', 'e-6'])
  })

  it('are sent nothing of a part whose end has not come', () => {
    const { fanOut, leader } = live()
    const part = encoder.encode(messageFrame(undefined, { type: 'tasks-changed' }))
    expect(fanOut.received(1, part)).toBe(false)
    expect(take(fanOut, leader)).toEqual([])
    fanOut.disconnected(1)
    fanOut.received(1, block(4))
    const step = fanOut.next(leader, 0)
    expect(step.do === 'send' && decoder.decode(step.bytes)).toBe(decoder.decode(block(4)))
  })

  it('that come back with the newest id go on at once, and those with another one ask', () => {
    const { fanOut } = live()
    for (let seq = 4; seq <= 30; seq++) fanOut.received(1, block(seq))
    const came = (lastEventId: string) => {
      const member = stream(lastEventId)
      fanOut.join(member, 0)
      return take(fanOut, member)
    }
    expect(came('e-30')).toEqual(['e-30'])
    for (const lastEventId of ['e-29', 'e-1', 'e-31', 'x-29', 'nonsense']) {
      expect(came(lastEventId)).toEqual([{ do: 'catch-up', from: { lastEventId, since: 0 } }])
    }
  })

  it('that come back with an id of an earlier log ask the repository, which lets them start over', () => {
    const { fanOut, leader } = live()
    fanOut.received(1, block(1, 'later'))
    expect(take(fanOut, leader)).toEqual(['later-1'])
    const back = stream('e-3')
    fanOut.join(back, 0)
    expect(take(fanOut, back)).toMatchObject([{ do: 'catch-up', from: { lastEventId: 'e-3' } }])
  })

  it('that asked the repository go on where its answer ended', () => {
    const { fanOut } = live()
    const ahead = stream('e-4')
    fanOut.join(ahead, 0)
    expect(take(fanOut, ahead)).toEqual([
      { do: 'catch-up', from: { lastEventId: 'e-4', since: 0 } },
    ])
    fanOut.received(1, block(4))
    fanOut.caughtUp(ahead, 'e-5')
    for (const seq of [5, 6]) fanOut.received(1, block(seq))
    expect(take(fanOut, ahead)).toEqual(['e-6'])
  })

  it('that lag by more than 256 blocks ask the repository, and no others', () => {
    const { fanOut, leader } = live()
    const other = stream()
    fanOut.join(other, 0)
    take(fanOut, other)
    for (let seq = 4; seq <= 259; seq++) fanOut.received(1, block(seq))
    expect(take(fanOut, leader)).toHaveLength(256)
    fanOut.received(1, block(260))
    expect(take(fanOut, leader)).toEqual(['e-260'])
    expect(take(fanOut, other)).toEqual([
      { do: 'catch-up', from: { lastEventId: 'e-3', since: 0 } },
    ])
    expect(other.mailbox).toEqual([])
  })

  it('without an id ask the repository if they were opened before it was dialled', () => {
    const fanOut = new FanOut<Member>(ROOM)
    const [leader, early] = [stream(), stream()]
    for (const member of [leader, early]) fanOut.join(member, 0)
    take(fanOut, leader)
    expect(take(fanOut, early)).toEqual([])
    fanOut.received(1, bare('e-3'))
    fanOut.reported(1, 0)
    expect(take(fanOut, early)).toMatchObject([{ do: 'catch-up', from: { since: 0 } }])
  })
})

describe('a leader', () => {
  it('that leaves is followed by whoever is woken, from the newest id', () => {
    const { fanOut, leader } = live()
    const other = stream()
    fanOut.join(other, 0)
    take(fanOut, other)
    expect(fanOut.leave(leader)).toBe(other)
    expect(take(fanOut, other)).toEqual([{ do: 'lead', term: 2 }])
    expect(fanOut.dialFrom(other).lastEventId).toBe('e-3')
    // What the old one still hands on comes again over the new socket.
    expect(fanOut.received(1, block(4))).toBe(false)
    expect(fanOut.received(2, block(4))).toBe(true)
    expect(take(fanOut, other)).toEqual(['e-4'])
  })

  it('that is silent for six seconds has vanished, and one that shows itself has not', () => {
    const { fanOut, leader } = live()
    const other = stream()
    fanOut.join(other, 0)
    expect(take(fanOut, other, 5_000)).toEqual(['e-3'])
    take(fanOut, leader, 5_000)
    expect(take(fanOut, other, 11_000)).toEqual([])
    expect(take(fanOut, other, 11_001)).toEqual([{ do: 'lead', term: 2 }])
  })

  it('that was only slow follows, and is sent everything once', () => {
    const { fanOut, leader } = live()
    const other = stream()
    fanOut.join(other, 0)
    take(fanOut, other)
    expect(take(fanOut, other, 7_000)).toEqual([{ do: 'lead', term: 2 }])
    expect(fanOut.leads(leader, 1)).toBe(false)
    for (const seq of [4, 5]) fanOut.received(2, block(seq))
    fanOut.received(1, block(5))
    expect(take(fanOut, leader, 7_000)).toEqual(['e-4', 'e-5'])
  })

  it('that cannot get through gives up for somebody else', () => {
    const { fanOut, leader } = live()
    expect(fanOut.resign(leader, 1)).toBeUndefined()
    expect(take(fanOut, leader)).toEqual([{ do: 'lead', term: 2 }])
    const other = stream()
    fanOut.join(other, 0)
    expect(fanOut.resign(leader, 2)).toBe(other)
    expect(fanOut.resign(leader, 2)).toBeUndefined()
  })

  it('shows that it is alive every 2 s, and all followers check about four times a second', () => {
    const { fanOut, leader } = live()
    const first = stream()
    fanOut.join(first, 0)
    expect([fanOut.checkMs(leader), fanOut.checkMs(first)]).toEqual([2_000, 2_000])
    for (let n = 2; n < 40; n++) fanOut.join(stream(), 0)
    expect([fanOut.checkMs(leader), fanOut.checkMs(first)]).toEqual([2_000, 10_000])
    for (let n = 40; n < 90; n++) fanOut.join(stream(), 0)
    expect(fanOut.checkMs(first)).toBeUndefined()
  })
})

describe('a stream', () => {
  it('that vanished holds no room, and one that was only slow is counted again', () => {
    const fanOut = new FanOut<Member>({ all: 2, each: 2 })
    const [one, two, three] = [stream(), stream(), stream()]
    for (const member of [one, two]) expect(fanOut.join(member, 0)).toBe(true)
    expect(fanOut.join(three, 60_000)).toBe(false)
    fanOut.next(two, 60_000)
    expect(fanOut.join(three, 60_001)).toBe(true)
    expect([...fanOut.members]).toEqual([two, three])
    fanOut.next(one, 60_002)
    expect(fanOut.members.size).toBe(3)
  })

  it('is refused once it is known that other isolates hold what there is', () => {
    const fanOut = new FanOut<Member>({ all: 2, each: 2 })
    const [one, two] = [stream(), stream()]
    for (const member of [one, two]) fanOut.join(member, 0)
    take(fanOut, one)
    take(fanOut, two)
    fanOut.received(1, bare('e-3'))
    fanOut.reported(1, 1)
    expect(take(fanOut, one)).toEqual([{ do: 'refuse' }])
    expect(fanOut.leave(one)).toBe(two)
  })

  it('is not refused for what a leader was told that has vanished', () => {
    const fanOut = new FanOut<Member>({ all: 2, each: 2 })
    const [gone, late] = [stream(), stream()]
    fanOut.join(gone, 0)
    take(fanOut, gone)
    fanOut.received(1, bare('e-3'))
    fanOut.reported(1, 1)
    expect(fanOut.join(late, 6_000)).toBe(false)
    expect(fanOut.join(late, 6_001)).toBe(true)
    expect(take(fanOut, late, 6_001)).toEqual([{ do: 'lead', term: 2 }])
  })
})
