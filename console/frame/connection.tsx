// The lamps of the connection: the stream and the sidecar.

import { now } from '../data/clock.ts'
import type { Live } from '../data/live/live.ts'
import { ago, timeOf } from '../ui/time-text.ts'
import { type LampStatus, lampOf } from './lamp.ts'
import { frameWords } from './words.ts'

export function Connection({ live }: { live: Live }) {
  return (
    <div class="connection">
      <StreamLamp live={live} />
      <LampItem name={frameWords.connection.sidecar} {...readSidecar(live)} />
    </div>
  )
}

/** The open task covers the bar, so its dialog shows this lamp as well. */
export function StreamLamp({ live }: { live: Live }) {
  const reading = lampOf(live.state.value, now.value)
  return <LampItem name={frameWords.connection.board} isMain {...reading} />
}

interface LampItemProps extends LampStatus {
  name: string
  /** Screen readers announce changes of the main lamp. */
  isMain?: true
}

function LampItem({ name, lamp, text, hint, isMain }: LampItemProps) {
  return (
    <p class={`lamp ${lamp}`} title={hint}>
      <span class="lamp-name">{name}</span>
      {/* The sidecar lamp contains an age: announcing it each minute would disturb. */}
      <span role={isMain && 'status'}>{text}</span>
    </p>
  )
}

function readSidecar(live: Live): LampStatus {
  const state = live.state.value
  const { connection } = frameWords
  switch (state.name) {
    case 'live':
      return { lamp: 'go', text: connection.sidecarOnline(ago(state.currentAt, now.value)) }
    case 'stale': {
      const offline = connection.sidecarOffline(timeOf(state.currentAt, now.value))
      return { lamp: 'stop', text: state.reason === 'missing' ? connection.storeMissing : offline }
    }
    case 'waiting':
      return { lamp: 'caution', text: connection.sidecarUnknown }
    default:
      return { lamp: 'caution', text: connection.sidecarUnasked }
  }
}
