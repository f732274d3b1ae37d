import { beforeEach, describe, expect, it } from 'vitest'
import { sharedCall } from '../../../../worker/payments/ledger/shared-call.ts'
import { FakeClock, settle } from '../../../support/fake-clock.ts'

interface Call {
  items: readonly string[]
  /** Answers each item with itself in capitals, or with these answers. */
  answer(answers?: readonly string[]): Promise<void>
  fail(error: Error): Promise<void>
}

let clock: FakeClock
let calls: Call[]
let kept: Promise<unknown>[]
let submit: (item: string) => Promise<string>

beforeEach(() => {
  clock = new FakeClock()
  calls = []
  kept = []
  submit = sharedCall<string>({
    clock,
    keepAlive: (work) => kept.push(work),
    call: (items) =>
      new Promise((resolve, reject) => {
        calls.push({
          items,
          answer(answers = items.map((item) => item.toUpperCase())) {
            resolve(answers)
            return settle()
          },
          fail(error) {
            reject(error)
            return settle()
          },
        })
      }),
  })
})

const items = () => calls.map((call) => call.items)
const call = (at: number): Call => calls[at] ?? expect.fail(`there was no call ${at}`)
/** Two calls under way, so that the next items wait. */
const busy = () => ['x', 'y'].map((item) => submit(item))
const many = (count: number) => Array.from({ length: count }, (_, n) => `i${n}`)

describe('one call for many', () => {
  it('calls at once for a single item, and sets no timer', async () => {
    const first = submit('a')
    expect(items()).toEqual([['a']])
    expect(clock.pending).toBe(0)
    await call(0).answer()
    expect(await first).toBe('A')
    const second = submit('b')
    expect(items()).toEqual([['a'], ['b']])
    await call(1).answer()
    expect(await second).toBe('B')
    expect(clock.pending).toBe(0)
  })

  it('gathers items while two calls are under way, and answers each with its own result', async () => {
    const first = busy()
    const later = ['a', 'b', 'c'].map((item) => submit(item))
    expect(items()).toEqual([['x'], ['y']])
    await call(1).answer()
    expect(items().slice(2)).toEqual([['a', 'b', 'c']])
    await call(2).answer()
    expect(await Promise.all(later)).toEqual(['A', 'B', 'C'])
    expect(await first[1]).toBe('Y')
    expect(clock.pending).toBe(0)
  })

  it('puts at most 32 items into a call, and a full call does not wait for those under way', async () => {
    void busy()
    const waiting = many(150).map((item) => submit(item))
    expect(calls.map((each) => each.items.length)).toEqual([1, 1, 32, 32, 32, 32])
    await call(0).answer()
    expect(items().slice(2).flat()).toEqual(many(150))
    await Promise.all(calls.slice(2).map((each) => each.answer()))
    expect(await Promise.all(waiting)).toEqual(many(150).map((item) => item.toUpperCase()))
    expect(clock.pending).toBe(0)
  })

  it('calls earlier for long items, so that no call gets too large', () => {
    void busy()
    const long = 'l'.repeat(400_000)
    for (let n = 0; n < 4; n++) void submit(long)
    expect(calls.map((each) => each.items.length)).toEqual([1, 1, 3])
  })

  it('keeps the request of the leader alive for as long as it leads', async () => {
    void busy()
    void submit('a')
    expect(kept).toHaveLength(2)
    let isOver = false
    void kept[0]?.then(() => {
      isOver = true
    })
    await call(0).answer()
    expect(isOver).toBe(false)
    await call(2).answer()
    expect(isOver).toBe(true)
  })

  it('fails all items of a failed call and no others, and goes on', async () => {
    const [leader] = busy()
    void leader?.catch(() => undefined)
    const first = [submit('a'), submit('b')].map((each) => each.catch(String))
    await call(0).fail(new Error('reset'))
    await expect(leader).rejects.toThrow('reset')
    await call(2).fail(new Error('no database'))
    expect(await Promise.all(first)).toEqual(['Error: no database', 'Error: no database'])
    const next = submit('c')
    expect(items().at(-1)).toEqual(['c'])
    await calls.at(-1)?.answer()
    expect(await next).toBe('C')
    expect(clock.pending).toBe(0)
  })

  it('fails all items of a call with too few results, instead of mixing them up', async () => {
    void busy()
    const waiting = [submit('a'), submit('b')].map((each) => each.catch(String))
    await call(0).answer()
    await call(2).answer(['B'])
    expect(await Promise.all(waiting)).toEqual(Array(2).fill(expect.stringContaining('answered')))
  })
})

describe('a leader that has vanished', () => {
  it('is given up by the items in its call, which are then sent one by one', async () => {
    void busy()
    const waiting = [submit('a'), submit('b')]
    await call(0).answer()
    expect(items()[2]).toEqual(['a', 'b'])
    await clock.advance(3_000)
    expect(items().slice(3)).toEqual([['a'], ['b']])
    await call(3).answer()
    await call(4).answer()
    expect(await Promise.all(waiting)).toEqual(['A', 'B'])
    expect(clock.pending).toBe(0)
  })

  it('is given up by the gathered items, which are then sent once', async () => {
    void busy()
    const waiting = submit('a')
    await clock.advance(3_000)
    expect(items().slice(2)).toEqual([['a']])
    await call(2).answer()
    expect(await waiting).toBe('A')
    await call(0).answer()
    void submit('b')
    expect(items().slice(3)).toEqual([['b']])
  })

  it('is replaced after two seconds, by a leader that sends the waiting items', async () => {
    void busy()
    const waiting = submit('a')
    await clock.advance(2_000)
    const next = submit('b')
    expect(items().slice(2)).toEqual([['a', 'b']])
    await call(2).answer()
    expect(await Promise.all([waiting, next])).toEqual(['A', 'B'])
    expect(clock.pending).toBe(0)
  })

  it('changes nothing with a late answer', async () => {
    void busy()
    const waiting = submit('a')
    await call(0).answer()
    await clock.advance(3_000)
    await call(3).answer(['alone'])
    await call(2).answer(['together'])
    expect(await waiting).toBe('alone')
  })

  it('is replaced by only one other', async () => {
    void busy()
    await clock.advance(2_000)
    void busy()
    void submit('a')
    expect(items()).toHaveLength(4)
    await call(0).answer()
    void submit('b')
    expect(items()).toHaveLength(4)
  })
})

describe('a leader', () => {
  it('leads for at most sixteen calls, and leaves no item behind', async () => {
    void busy()
    const waiting: Promise<string>[] = []
    for (let n = 0; n < 15; n++) {
      waiting.push(submit(`i${n}`))
      await calls[n === 0 ? 0 : 1 + n]?.answer()
    }
    expect(items().slice(2)).toEqual(many(15).map((item) => [item]))
    const next = submit('next')
    expect(items().at(-1)).toEqual(['next'])
    await call(16).answer()
    await kept[0]
    await calls.at(-1)?.answer()
    expect(await Promise.all([...waiting, next])).toHaveLength(16)
    expect(clock.pending).toBe(0)
  })

  it('calls only once more after two seconds, and lets another one lead', async () => {
    void busy()
    const waiting = submit('a')
    await clock.advance(2_500)
    await call(0).answer()
    expect(items().slice(2)).toEqual([['a']])
    const next = submit('b')
    expect(items().slice(3)).toEqual([['b']])
    await call(2).answer()
    await call(3).answer()
    expect(await Promise.all([waiting, next])).toEqual(['A', 'B'])
  })
})
