// Converts Markdown to safe elements. The author of a task may be hostile, or an agent that was
// tricked. So only what is listed here is allowed.

import DOMPurify, { type Config } from 'dompurify'
import { Marked, type Token } from 'marked'
import { detailWords } from './words.ts'

const ALLOWED = {
  ALLOWED_TAGS: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'code'],
    ...['ul', 'ol', 'li', 'input', 'dl', 'dt', 'dd', 'details', 'summary'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
    ...['a', 'em', 'strong', 'del', 's', 'b', 'i', 'u', 'kbd', 'sub', 'sup', 'mark', 'span'],
  ],
  // No `style` or `class`: a task could imitate parts of the page. No `id` or `name`: they could
  // shadow properties of the document that scripts use (DOM clobbering).
  ALLOWED_ATTR: ['href', 'title', 'align', 'start', 'type', 'checked', 'disabled', 'dir', 'lang'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  // Values of other attributes must match the pattern above.
  ADD_URI_SAFE_ATTR: ['type', 'align', 'start', 'dir', 'lang'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // Elements instead of markup: a second parser could read the markup differently (mutation XSS).
  RETURN_DOM_FRAGMENT: true,
} as const satisfies Config

const marked = new Marked({ gfm: true, walkTokens: adapt })

// DOMPurify creates the Trusted Types policy `dompurify`, the only one that the page's
// Content-Security-Policy allows.
const purifier = DOMPurify(window)
purifier.addHook('afterSanitizeAttributes', (element) => {
  if (element.nodeName === 'A') openInNewTab(element)
  if (element.nodeName === 'INPUT') disableInput(element)
})

export function fragmentOf(text: string): DocumentFragment {
  return purifier.sanitize(marked.parse(text, { async: false }), { ...ALLOWED })
}

/** Headings of a task rank below those of the page. Images become links: nothing is fetched. */
function adapt(token: Token): void {
  if (token.type === 'heading') token.depth = Math.min(6, token.depth + 2)
  if (token.type !== 'image') return
  const text = token.text === '' ? token.href : token.text
  Object.assign(token, { type: 'link', tokens: [{ type: 'text', raw: text, text }] })
}

function openInNewTab(link: Element): void {
  if (!link.hasAttribute('href')) return
  link.setAttribute('rel', 'noopener noreferrer')
  link.setAttribute('target', '_blank')
}

/** Of form fields, only the check boxes of task lists stay. */
function disableInput(input: Element): void {
  if (input.getAttribute('type') !== 'checkbox') {
    input.remove()
    return
  }
  input.setAttribute('disabled', '')
  input.setAttribute('aria-label', detailWords.box(input.hasAttribute('checked')))
}
