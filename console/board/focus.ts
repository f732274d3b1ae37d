// The focus among the cards: kept while the board changes, moved by arrow keys.

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { type Grid, moveFrom, nearest, nextFocus } from './keyboard.ts'

/** The card that contains the target of an event, or the focus. */
export function cardIdOf(target: EventTarget | null): string | undefined {
  if (!(target instanceof Element)) return undefined
  return target.closest<HTMLElement>('[data-card]')?.dataset.card
}

function linkOf(board: Element | null, id: string): HTMLElement | null {
  return board?.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"] a`) ?? null
}

export function focusCard(board: Element | null, id: string): void {
  const link = linkOf(board, id) ?? board?.querySelector<HTMLElement>('[data-card] a[tabindex="0"]')
  // `focus` alone would scroll the card to the middle. This scrolls as little as possible.
  link?.focus({ preventScroll: true })
  link?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

/** A moved card keeps the focus. If it disappears, its neighbour gets the focus. No scrolling. */
export function useCardFocus(board: RefObject<HTMLElement>, grid: Grid): void {
  const before = useRef(grid)
  // Read before the render changes the document.
  const focused = board.current ? cardIdOf(document.activeElement) : undefined
  useLayoutEffect(() => {
    const old = before.current
    before.current = grid
    if (focused === undefined || cardIdOf(document.activeElement) === focused) return
    const next = nextFocus(old, grid, focused)
    if (next !== undefined) linkOf(board.current, next)?.focus({ preventScroll: true })
  })
}

/** Returns whether the key moved the focus. */
export function moveByKey(board: Element, grid: Grid, event: KeyboardEvent): boolean {
  const id = cardIdOf(event.target)
  if (id === undefined || event.altKey || event.ctrlKey || event.metaKey) return false
  const direction = getComputedStyle(board).direction === 'rtl' ? 'rtl' : 'ltr'
  const move = moveFrom(grid, id, event.key, direction)
  if (!move) return false
  event.preventDefault()
  focusCard(board, move.to === 'card' ? move.id : nearestOf(board, move.ids, id))
  return true
}

function nearestOf(board: Element, ids: readonly string[], id: string): string {
  const topOf = (card: string) => linkOf(board, card)?.getBoundingClientRect().top ?? Infinity
  return ids[nearest(ids.map(topOf), topOf(id))] ?? id
}
