import { expect, it } from 'vitest'
import { settleTogether } from '../../../../worker/payments/outbox/settle-together.ts'
import { FakeClock, settle } from '../../../support/fake-clock.ts'

function bed() {
  const clock = new FakeClock()
  const calls: { items: readonly string[]; end: () => void; fail: (error: Error) => void }[] = []
  const together = settleTogether<string>(
    (items) =>
      new Promise((end, fail) => {
        calls.push({ items, end, fail })
      }),
    clock.now,
  )
  return { clock, calls, together, items: () => calls.map((call) => call.items) }
}

it('stores at once what comes alone', async () => {
  const { calls, together, items } = bed()
  const done = together(['a'])
  expect(items()).toEqual([['a']])
  calls[0]?.end()
  await done
  const next = together(['b'])
  expect(items()).toEqual([['a'], ['b']])
  calls[1]?.end()
  await next
})

it('stores together what comes while it stores, and lets none of them wait', async () => {
  const { calls, together, items } = bed()
  const leader = together(['a'])
  await together(['b', 'c'])
  await together(['d'])
  calls[0]?.end()
  await settle()
  expect(items()).toEqual([['a'], ['b', 'c', 'd']])
  calls[1]?.end()
  await leader
})

it('goes on after a failure, which is told to the one who led', async () => {
  const { calls, together, items } = bed()
  const leader = together(['a'])
  calls[0]?.fail(new Error('no database'))
  await expect(leader).rejects.toThrow('no database')
  const next = together(['b'])
  expect(items()).toEqual([['a'], ['b']])
  calls[1]?.end()
  await next
})

it('is taken over from one who vanished at work', async () => {
  const { clock, together, items } = bed()
  void together(['a'])
  await together(['b'])
  await clock.advance(5_000)
  void together(['c'])
  expect(items()).toEqual([['a'], ['b', 'c']])
})

it('does not let one lead for ever, and loses nothing when it hands over', async () => {
  const { clock, calls, together, items } = bed()
  const leader = together(['a'])
  await together(['b'])
  await clock.advance(5_000)
  calls[0]?.end()
  await settle()
  expect(items()).toEqual([['a'], ['b']])
  const next = together(['c'])
  expect(items()).toEqual([['a'], ['b'], ['c']])
  calls[1]?.end()
  await leader
  await together(['d'])
  calls[2]?.end()
  await settle()
  expect(items()).toEqual([['a'], ['b'], ['c'], ['d']])
  calls[3]?.end()
  await next
})
