// The tasks of a checklist in Markdown, as its lines have them: what stands below each, its number,
// and which task it is part of. No I/O.

/** A task of a checklist. */
export interface Item {
  /** Without its number. */
  text: string
  /** The line, and those that are indented below it. */
  lines: string[]
  mark: string
  /** Brackets with an asterisk, `[ ]*`, also of the task that it is part of. */
  isOptional: boolean
  number: string | undefined
  /** Another task above has its number. */
  isTwin: boolean
  /** The task that it is part of: it is indented under it, or else numbered below it. */
  whole: Item | undefined
  /** The heading it stands under. */
  group: string | undefined
  indent: number
}

export const TITLE_CHARS = 300
/**
 * A task as OpenSpec counts it, in code fences, too: any bullet, and brackets with one mark at
 * most, unless they begin a link. Spaces are bounded, or a line of spaces would take minutes.
 */
const TASK = /^(\s*)(?:[-*+]|\d{1,9}[.)])\s*\[(?:\s{0,40}([^\]\s]?)\s{0,40}\](?![([])|\s+\])\s*(.*)/
const NUMBER =
  /^([*_~`]*)(T\d{1,6}[A-Za-z]?|\d{1,5}(?:\.\d{1,5}){0,20}[a-z]?)\\?[.):]?([*_~`]*)(?:\s+|$)/
export const FENCE = /^\s*(?:```|~~~)/
/** A line that goes on with the text above it, though it is not indented. */
const GOES_ON = /^\s*(?![-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|```|~~~|[>|<]|[-*_=]{3})\S/

/** `rest`: the lines that are of no task. */
export function readChecklist(text: string): { items: Item[]; rest: string[] } {
  const items: Item[] = []
  const rest: string[] = []
  /** The tasks that an indented line may belong to, the innermost last. */
  const open: Item[] = []
  const numbered = new Map<string, Item>()
  let group: string | undefined
  let isFenced = false
  let isInText = false
  for (const line of text.split(/\r?\n/)) {
    const found = TASK.exec(line)
    const indent = widthOf(found?.[1] ?? /^\s*/.exec(line)?.[0] ?? '')
    const isBlank = line.trim() === ''
    const goesOn = isInText && !isFenced && found === null && GOES_ON.test(line)
    while (!isBlank && !goesOn && indent <= (open.at(-1)?.indent ?? -1)) open.pop()
    if (found) {
      const [, , mark = '', written = ''] = found
      const item = { ...readTask(written), lines: [line], mark, group, indent }
      const { number } = item
      const above = open.at(-1) ?? numberedAbove(number, numbered)
      // Which of two tasks with one number is meant, nobody knows.
      const whole = above?.isTwin ? undefined : above
      const isTwin = number !== undefined && numbered.has(number)
      const isOptional = item.isOptional || whole?.isOptional === true
      const task = { ...item, whole, isTwin, isOptional }
      if (number !== undefined && !isTwin) numbered.set(number, task)
      items.push(task)
      open.push(task)
      isInText = true
      continue
    }
    if (FENCE.test(line)) isFenced = !isFenced
    else if (!isFenced && line.startsWith('## ')) group = headingText(line)
    const of = open.at(-1)
    isInText = of !== undefined && !isBlank
    if (of) of.lines.push(line)
    else if (!isBlank) rest.push(line)
  }
  for (const { lines } of items) while (lines.at(-1)?.trim() === '') lines.pop()
  return { items, rest }
}

/** What stands behind the brackets. */
function readTask(written: string): Pick<Item, 'text' | 'number' | 'isOptional'> {
  const text = written.replace(/^\*\s+/, '')
  const number = NUMBER.exec(text)
  const isOptional = text !== written
  return { text: withoutNumber(text, number), number: number?.[2], isOptional }
}

/** Emphasis that begins before the number and ends in the text is of neither. */
function withoutNumber(text: string, number: RegExpExecArray | null): string {
  const [all = '', opening = '', , closing = ''] = number ?? []
  const rest = text.slice(all.length).trim()
  return closing.length < opening.length ? rest.replace(opening.slice(closing.length), '') : rest
}

/** The task above that has the number which this one goes on from: `1.2` for `1.2.3`, else `1`. */
function numberedAbove(number = '', above: ReadonlyMap<string, Item>): Item | undefined {
  for (let end = number.lastIndexOf('.'); end > 0; end = number.lastIndexOf('.', end - 1)) {
    const found = above.get(number.slice(0, end))
    if (found) return found
  }
  return undefined
}

export const headingText = (line: string): string =>
  cutTitle(line.trim())
    .replace(/^#+\s+/, '')
    .replace(/(?<![\s#])[\s#]+$/, '')

export const cutTitle = (title: string): string =>
  title.length > TITLE_CHARS ? `${title.slice(0, TITLE_CHARS).toWellFormed()}…` : title

const widthOf = (space: string): number => space.replaceAll('\t', '    ').length
