// What a task is checked by, and what came of it.

import type { Check } from '../../../worker/board/wire.ts'
import { words } from '../../words.ts'
import { toneOf } from './colors.ts'

export function Checks({ checks }: { checks: readonly Check[] }) {
  const { checkNoResult, checkMeta } = words.board.detail
  return (
    <ul class="checks">
      {/* Checks have no name but their place. */}
      {checks.map(({ desc, cmd, type, result, cwd, timeout }, at) => (
        <li key={at}>
          <span class={`result ${toneOf(result)}`}>{result ?? checkNoResult}</span>
          <span class="check">
            <span dir="auto">{desc}</span>
            {cmd !== undefined && <code>{cmd}</code>}
            <span class="soft">
              {[
                type,
                cwd !== undefined && `${checkMeta.cwd} ${cwd}`,
                timeout !== undefined && checkMeta.timeout(timeout),
              ]
                .filter(Boolean)
                .join(' · ')}
            </span>
          </span>
        </li>
      ))}
    </ul>
  )
}
