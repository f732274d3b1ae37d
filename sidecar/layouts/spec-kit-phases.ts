// The order of the phases of a list of spec-kit, as its template states it: Setup, then what blocks
// all user stories, then these beside each other, then the polish of all. No I/O.

import type { Item } from './checklist-items.ts'
import type { Order } from './checklist-order.ts'

/** `Phase 3: User Story 1`. */
const PHASE = /^phase\s+[\w.]{1,9}\s*[:.–—-]\s*/i
/** The heading of a phase after that: `Setup (Shared Infrastructure)`, and so on. */
const SETUP = /^(?:project\s+)?set-?up\b/i
const FOUNDATION = /^foundation(?:s|al)?\b/i
const POLISH = /^polish\b/i

type Phase = 'setup' | 'foundation' | 'story' | 'polish'

/** `isFirst`: no story stands above. What is set up below one is part of another story. */
function phaseOf(group = '', isFirst: boolean): Phase {
  const name = group.replace(PHASE, '')
  if (isFirst && SETUP.test(name)) return 'setup'
  if (isFirst && FOUNDATION.test(name)) return 'foundation'
  return POLISH.test(name) ? 'polish' : 'story'
}

/** `isParallel`: it has the mark `[P]`. Without it a task waits for those before in its phase. */
export function phaseOrder(items: readonly Item[], isParallel: (item: Item) => boolean): Order {
  const order = new Map<Item, readonly (readonly Item[])[]>()
  const tasks: Record<Phase, Item[]> = { setup: [], foundation: [], story: [], polish: [] }
  const base = () => (tasks.foundation.length > 0 ? tasks.foundation : tasks.setup)
  const BEFORE: Record<Phase, () => Item[]> = {
    setup: () => [],
    foundation: () => tasks.setup,
    story: base,
    polish: () => (tasks.story.length > 0 ? tasks.story : base()),
  }
  let group: string | undefined
  /** Of this phase, from the last task on that is not parallel. */
  let latest: Item[] = []
  for (const item of items) {
    // A part waits for what its whole waits for.
    if (item.whole) continue
    if (item.group !== group) latest = []
    group = item.group
    const phase = phaseOf(group, tasks.story.length === 0)
    const before = BEFORE[phase]()
    if (isParallel(item)) {
      order.set(item, [before])
      latest.push(item)
    } else {
      order.set(item, [before, latest])
      latest = [item]
    }
    tasks[phase].push(item)
  }
  return order
}
