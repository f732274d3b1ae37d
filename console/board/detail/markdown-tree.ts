// Parses Markdown to a tree. Not to HTML: the page would have to parse that once more, and there a
// browser's repair of tags that do not nest copies elements without an end.

import { Parser } from 'htmlparser2'
import { Marked, type Token } from 'marked'

/** Not yet sanitised. */
export type MarkdownNode = string | MarkdownElement

export interface MarkdownElement {
  name: string
  attributes: Readonly<Record<string, string>>
  children: readonly MarkdownNode[]
}

/** What the page sanitises and lays out within a moment. No task needs more. */
const MAX_NODES = 20_000
const MAX_DEPTH = 50

const marked = new Marked({ gfm: true, walkTokens: adapt })

/** Undefined if it is too large or too deep. Throws what `marked` throws: a RangeError. */
export function treeOf(text: string): readonly MarkdownNode[] | undefined {
  const root: MarkdownNode[] = []
  const open = [root]
  let nodes = 0
  let depth = 0
  const parser = new Parser({
    onopentag(name, attributes) {
      const children: MarkdownNode[] = []
      open.at(-1)?.push({ name, attributes, children })
      open.push(children)
      nodes += 1
      depth = Math.max(depth, open.length)
    },
    ontext(text) {
      const siblings = open.at(-1) ?? root
      const before = siblings.at(-1)
      if (typeof before === 'string') siblings[siblings.length - 1] = before + text
      else siblings.push(text)
      nodes += typeof before === 'string' ? 0 : 1
    },
    onclosetag: () => void open.pop(),
  })
  parser.end(marked.parse(text, { async: false }))
  return nodes > MAX_NODES || depth > MAX_DEPTH ? undefined : root
}

/** Headings of a task rank below those of the page. Images become links: nothing is fetched. */
function adapt(token: Token): void {
  if (token.type === 'heading') token.depth = Math.min(6, token.depth + 2)
  if (token.type !== 'image') return
  const text = token.text === '' ? token.href : token.text
  Object.assign(token, { type: 'link', tokens: [{ type: 'text', raw: text, text }] })
}
