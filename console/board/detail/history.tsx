// Who did what to a task, newest first.

import type { Provenance } from '../../../worker/board/wire.ts'
import { Age } from '../../ui/time.tsx'

export function History({ entries }: { entries: readonly Provenance[] }) {
  return (
    <ol class="history">
      {entries.toReversed().map(({ who, at, did, text }, index) => (
        // Counted from the oldest, so that an entry that is added leaves the others alone.
        <li key={entries.length - index}>
          <p>
            <strong>{who}</strong> {did}{' '}
            <span class="soft">
              <Age at={at} />
            </span>
          </p>
          {text !== undefined && <p dir="auto">{text}</p>}
        </li>
      ))}
    </ol>
  )
}
