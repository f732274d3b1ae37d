// The runs of a task's checks, newest first; their output is a step away.

import type { Run } from '../../../worker/board/wire.ts'
import { Age } from '../../ui/time.tsx'
import { words } from '../../words.ts'

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
  const say = words.board.detail
  const isGood = exit === 0 && !timedout
  return (
    <span class={isGood ? 'result go' : 'result stop'}>
      {timedout ? say.timedOut : say.exit(exit)}
    </span>
  )
}

function RunOutput({ run: { cwd, head, output = '', invalid } }: { run: Run }) {
  const say = words.board.detail
  return (
    <>
      {invalid !== undefined && <p class="invalid-line">{words.board.card.invalid(invalid)}</p>}
      {(cwd !== undefined || head !== undefined) && (
        <p class="soft mono">{[cwd, head].filter(Boolean).join(' · ')}</p>
      )}
      {output.trim() === '' ? (
        <p class="soft">{say.noOutput}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
        <pre tabIndex={0}>{output}</pre>
      )}
    </>
  )
}
