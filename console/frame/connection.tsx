// The lamps of the connection: the stream and the sidecar.

import { now } from '../data/clock.ts'
import type { Live } from '../data/live/live.ts'
import { sidecarState } from '../data/live/status.ts'
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
  const stream = lampOf(live.state.value, now.value)
  const reading = stream.lamp === 'go' ? (staleBoard(live) ?? stream) : stream
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

/** The stream is open, and nobody tells the edge what the folder has. */
function staleBoard(live: Live): LampStatus | undefined {
  const { connection } = frameWords
  const status = live.status.value
  if (status?.store === 'missing') {
    return { lamp: 'stop', text: connection.boardMissing, hint: connection.storeMissing }
  }
  const sidecar = sidecarState(status, now.value)
  if (sidecar.name !== 'offline') return undefined
  const text = connection.stale(timeOf(sidecar.lastSeenAt, now.value))
  return { lamp: 'stop', text, hint: connection.offlineHint }
}

function readSidecar(live: Live): LampStatus {
  const status = live.status.value
  const sidecar = sidecarState(status, now.value)
  const { connection } = frameWords
  if (!status) return { lamp: 'caution', text: connection.sidecarUnasked }
  if (status.store === 'missing') return { lamp: 'stop', text: connection.storeMissing }
  switch (sidecar.name) {
    case 'unknown':
      return { lamp: 'caution', text: connection.sidecarUnknown }
    case 'online':
      return { lamp: 'go', text: connection.sidecarOnline(ago(sidecar.lastSeenAt, now.value)) }
    case 'offline': {
      const text = connection.sidecarOffline(timeOf(sidecar.lastSeenAt, now.value))
      return { lamp: 'stop', text }
    }
  }
}
