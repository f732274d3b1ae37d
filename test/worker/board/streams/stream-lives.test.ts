// Random lives of streams in several isolates, held against the contract: nothing lost, nothing
// doubled, nothing out of order, whatever happens to those that lead.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MAX_REPLAY, startOver, summarize } from '../../../../worker/board/streams/message.ts'
import type { Message } from '../../../../worker/board/wire.ts'
import { type Life, StreamSimulation } from './stream-simulation.ts'

const ISOLATES = 2
const ROOM = { all: 6, each: 4 }

const pick = fc.nat(1_000)
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      count: fc.integer({ min: 1, max: 3 }),
      isTask: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      count: fc.integer({ min: 15, max: 30 }),
      isTask: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      who: pick,
      from: fc.constantFrom('now', 'now', 'left', 'old', 'unknown'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('kill' as const, 'slow' as const, 'vanish' as const),
      who: pick,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('kill-leader' as const, 'vanish-leader' as const),
      who: pick,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('drop' as const, 'down' as const, 'up' as const) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 100, max: 9_000 })),
    }),
  },
)
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

async function play(simulation: StreamSimulation, what: Happening): Promise<void> {
  const of = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)]
  const leaderOf = (n: number) => of([...simulation.sockets], n)?.owner
  switch (what.do) {
    case 'publish':
      for (let n = 0; n < what.count; n++) simulation.publish(what.isTask ? 'task' : 'session')
      return
    case 'open':
      simulation.open(
        what.who % ISOLATES,
        what.who % 3 === 0 ? 'ann' : 'bob',
        startOf(simulation, what),
      )
      return
    case 'kill': {
      const life = of(simulation.alive, what.who)
      if (life) simulation.end(life, 'killed')
      return
    }
    case 'slow': {
      const life = of(simulation.alive, what.who)
      if (life) life.isSlow = true
      return
    }
    case 'vanish': {
      const life = of(simulation.alive, what.who)
      if (life) simulation.vanish(life)
      return
    }
    case 'kill-leader': {
      const life = leaderOf(what.who)
      if (life) simulation.end(life, 'killed')
      return
    }
    case 'vanish-leader': {
      const life = leaderOf(what.who)
      if (life) simulation.vanish(life)
      return
    }
    case 'drop':
      simulation.drop()
      return
    case 'down':
    case 'up':
      simulation.isDown = what.do === 'down'
      return
    case 'pass':
      await simulation.clock.advance(what.ms)
  }
}

function startOf(
  simulation: StreamSimulation,
  { from, who }: Happening & { do: 'open' },
): string | undefined {
  if (from === 'unknown') return 'anotherepoch-7'
  if (from === 'old') return simulation.idOf(who % (simulation.log.length + 1))
  if (from === 'now') return undefined
  return blocksOf(simulation.lives.findLast(({ end }) => end !== undefined)?.text ?? '').findLast(
    ({ id }) => id !== undefined,
  )?.id
}

interface Block {
  id?: string
  data?: Message
}

const blocksOf = (text: string): Block[] =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((block) => {
      const id = /^id: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      return { ...(id && { id }), ...(data && { data: JSON.parse(data) as Message }) }
    })

/** Throws where the contract is broken. Returns where the stream stands; undefined: not joined. */
function checkLife(
  simulation: StreamSimulation,
  { text, lastEventId, openedAt }: Life,
): number | undefined {
  const isForeign = lastEventId === undefined || lastEventId.startsWith('another')
  let place = isForeign ? undefined : simulation.seqOf(lastEventId)
  let messages: Message[] = []
  for (const { id, data } of blocksOf(text)) {
    if (data) messages.push(data)
    if (id === undefined) continue
    const seq = simulation.seqOf(id)
    if (place === undefined && lastEventId === undefined) {
      // It starts when it was opened, or earlier where its isolate lagged behind.
      const starts = Array.from({ length: Math.min(openedAt, seq) + 1 }, (_, start) => start)
      const possible = starts.map((start) =>
        JSON.stringify(messagesBetween(simulation, start, seq)),
      )
      expect(possible).toContain(JSON.stringify(messages))
    } else if (place === undefined) {
      const sessions = simulation.log.slice(0, seq).filter(({ type }) => type === 'session-changed')
      const newest = sessions.at(-1) as { session: string } | undefined
      expect(messages).toEqual(startOver(newest && expect.any(String)))
    } else {
      expect(seq).toBeGreaterThanOrEqual(place)
      expect(messages).toEqual(messagesBetween(simulation, place, seq))
    }
    place = seq
    messages = []
  }
  // What has no id yet is not whole.
  expect(messages).toEqual([])
  return place
}

/** One by one, or as one window's when there were too many. */
function messagesBetween(simulation: StreamSimulation, after: number, upTo: number): Message[] {
  const missed = simulation.log.slice(after, upTo)
  return missed.length > MAX_REPLAY ? summarize(missed) : missed
}

/** A round may lack one of the rare things; so many in a row do not. */
const MAX_ROUNDS = 10

it('streams that share a socket get each message once and in order, whoever leads or vanishes', async () => {
  // biome-ignore format: several names a line.
  const missing = new Set([
    'alive', 'killed', 'slow', 'full', 'vanished', 'leader vanished', 'asked the repository',
    'board.subscribe_failed', 'board.catch_up_failed',
  ])
  const lives = fc.asyncProperty(
    fc.array(happening, { minLength: 5, maxLength: 60, size: 'max' }),
    async (life) => {
      const simulation = new StreamSimulation(ISOLATES, ROOM)
      for (const what of life) {
        await play(simulation, what)
        // The log tells what was before a stream from what was after it by the millisecond.
        await simulation.clock.advance(1)
      }
      simulation.isDown = false
      // Until whoever vanished is missed, and whoever dials gets through.
      await simulation.clock.advance(90_000)
      simulation.publish('task')
      await simulation.clock.advance(20_000)
      for (const each of simulation.lives) {
        const place = checkLife(simulation, each)
        if (each.end === undefined) expect(place).toBe(simulation.log.length)
        missing.delete(each.end ?? 'alive')
      }
      const isolates = [...simulation.sockets].map(({ isolate }) => isolate)
      expect(new Set(isolates).size).toBe(isolates.length)
      expect(simulation.sockets.size).toBeLessThanOrEqual(
        Math.min(ISOLATES, simulation.alive.length),
      )
      // Nobody fills the repository who is gone.
      if (simulation.alive.length < ROOM.each) {
        let late = simulation.open(0, 'ann')
        await simulation.clock.advance(3_000)
        // Its isolate did not know that others have left, and asks once it has refused somebody.
        if (late.end === 'full') late = simulation.open(0, 'ann')
        await simulation.clock.advance(1_000)
        expect([late.end, checkLife(simulation, late)]).toEqual([undefined, simulation.log.length])
      }
      for (const each of simulation.alive) simulation.end(each, 'killed')
      await simulation.clock.advance(20_000)
      expect([simulation.sockets.size, simulation.clock.pending]).toEqual([0, 0])
      for (const what of simulation.seen) missing.delete(what)
    },
  )
  // Sixty lives, and more where they were too dull to prove something.
  for (let rounds = 0; rounds === 0 || (missing.size > 0 && rounds < MAX_ROUNDS); rounds++) {
    await fc.assert(lives, { numRuns: 60 })
  }
  expect([...missing]).toEqual([])
})
