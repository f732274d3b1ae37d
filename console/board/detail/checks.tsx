// The checks of a task, and their runs, newest first. The output of a run is folded.

import type { Check, Run } from '../../../api/types.ts'
import { Age } from '../../ui/time.tsx'
import { boardWords } from '../words.ts'
import { colorOf } from './colors.ts'
import { detailWords } from './words.ts'

export function Checks({ checks }: { checks: readonly Check[] }) {
  const { checkNoResult, checkMeta } = detailWords
  return (
    <ul class="checks">
      {/* Checks have no id, so the index is the key. */}
      {checks.map(({ desc, cmd, type, result, cwd, timeout }, at) => (
        <li key={at}>
          <span class={`result ${colorOf(result)}`}>{result ?? checkNoResult}</span>
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

export function Runs({ runs }: { runs: readonly Run[] }) {
  return (
    <ol class="runs">
      {runs.map((run) => (
        <li key={run.file}>
          <details>
            <summary>
              <Outcome run={run} />
              <code>{run.cmd ?? run.file}</code>
              <span class="soft">
                {run.duration}
                {run.duration !== undefined && run.at !== undefined && ' · '}
                {run.at !== undefined && <Age at={run.at} />}
              </span>
            </summary>
            <RunOutput run={run} />
          </details>
        </li>
      ))}
    </ol>
  )
}

function Outcome({ run: { exit, timedout } }: { run: Run }) {
  if (exit === undefined) return <span class="result stop">{detailWords.noExit}</span>
  const isGood = exit === 0 && !timedout
  return (
    <span class={isGood ? 'result go' : 'result stop'}>
      {timedout ? detailWords.timedOut : detailWords.exit(exit)}
    </span>
  )
}

function RunOutput({ run: { cwd, head, output = '', invalid } }: { run: Run }) {
  return (
    <>
      {invalid !== undefined && <p class="invalid-line">{boardWords.card.invalid(invalid)}</p>}
      {(cwd !== undefined || head !== undefined) && (
        <p class="soft mono">{[cwd, head].filter(Boolean).join(' · ')}</p>
      )}
      {output.trim() === '' ? (
        <p class="soft">{detailWords.noOutput}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
        <pre tabIndex={0}>{output}</pre>
      )}
    </>
  )
}
