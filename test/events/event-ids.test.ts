import { eventIdsInMemory } from '../../events/event-ids.ts'
import { eventIdsContract } from '../contract/event-ids.ts'

eventIdsContract('in memory', (now, maxHandled) => eventIdsInMemory(now, maxHandled))
