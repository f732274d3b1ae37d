// Reads an event stream block by block, as a client does, and records the blocks.

import { expect } from 'vitest'

export interface Block {
  id?: string
  data?: unknown
  comment?: string
  retry?: number
}

export class EventStream {
  readonly response: Response
  readonly blocks: Block[] = []
  ended = false
  #text = ''
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>

  constructor(response: Response) {
    this.response = response
    expect(response.status).toBe(200)
    if (!response.body) throw new Error('the answer has no body')
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>
    this.#read().catch(() => {
      this.ended = true
    })
  }

  /** Waits until `enough` returns true, or fails with the blocks so far. */
  async until(enough: (stream: this) => boolean): Promise<void> {
    await expect.poll(() => enough(this) || JSON.stringify(this.blocks), { interval: 5 }).toBe(true)
  }

  /** Waits until the stream is joined to its repository: it has an id. */
  async joined(): Promise<this> {
    await this.until(() => this.blocks.some((block) => block.id !== undefined))
    return this
  }

  /** The change messages so far. */
  get messages(): unknown[] {
    return this.blocks.filter((block) => 'data' in block).map((block) => block.data)
  }

  get lastId(): string {
    const id = this.blocks.findLast((block) => block.id !== undefined)?.id
    if (id === undefined) throw new Error('the stream has no id yet')
    return id
  }

  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined)
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) break
      this.#text += decoder.decode(value, { stream: true })
      const parts = this.#text.split('\n\n')
      this.#text = parts.pop() ?? ''
      this.blocks.push(...parts.map(parseBlock))
    }
    this.ended = true
  }
}

function parseBlock(text: string): Block {
  const block: Block = {}
  for (const line of text.split('\n')) {
    if (line.startsWith(':')) block.comment = line.slice(2)
    else if (line.startsWith('id: ')) block.id = line.slice(4)
    else if (line.startsWith('retry: ')) block.retry = Number(line.slice(7))
    else if (line.startsWith('data: ')) block.data = JSON.parse(line.slice(6))
    else throw new Error(`the contract does not allow this line: ${line}`)
  }
  return block
}
