// Rows as one text: CSV for spreadsheets, JSON lines for programs. They are read page by page while
// they are sent.

const PAGE = 500

/** Each page until one is not full. `cursor`: the last id of the page before. */
export async function* pagesOf<Row extends { id: string }>(
  read: (limit: number, cursor?: string) => Promise<readonly Row[]>,
  cursor?: string,
): AsyncGenerator<readonly Row[]> {
  for (let rows = await read(PAGE, cursor); ; rows = await read(PAGE, rows.at(-1)?.id)) {
    yield rows
    if (rows.length < PAGE) return
  }
}

export interface Exported {
  body: ReadableStream
  headers: Record<string, string>
}

/** `name`: of the file. Columns of `numbers` are never text, whatever sign they begin with. */
export interface Table {
  name: string
  columns: readonly string[]
  numbers?: readonly string[]
}

/**
 * For programs, or for a spreadsheet that opens the file by a double click: that takes the encoding
 * from a mark, and the separators from the decimal sign of its country.
 */
interface CsvStyle {
  isMarked: boolean
  decimal: '.' | ','
}

const PLAIN: CsvStyle = { isMarked: false, decimal: '.' }
const BYTE_ORDER_MARK = '\ufeff'

/** Rejects as the first page does; if a later one fails, the text breaks off. */
export async function exported<Row extends object>(
  format: 'csv' | 'jsonl',
  { name, columns, numbers = [] }: Table,
  pages: AsyncGenerator<readonly Row[]>,
  cellsOf: (row: Row) => object = (row) => row,
  { isMarked, decimal }: CsvStyle = PLAIN,
): Promise<Exported> {
  const isCsv = format === 'csv'
  const separator = decimal === ',' ? ';' : ','
  const csvLine = (row: Row) => {
    const values = { ...cellsOf(row) } as Record<string, unknown>
    const cells = columns.map((column) =>
      numbers.includes(column)
        ? String(values[column] ?? '').replace('.', decimal)
        : cell(values[column]),
    )
    return `${cells.join(separator)}\r\n`
  }
  const lineOf = isCsv ? csvLine : (row: Row) => `${JSON.stringify(row)}\n`
  const mark = isMarked ? BYTE_ORDER_MARK : ''
  const head = isCsv ? `${mark}${columns.join(separator)}\r\n` : ''
  const { body, headers } = await streamed(isCsv ? 'text/csv' : 'application/jsonl', texts())
  async function* texts(): AsyncGenerator<string> {
    let before = head
    for await (const rows of pages) {
      yield before + rows.map(lineOf).join('')
      before = ''
    }
  }
  const file = `attachment; filename="signalbox-${name}.${format}"`
  return { body, headers: { ...headers, 'Content-Disposition': file } }
}

/**
 * The texts one after the other, each made when the one before was taken. Rejects as the first one
 * does: it is made before anything is answered. After a failure an end would mean that it is whole.
 */
export async function streamed(type: string, texts: AsyncGenerator<string>): Promise<Exported> {
  let next: IteratorResult<string, unknown> | undefined = await texts.next()
  const body = new ReadableStream<string>({
    async pull(controller) {
      const { done, value } = next ?? (await texts.next())
      next = undefined
      if (done) controller.close()
      else controller.enqueue(String(value))
    },
    async cancel() {
      await texts.return(undefined)
    },
  }).pipeThrough(new TextEncoderStream())
  return { body, headers: { 'Content-Type': `${type}; charset=utf-8` } }
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
