// Where a key moves the focus, and which card gets the focus of one that disappeared. Pure.

/** The ids of the shown cards, by column. */
export type Grid = readonly (readonly string[])[]

export type Move =
  | { to: 'card'; id: string }
  /** The nearest card of that column. Only the page knows positions on the screen. */
  | { to: 'column'; ids: readonly string[] }

/** Undefined: the key does not move the focus. */
export function moveFrom(
  grid: Grid,
  id: string,
  key: string,
  direction: 'ltr' | 'rtl',
): Move | undefined {
  const column = grid.findIndex((ids) => ids.includes(id))
  const ids = grid[column] ?? []
  const at = ids.indexOf(id)
  const toCard = (next: string | undefined): Move | undefined =>
    next === undefined ? undefined : { to: 'card', id: next }
  switch (key) {
    case 'ArrowUp':
      return toCard(ids[at - 1])
    case 'ArrowDown':
      return toCard(ids[at + 1])
    case 'Home':
      return toCard(ids[0])
    case 'End':
      return toCard(ids.at(-1))
    case 'ArrowLeft':
    case 'ArrowRight': {
      const isOnwards = (key === 'ArrowRight') === (direction === 'ltr')
      const rest = isOnwards ? grid.slice(column + 1) : grid.slice(0, Math.max(0, column)).reverse()
      const next = rest.find((others) => others.length > 0)
      return next && { to: 'column', ids: next }
    }
    default:
      return undefined
  }
}

/** The list with the last card of the column of `id`. Its end may not be rendered yet. */
export function lastList<List extends { status: string; cards: readonly Identified[] }>(
  lists: readonly List[],
  id: string,
): List | undefined {
  const own = lists.find(({ cards }) => cards.some(({ task }) => task.id === id))
  return lists.findLast(({ status, cards }) => status === own?.status && cards.length > 0)
}

interface Identified {
  task: { id: string }
}

/** The index of the nearest number; of two, the first. */
export function nearest(numbers: readonly number[], to: number): number {
  return numbers.reduce(
    (best, it, at) => (Math.abs(it - to) < Math.abs((numbers[best] ?? Infinity) - to) ? at : best),
    0,
  )
}

/**
 * The card that gets the focus when `id` is no longer shown: the next one in its column that is
 * still shown, else the one before, else the first card of the board.
 */
export function nextFocus(before: Grid, after: Grid, id: string): string | undefined {
  const shown = new Set(after.flat())
  if (shown.has(id)) return id
  const ids = before.find((column) => column.includes(id)) ?? []
  const at = ids.indexOf(id)
  const isShown = (other: string) => shown.has(other)
  return ids.slice(at + 1).find(isShown) ?? ids.slice(0, at).findLast(isShown) ?? after.flat()[0]
}
