// Where people would be told of the board: it refuses notices, hangs, and loses its answers.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import type { Recorder } from './recorder.ts'
import type { Seeded } from './seeded.ts'

type How = 'takes' | 'refuses' | 'hangs' | 'loses'

interface Body {
  timestamp: string
  data: { causes: object[] }
}

export class NoticesReceiver {
  url = ''
  readonly #webhook: Webhook
  readonly #server: Server
  #how: () => How = () => 'takes'
  #seen: (line: object) => void = () => undefined

  constructor(secret: string) {
    this.#webhook = new Webhook(secret)
    this.#server = createServer((request, response) => {
      const receive = (body: string) => {
        const how = this.#how()
        this.#seen({ how, ...this.#read(body, request.headers as Record<string, string>) })
        if (how === 'takes') response.writeHead(204).end()
        else if (how === 'refuses') response.writeHead(500).end()
        else if (how === 'loses') response.destroy()
      }
      // An edge that is killed may have sent half of it.
      void text(request).then(receive, () => response.destroy())
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/notices`
  }

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

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #read(body: string, headers: Record<string, string>): object {
    const { timestamp, data } = JSON.parse(body) as Body
    const known = { id: headers['webhook-id'], timestamp, causes: data.causes }
    try {
      this.#webhook.verify(body, headers)
      return known
    } catch (error) {
      return { ...known, forged: String(error) }
    }
  }
}
