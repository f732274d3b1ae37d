// The connection: the lamps of the stream and of the sidecar, and the last change messages, which
// show that the stream works.

import type { Signal } from '../../client/index.ts'
import type { Live } from '../data/live.ts'
import { timeOf } from '../ui/text.ts'
import { now } from '../ui/time.tsx'
import { lampOf, sidecarLamp } from './lamp.ts'

export function Connection({ live }: { live: Live }) {
  const { lamp, text } = sidecarLamp(live.state.value, now.value)
  return (
    <div class="connection">
      <StreamLamp live={live} />
      <p class={`lamp ${lamp}`}>
        <span class="lamp-name">Sidecar</span>
        {/* It contains an age: announcing it each minute would disturb. */}
        <span>{text}</span>
      </p>
    </div>
  )
}

/** The open task covers the bar, so its dialog shows this lamp as well. */
export function StreamLamp({ live }: { live: Live }) {
  const { lamp, text, hint } = lampOf(live.state.value, now.value)
  return (
    <p class={`lamp ${lamp}`} title={hint}>
      <span class="lamp-name">Board</span>
      <span role="status">{text}</span>
    </p>
  )
}

const SHOWN = 12

export function SignalStrip({ live }: { live: Live }) {
  const signals = live.signals.value.slice(0, SHOWN)
  return (
    <footer class="strip">
      <h2>Last signals</h2>
      {signals.length === 0 ? (
        <p>None yet. Save a task, and its signal appears here.</p>
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
      return `${message.id} changed`
    case 'tasks-changed':
      return 'Tasks changed'
    case 'session-changed':
      return `Session ${message.session} changed`
  }
}
