// Announces changes to screen readers, at most one sentence every few seconds.

import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { announcementOf, changedIds } from './screen-reader.ts'

/** With a shorter interval, an agent at work would interrupt each sentence. */
const INTERVAL_MS = 3_000

export function Announcer({
  changedAt,
}: {
  changedAt: ReadonlySignal<ReadonlyMap<string, number>>
}) {
  const [sentence, setSentence] = useState('')
  useEffect(() => {
    let announced = changedAt.peek()
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = changedAt.subscribe((after) => {
      if (after === announced || timer !== undefined) return
      timer = setTimeout(() => {
        timer = undefined
        setSentence(announcementOf(changedIds(announced, changedAt.peek())))
        announced = changedAt.peek()
      }, INTERVAL_MS)
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
