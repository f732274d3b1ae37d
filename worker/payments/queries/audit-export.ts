// The audit trail as one text: CSV for spreadsheets, JSON lines for programs. It is read page by
// page while it is sent.

import type { AuditRecord, Listed } from '../domain/types.ts'
import type { Page } from './queries-libsql.ts'

type Acts = readonly Listed<AuditRecord>[]

const PAGE = 500

// biome-ignore format: several names a line.
const COLUMNS = [
  'id', 'at', 'action', 'subject', 'gateway', 'reference', 'transactionId', 'about', 'amount',
  'currency', 'detail', 'invalid',
]

/** The media type, the first line, and how a row is a line. */
const FORMATS = {
  csv: ['text/csv', `${COLUMNS.join()}\r\n`, csvLine],
  jsonl: ['application/jsonl', '', (act: object) => `${JSON.stringify(act)}\n`],
} as const

/**
 * All rows from a page on, newest first. Rejects as `read` does for the first page; if a later one
 * cannot be read, the text breaks off: an end would say that this was all.
 */
export async function exported(
  format: keyof typeof FORMATS,
  { before }: Page,
  read: (page: Page) => Promise<Acts>,
): Promise<{ body: ReadableStream; headers: Record<string, string> }> {
  const [type, head, lineOf] = FORMATS[format]
  const first = await read({ limit: PAGE, ...(before !== undefined && { before }) })
  async function* lines(): AsyncGenerator<string> {
    yield head
    for (let acts = first; ; acts = await read({ limit: PAGE, before: acts.at(-1)?.id ?? '' })) {
      yield acts.map(lineOf).join('')
      if (acts.length < PAGE) return
    }
  }
  const source = lines()
  const body = new ReadableStream<string>({
    async pull(controller) {
      const { done, value } = await source.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  }).pipeThrough(new TextEncoderStream())
  const headers = {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="signalbox-audit.${format}"`,
  }
  return { body, headers }
}

function csvLine(act: object): string {
  const values = { ...act } as Record<string, unknown>
  return `${COLUMNS.map((column) => cell(values[column])).join()}\r\n`
}

/**
 * What a spreadsheet takes for the beginning of a formula. Some split a cell at `;` or a tab,
 * whatever its quotes are, and leave out what cannot be seen.
 */
const FORMULA =
  /(^|[;\t\r\n])((?:(?![;\t\r\n])[\s\p{Cc}\p{Cf}\p{Z}"'])*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/gu

/** Spreadsheets run no text that begins with `'`. RFC 4180: a quote is written twice. */
function cell(value: unknown): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value)
  const guarded = value.replaceAll(FORMULA, "$1'$2")
  const text = /^[\t\r\n]/.test(guarded) ? `'${guarded}` : guarded
  return `"${text.replaceAll('"', '""')}"`
}
