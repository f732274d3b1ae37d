import { expect, it } from 'vitest'
import { eventIdsInMemory } from '../../events/event-ids.ts'
import { eventIdsIn } from '../../examples/receivers/event-ids.ts'
import { eventIdsContract } from '../contract/event-ids.ts'

eventIdsContract('in memory', eventIdsInMemory)
eventIdsContract('in SQL, as the example keeps them', (now) => eventIdsIn(':memory:', now))

it('In memory the oldest ids are forgotten when there are too many', async () => {
  const ids = eventIdsInMemory(() => 0, 2)
  for (const id of ['a', 'b', 'c']) {
    await ids.claim(id, 1)
    await ids.complete(id)
  }
  expect(await Promise.all(['c', 'b', 'a'].map((id) => ids.claim(id, 1)))).toEqual([
    'handled',
    'handled',
    'new',
  ])
})
