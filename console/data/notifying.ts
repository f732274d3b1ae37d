// Whether this browser shows notices of a board, and which it has shown: kept for all of its tabs.

import { signal } from '@preact/signals'
import type { Known } from '../../worker/board/notices/notice-turn.ts'

/** By rule, then by the key of the cause. It is kept as JSON. */
export type Shown = Partial<Record<string, Readonly<Record<string, Known>>>>

const keyOf = (path: string): string => `signalbox.notices ${path}`

/** As another tab may have left it. Undefined: this browser shows none. */
export function shownOn(path: string): Shown | undefined {
  try {
    return JSON.parse(localStorage.getItem(keyOf(path)) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export const keepShown = (path: string, shown: Shown): void =>
  localStorage.setItem(keyOf(path), JSON.stringify(shown))

/** What was turned here, by path. */
const turned = signal<Readonly<Record<string, boolean>>>({})

export const isNotifying = (path: string): boolean =>
  turned.value[path] ?? shownOn(path) !== undefined

export function turn(path: string, on: boolean): void {
  if (on) keepShown(path, {})
  else localStorage.removeItem(keyOf(path))
  turned.value = { ...turned.peek(), [path]: on }
}
