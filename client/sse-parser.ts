// Reads server-sent events from text in pieces, as the HTML standard says. Pure.

/** What one block held. An `id` alone moves the place in the log and tells nothing. */
export interface Block {
  id?: string
  data?: string
  retry?: number
}

const LINE_END = /\r\n|\r|\n/

export class SseParser {
  #rest = ''
  #block: Block = {}
  #isFirst: boolean = true
  /** The last piece ended between the two halves of a CRLF, perhaps. */
  #endedByCr: boolean = false

  /** The blocks that this piece completes; comments are in none of them. */
  push(piece: string): Block[] {
    if (piece === '') return []
    const text = this.#isFirst && piece.startsWith('\uFEFF') ? piece.slice(1) : piece
    this.#isFirst = false
    const lines = (this.#endedByCr && text.startsWith('\n') ? text.slice(1) : text).split(LINE_END)
    this.#endedByCr = text.endsWith('\r')
    lines[0] = this.#rest + lines[0]
    this.#rest = lines.pop() ?? ''
    return lines.flatMap((line) => this.#line(line))
  }

  #line(line: string): Block[] {
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
    // An id with NUL would be refused by the edge as a header; the standard ignores it too.
    else if (name === 'id' && !value.includes('\0')) this.#block.id = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.#block.retry = Number(value)
    return []
  }
}
