// The last change messages, which show that the stream works.

import type { Signal } from '../../client/index.ts'
import { now } from '../data/clock.ts'
import type { Live } from '../data/live/live.ts'
import { timeOf } from '../ui/time-text.ts'
import { frameWords } from './words.ts'

const SHOWN = 12

export function SignalStrip({ live }: { live: Live }) {
  const signals = live.signals.value.slice(0, SHOWN)
  return (
    <footer class="strip">
      <h2>{frameWords.connection.signals}</h2>
      {signals.length === 0 ? (
        <p>{frameWords.connection.noSignals}</p>
      ) : (
        <ol>
          {signals.map((signal) => (
            <li key={`${signal.id} ${signal.at}`}>
              <time dateTime={new Date(signal.at).toISOString()}>
                {timeOf(signal.at, now.value)}
              </time>{' '}
              {textOf(signal)}
            </li>
          ))}
        </ol>
      )}
    </footer>
  )
}

function textOf({ message }: Signal): string {
  switch (message.type) {
    case 'task-changed':
      return frameWords.connection.taskChanged(message.id)
    case 'tasks-changed':
      return frameWords.connection.tasksChanged
    case 'session-changed':
      return frameWords.connection.sessionChanged(message.session)
  }
}
