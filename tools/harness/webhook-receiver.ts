// A receiver of Standard Webhooks on a real port. The package `standardwebhooks` verifies the
// requests, not our own code.

import { createServer, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { listen } from './free-port.ts'

export interface ReceivedWebhook<Body> {
  /** `webhook-id`: the same for every attempt. */
  id: string
  body: Body
  /** Why the signature is invalid; undefined: it is valid. */
  forged?: string
}

type Status = number | undefined

export class WebhookReceiver<Body> {
  url = ''
  /** The status of the answer. Undefined: there is none, and the connection ends. */
  receive: (webhook: ReceivedWebhook<Body>) => Status | Promise<Status> = () => 204
  readonly #webhook: Webhook
  readonly #server: Server

  constructor(secret: string) {
    this.#webhook = new Webhook(secret)
    // A sender must not use a connection at the moment in which it is closed for being idle.
    const options = { keepAliveTimeout: 0 }
    this.#server = createServer(options, (request, response) => {
      const receive = async (body: string) => {
        const status = await this.receive(this.#read(body, request.headers as never))
        if (status === undefined) response.destroy()
        else response.writeHead(status).end()
      }
      // An edge that is killed may have sent half of it.
      void text(request).then(receive, () => response.destroy())
    })
  }

  async listen(): Promise<void> {
    this.url = `${await listen(this.#server)}/events`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #read(body: string, headers: Record<string, string>): ReceivedWebhook<Body> {
    const read = { id: headers['webhook-id'] ?? '', body: JSON.parse(body) as Body }
    try {
      this.#webhook.verify(body, headers)
      return read
    } catch (error) {
      return { ...read, forged: String(error) }
    }
  }
}
