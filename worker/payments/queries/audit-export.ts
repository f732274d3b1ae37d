// The audit trail as one text: CSV for spreadsheets, JSON lines for programs. It is read page by
// page while it is sent.

import type { AuditRecord, Listed } from '../records.ts'
import type { Page } from './queries-libsql.ts'

type Acts = readonly Listed<AuditRecord>[]

const PAGE = 500

const COLUMNS = [
  ...['id', 'at', 'action', 'subject', 'gateway', 'reference', 'transactionId', 'about', 'amount'],
  ...['currency', 'detail', 'invalid'],
]

const FORMATS = {
  csv: { type: 'text/csv', begin: `${COLUMNS.join(',')}\r\n`, lineOf: csvLine },
  jsonl: {
    type: 'application/jsonl',
    begin: '',
    lineOf: (act: object) => `${JSON.stringify(act)}\n`,
  },
}

/**
 * All rows from a page on, newest first. Rejects as `read` does for the first page; if a later one
 * cannot be read, the answer breaks off: an end would say that this was all.
 */
export async function exported(
  format: keyof typeof FORMATS,
  { before }: Page,
  read: (page: Page) => Promise<Acts>,
): Promise<{ body: ReadableStream; headers: Record<string, string> }> {
  const { type, begin, lineOf } = FORMATS[format]
  const bytes = (text: string) => new TextEncoder().encode(text)
  const pageBefore = (id: string | undefined) =>
    read({ limit: PAGE, ...(id !== undefined && { before: id }) })
  let next: Acts | undefined = await pageBefore(before)
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes(begin)),
    async pull(controller) {
      const acts = next ?? []
      controller.enqueue(bytes(acts.map(lineOf).join('')))
      if (acts.length < PAGE) return controller.close()
      next = await pageBefore(acts.at(-1)?.id)
    },
  })
  const headers = {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="signalbox-audit.${format}"`,
  }
  return { body, headers }
}

function csvLine(act: object): string {
  const values = { ...act } as Record<string, unknown>
  return `${COLUMNS.map((column) => cell(values[column])).join(',')}\r\n`
}

/** A spreadsheet runs a text that begins like a formula. RFC 4180: a quote is written twice. */
function cell(value: unknown): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value)
  const text = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value
  return `"${text.replaceAll('"', '""')}"`
}
