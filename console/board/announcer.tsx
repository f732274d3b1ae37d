// Tells changes to screen readers, sparingly: those of a few seconds together.

import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { announcementOf, changedIds } from './screen-reader.ts'

/** Less, and an agent at work would never let the reader finish a sentence. */
const GATHER_MS = 3_000

export function Announcer({
  changedAt,
}: {
  changedAt: ReadonlySignal<ReadonlyMap<string, number>>
}) {
  const [sentence, setSentence] = useState('')
  useEffect(() => {
    let told = changedAt.peek()
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = changedAt.subscribe((after) => {
      if (after === told || timer !== undefined) return
      timer = setTimeout(() => {
        timer = undefined
        setSentence(announcementOf(changedIds(told, changedAt.peek())))
        told = changedAt.peek()
      }, GATHER_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [changedAt])
  return (
    <p role="status" class="visually-hidden">
      {sentence}
    </p>
  )
}
