// The keyboard's place among the cards: kept while the board changes under it, moved by arrows.

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { type Grid, heirOf, moveFrom, nearest } from './keyboard.ts'

/** The card that an event or the focus is in. */
export function cardIdOf(target: EventTarget | null): string | undefined {
  if (!(target instanceof Element)) return undefined
  return target.closest<HTMLElement>('[data-card]')?.dataset.card
}

function linkOf(board: Element | null, id: string): HTMLElement | null {
  return board?.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"] a`) ?? null
}

export function focusCard(board: Element | null, id: string): void {
  const link = linkOf(board, id) ?? board?.querySelector<HTMLElement>('[data-card] a[tabindex="0"]')
  // No further than it must: focus alone puts what it scrolls to in the middle.
  link?.focus({ preventScroll: true })
  link?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

/** A card that moved keeps the focus; one that is gone leaves it to its neighbour. No scrolling. */
export function useKeptFocus(board: RefObject<HTMLElement>, grid: Grid): void {
  const before = useRef(grid)
  // Read while the cards of before still stand.
  const focused = board.current ? cardIdOf(document.activeElement) : undefined
  useLayoutEffect(() => {
    const old = before.current
    before.current = grid
    if (focused === undefined || cardIdOf(document.activeElement) === focused) return
    const heir = heirOf(old, grid, focused)
    if (heir !== undefined) linkOf(board.current, heir)?.focus({ preventScroll: true })
  })
}

/** Returns whether the key led somewhere. */
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
