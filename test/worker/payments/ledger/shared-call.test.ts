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

  it('gathers items while two calls are under way, until one of them ends and another item comes', async () => {
    const first = busy()
    const later = ['a', 'b'].map((item) => submit(item))
    await call(1).answer()
    expect(items()).toEqual([['x'], ['y']])
    later.push(submit('c'))
    expect(items().slice(2)).toEqual([['a', 'b', 'c']])
    await call(2).answer()
    expect(await Promise.all(later)).toEqual(['A', 'B', 'C'])
    expect(await first[1]).toBe('Y')
    expect(clock.pending).toBe(0)
  })

  it('sends what it gathered after 10 ms, however slow the calls under way are', async () => {
    void busy()
    const waiting = ['a', 'b'].map((item) => submit(item))
    await clock.advance(9)
    expect(items()).toHaveLength(2)
    await clock.advance(1)
    expect(items().slice(2)).toEqual([['a', 'b']])
    const later = submit('c')
    await clock.advance(10)
    expect(items().slice(3)).toEqual([['c']])
    await Promise.all([call(2).answer(), call(3).answer()])
    expect(await Promise.all([...waiting, later])).toEqual(['A', 'B', 'C'])
    expect(clock.pending).toBe(0)
  })

  it('puts at most 32 items into a call, and a full call does not wait for those under way', async () => {
    void busy()
    const waiting = many(150).map((item) => submit(item))
    expect(calls.map((each) => each.items.length)).toEqual([1, 1, 32, 32, 32, 32])
    await clock.advance(10)
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

  it('keeps the request that sent a call alive until the call ends', async () => {
    const first = submit('x')
    let isOver = false
    void kept[0]?.then(() => {
      isOver = true
    })
    await settle()
    expect(isOver).toBe(false)
    await call(0).answer()
    expect(isOver).toBe(true)
    expect(await first).toBe('X')
  })

  it('fails all items of a failed call and no others, and goes on', async () => {
    const [sender] = busy()
    void sender?.catch(() => undefined)
    const first = [submit('a'), submit('b')].map((each) => each.catch(String))
    await call(0).fail(new Error('reset'))
    await expect(sender).rejects.toThrow('reset')
    await clock.advance(10)
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
    await clock.advance(10)
    await call(2).answer(['B'])
    expect(await Promise.all(waiting)).toEqual(Array(2).fill(expect.stringContaining('answered')))
  })
})

describe('a sender that has vanished', () => {
  it('is given up by the other items in its call, which are then sent one by one', async () => {
    void busy()
    const [, ...waiting] = ['a', 'b', 'c'].map((item) => submit(item))
    await clock.advance(10)
    expect(items().slice(2)).toEqual([['a', 'b', 'c']])
    await clock.advance(2_990)
    expect(items().slice(3)).toEqual([['b'], ['c']])
    await call(3).answer()
    await call(4).answer()
    expect(await Promise.all(waiting)).toEqual(['B', 'C'])
    expect(clock.pending).toBe(0)
  })

  it('is not waited for after three seconds', async () => {
    void busy()
    await clock.advance(3_000)
    void busy()
    expect(items()).toEqual([['x'], ['y'], ['x'], ['y']])
    void submit('a')
    expect(items()).toHaveLength(4)
  })

  it('keeps nobody who came after it waiting, though its timer has gone with it', async () => {
    void busy()
    const { after } = clock
    clock.after = () => () => false
    void submit('a')
    clock.after = after
    await clock.advance(10)
    expect(items()).toHaveLength(2)
    const next = submit('b')
    expect(items().slice(2)).toEqual([['a', 'b']])
    await call(2).answer()
    expect(await next).toBe('B')
  })

  it('is not waited for by one that gathered with it, which then is not sent again', async () => {
    void busy()
    const { after } = clock
    clock.after = () => () => false
    void submit('a')
    clock.after = after
    const waiting = submit('b')
    await clock.advance(3_000)
    void submit('c')
    expect(items().slice(2)).toEqual([['b'], ['a', 'c']])
    await call(2).answer()
    expect(await waiting).toBe('B')
  })

  it('changes nothing with a late answer', async () => {
    void busy()
    const waiting = [submit('a'), submit('b')]
    await clock.advance(3_000)
    await call(3).answer(['alone'])
    await call(2).answer(['together', 'together'])
    expect(await Promise.all(waiting)).toEqual(['together', 'alone'])
  })
})
