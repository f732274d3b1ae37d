// Converts Markdown to safe elements. The author of a task may be hostile, or an agent that was
// tricked. So only what is listed here is allowed.

import DOMPurify, { type Config } from 'dompurify'
import { hostClock } from '../../../worker/shared/clock.ts'
import { type MarkdownTree, markdownParser, type ParserWorker } from './markdown-parser.ts'
import type { MarkdownElement, MarkdownNode } from './markdown-tree.ts'

/** Elements whose content is nothing to read. */
// biome-ignore format: several names a line.
const UNREAD = new Set([
  'script', 'style', 'template', 'title', 'svg', 'math', 'audio', 'video',
  'iframe', 'noscript', 'noembed', 'noframes', 'xmp',
])

const ALLOWED = {
  // biome-ignore format: several names a line.
  ALLOWED_TAGS: [
    'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'code',
    'ul', 'ol', 'li', 'input', 'dl', 'dt', 'dd', 'details', 'summary',
    'table', 'thead', 'tbody', 'tr', 'th', 'td',
    'a', 'em', 'strong', 'del', 's', 'b', 'i', 'u', 'kbd', 'sub', 'sup', 'mark', 'span',
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

const TAGS: ReadonlySet<string> = new Set(ALLOWED.ALLOWED_TAGS)

// DOMPurify creates the Trusted Types policy `dompurify`, the only one for HTML that the page's
// Content-Security-Policy allows.
const purifier = DOMPurify(window)
purifier.addHook('afterSanitizeAttributes', (element) => {
  if (element.nodeName === 'A') openInNewTab(element)
  if (element.nodeName === 'INPUT') disableInput(element)
})

/** Undefined for what is too much to format, or not wanted any more. Rejects without a worker. */
export async function fragmentOf(text: string, wanted: AbortSignal) {
  const tree = await parse(text, wanted)
  return tree && purifier.sanitize(nodesOf(tree), { ...ALLOWED })
}

// The page's Content-Security-Policy accepts the URL of a worker from this policy only, and the
// policy gives no other. index.html names the file, whose name depends on its content.
const { trustedTypes } = window as { trustedTypes?: PolicyFactory }
const file = document.querySelector<HTMLMetaElement>('meta[name=markdown-worker]')?.content ?? ''
const policy = trustedTypes?.createPolicy('markdown-worker', { createScriptURL: () => file })
const workerUrl = policy?.createScriptURL(file) ?? file

interface PolicyFactory {
  createPolicy: (name: string, rules: Policy) => Policy
}
interface Policy {
  createScriptURL: (url: string) => string
}

const parse = markdownParser({ clock: hostClock, startWorker })

async function startWorker(): Promise<ParserWorker> {
  const worker = new Worker(workerUrl, { type: 'module' })
  const answer = () =>
    new Promise<MarkdownTree>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = () => reject(new Error('the worker for Markdown failed'))
    })
  // The first message says that it runs.
  await answer()
  const parse = (text: string) => {
    worker.postMessage(text)
    return answer()
  }
  return { parse, end: () => worker.terminate() }
}

/** In a document of its own, which loads and runs nothing. */
function nodesOf(tree: readonly MarkdownNode[]): DocumentFragment {
  const own = document.implementation.createHTMLDocument()
  const append = (parent: Node, nodes: readonly MarkdownNode[]) => {
    for (const node of nodes) {
      if (typeof node === 'string') parent.appendChild(own.createTextNode(node))
      else if (TAGS.has(node.name)) parent.appendChild(elementOf(node))
      else if (!UNREAD.has(node.name)) append(parent, node.children)
    }
  }
  const elementOf = ({ name, attributes, children }: MarkdownElement) => {
    const element = own.createElement(name)
    for (const key of ALLOWED.ALLOWED_ATTR) {
      const value = attributes[key]
      if (value !== undefined) element.setAttribute(key, value)
    }
    append(element, children)
    return element
  }
  const fragment = own.createDocumentFragment()
  append(fragment, tree)
  return fragment
}

function openInNewTab(link: Element): void {
  if (!link.hasAttribute('href')) return
  link.setAttribute('rel', 'noopener noreferrer')
  link.setAttribute('target', '_blank')
}

/** Only the check boxes of task lists stay of all form fields. */
function disableInput(input: Element): void {
  if (input.getAttribute('type') !== 'checkbox') {
    input.remove()
    return
  }
  input.setAttribute('disabled', '')
  input.setAttribute('aria-label', input.hasAttribute('checked') ? 'done' : 'to do')
}
