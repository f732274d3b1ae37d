// Markdown to elements that do no harm. Whoever writes a task may be anybody, an agent that was
// talked into something too: what is not listed here does not come through.

import DOMPurify, { type Config } from 'dompurify'
import { Marked, type Token } from 'marked'
import { words } from '../../words.ts'

const ALLOWED = {
  ALLOWED_TAGS: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'code'],
    ...['ul', 'ol', 'li', 'input', 'dl', 'dt', 'dd', 'details', 'summary'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
    ...['a', 'em', 'strong', 'del', 's', 'b', 'i', 'u', 'kbd', 'sub', 'sup', 'mark', 'span'],
  ],
  // No `style`, no `class`: a task could dress up as a part of the page. No `id` or `name`: they
  // shadow what scripts ask the document for.
  ALLOWED_ATTR: ['href', 'title', 'align', 'start', 'type', 'checked', 'disabled', 'dir', 'lang'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  // Every other value would have to look like an address of those.
  ADD_URI_SAFE_ATTR: ['type', 'align', 'start', 'dir', 'lang'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // Elements, not markup: nothing is parsed a second time, so no two parsers can disagree.
  RETURN_DOM_FRAGMENT: true,
} as const satisfies Config

const marked = new Marked({ gfm: true, walkTokens: adapt })

// DOMPurify makes its own policy of Trusted Types, `dompurify`, which is the only one the page's
// Content-Security-Policy allows.
const purifier = DOMPurify(window)
purifier.addHook('afterSanitizeAttributes', (element) => {
  if (element.nodeName === 'A') fence(element)
  if (element.nodeName === 'INPUT') disarm(element)
})

export function fragmentOf(text: string): DocumentFragment {
  return purifier.sanitize(marked.parse(text, { async: false }), { ...ALLOWED })
}

/** A task's headings stand below the page's own; its images are links, since nothing is fetched. */
function adapt(token: Token): void {
  if (token.type === 'heading') token.depth = Math.min(6, token.depth + 2)
  if (token.type !== 'image') return
  const text = token.text === '' ? token.href : token.text
  Object.assign(token, { type: 'link', tokens: [{ type: 'text', raw: text, text }] })
}

function fence(link: Element): void {
  if (!link.hasAttribute('href')) return
  link.setAttribute('rel', 'noopener noreferrer')
  link.setAttribute('target', '_blank')
}

/** Only the boxes of task lists are left of forms. */
function disarm(input: Element): void {
  if (input.getAttribute('type') !== 'checkbox') {
    input.remove()
    return
  }
  input.setAttribute('disabled', '')
  input.setAttribute('aria-label', words.board.detail.box(input.hasAttribute('checked')))
}
