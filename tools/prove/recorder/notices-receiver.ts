// Where people would be told of the board: it refuses notices, hangs, and loses its answers.

import type { Seeded } from '../../harness/seeded.ts'
import { type ReceivedWebhook, WebhookReceiver } from '../../harness/webhook-receiver.ts'
import type { Recorder } from './recorder.ts'

type How = 'takes' | 'refuses' | 'hangs' | 'loses'
const STATUSES: Partial<Record<How, number>> = { takes: 204, refuses: 500 }

interface Notice {
  timestamp: string
  data: { causes: object[] }
}

export class NoticesReceiver extends WebhookReceiver<Notice> {
  #how: () => How = () => 'takes'
  #seen: (line: object) => void = () => undefined

  /** From here on each is a line of the history, and some are not taken. */
  record(recorder: Recorder, random: Seeded): void {
    this.#seen = (line) => recorder.write({ kind: 'notice', ...line })
    this.#how = () =>
      random.weighted<How>([
        [6, 'takes'],
        [2, 'refuses'],
        [1, 'hangs'],
        [1, 'loses'],
      ])
  }

  takeAll(): void {
    this.#how = () => 'takes'
  }

  /** What comes from here on is not recorded: it is signed at a time that nobody here believes. */
  mute(): void {
    this.#seen = () => undefined
  }

  protected receive({ body, ...of }: ReceivedWebhook<Notice>): Promise<number | undefined> {
    const how = this.#how()
    const { timestamp, data } = body
    this.#seen({ how, ...of, timestamp, causes: data.causes })
    return how === 'hangs' ? new Promise(() => undefined) : Promise.resolve(STATUSES[how])
  }
}
