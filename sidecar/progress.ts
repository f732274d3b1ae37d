// One line on a terminal that is written over while a large first sync runs. Small ones are over
// before anybody could read it, so it appears only when there is much to do.

const FROM = 500
const MIN_PAUSE_MS = 100

export interface Progress {
  update(verb: 'read' | 'sent', done: number, total: number): void
  /** Clears the line, so that a log line after it starts on its own. */
  end(): void
}

export function createProgress(write: (text: string) => void, now = Date.now): Progress {
  let shownAt: number | undefined
  const end = (): void => {
    if (shownAt !== undefined) write('\r\x1b[K')
    shownAt = undefined
  }
  return {
    update(verb, done, total) {
      if (total < FROM) return
      if (done >= total) return end()
      if (shownAt !== undefined && now() - shownAt < MIN_PAUSE_MS) return
      const percent = Math.floor((done / total) * 100)
      write(`\r\x1b[K${verb} ${done} of ${total} (${percent} %)`)
      shownAt = now()
    },
    end,
  }
}
