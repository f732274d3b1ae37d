// Looks at one file: reads it, parses it, and says how much that can be trusted. A file that is
// caught half-written, or a store that went away as a whole, is neither a change nor a removal.

import { lstatSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { type Entry, type FileKind, invalidOf, type Store } from '../layouts/layout.ts'
import { digest } from './compact.ts'
import { type Says, saysOnlyBroken } from './facts.ts'
import { type FileStat, isRacy, type SeenStat, youngest } from './file-stat.ts'
import type { Source } from './read-source.ts'

/** A writer that takes longer over one file is not writing it any more. */
export const HALF_WRITTEN_MS = 1_000

export type Look =
  | {
      state: 'says'
      says: Says
      /** Broken, and so young that its writer may not be done. */
      unsure: boolean
    }
  | { state: 'gone' }
  /** Nothing can be said of the file now: keep what is known, look again. */
  | {
      state: 'later'
      why: string
      /** For a file of which nothing is known yet: that it cannot be read. */
      says?: Says
    }

export type FileReader = (path: string, knownHash?: string) => Look

export interface FileReaderDeps {
  store: Store
  readSource: (store: Store, path: string) => Source
  clock: Pick<Clock, 'now'>
}

export function createFileReader({ store, readSource, clock }: FileReaderDeps): FileReader {
  return (path, knownHash) => {
    const kind = store.classify(path)
    if (kind === undefined) return { state: 'gone' }
    const stat = statOf(path)
    const source = readSource(store, path)
    if (source.state === 'gone') {
      // A store that vanished took its files along; none of them was deleted.
      if (statOf(store.root)?.isDirectory()) return { state: 'gone' }
      return { state: 'later', why: `${store.root} is missing` }
    }
    if (source.state === 'refused' && source.transient) {
      const { why } = source
      const entries = store.unreadable(path, kind, why)
      return { state: 'later', why, says: { hash: digest(`refused: ${why}`), entries, chars: 0 } }
    }
    const text = source.state === 'read' ? source.text : source.why
    const hash = digest(source.state === 'read' ? text : `refused: ${text}`)
    const looked = stat && { stat: seen(stat, clock.now()) }
    if (hash === knownHash) {
      return { state: 'says', says: { hash, entries: [], chars: 0, ...looked }, unsure: false }
    }
    const entries =
      source.state === 'read' ? store.parse(path, kind, text) : store.unreadable(path, kind, text)
    const isYoung = stat !== undefined && Math.abs(clock.now() - youngest(stat)) < HALF_WRITTEN_MS
    const isChanging = source.state === 'read' && source.changing === true
    const unsure = isYoung && (isChanging || isBroken(kind, text, entries))
    return { state: 'says', says: { hash, entries, chars: text.length, ...looked }, unsure }
  }
}

function isBroken(kind: FileKind, text: string, entries: readonly Entry[]): boolean {
  if (text.trim() === '' || saysOnlyBroken(entries)) return true
  // One task of many that is out of order is how its author left it; the file was read whole.
  if (kind === 'tasks') return false
  return entries.length === 0 || entries.some((entry) => invalidOf(entry) !== undefined)
}

function seen(stat: FileStat, now: number): SeenStat {
  const { size, mtimeMs, ctimeMs, ino } = stat
  return { size, mtimeMs, ctimeMs, ino, isRacy: isRacy(stat, now) }
}

function statOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // Whatever forbids to look: reading says so in its own words.
    return undefined
  }
}
