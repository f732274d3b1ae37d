// Parses server-sent events from chunks of text, as the HTML standard defines. Pure.

/** The fields of one block. A block with only an `id` moves the position and is no message. */
export interface Block {
  id?: string
  data?: string
  retry?: number
}

const LINE_END = /\r\n|\r|\n/

export class SseParser {
  #partialLine = ''
  #block: Block = {}
  #isFirst: boolean = true
  /** The last chunk ended with CR. The next one may begin with the LF of the same line end. */
  #endedByCr: boolean = false

  /** Returns the blocks that this chunk completes, without comments. */
  push(chunk: string): Block[] {
    if (chunk === '') return []
    const text = this.#isFirst && chunk.startsWith('\uFEFF') ? chunk.slice(1) : chunk
    this.#isFirst = false
    const lines = (this.#endedByCr && text.startsWith('\n') ? text.slice(1) : text).split(LINE_END)
    this.#endedByCr = text.endsWith('\r')
    lines[0] = this.#partialLine + lines[0]
    this.#partialLine = lines.pop() ?? ''
    return lines.flatMap((line) => this.#parseLine(line))
  }

  #parseLine(line: string): Block[] {
    if (line === '') {
      const block = this.#block
      this.#block = {}
      return Object.keys(block).length > 0 ? [block] : []
    }
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    const { data } = this.#block
    if (name === 'data') this.#block.data = data === undefined ? value : `${data}\n${value}`
    // The standard ignores an id with NUL, and it could not be sent back as a header.
    else if (name === 'id' && !value.includes('\0')) this.#block.id = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.#block.retry = Number(value)
    return []
  }
}
