// What every file of the page is sent with: where a browser may load from, and what it must not do.

/** What a browser does with the page; whatever is not named here it refuses. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Styles that scripts set one by one (`element.style`) are not meant by it.
  "style-src 'self'",
  "img-src 'self'",
  // Requests and event streams go back to this edge alone, so nothing that a hostile task smuggles
  // in could carry a board away.
  "connect-src 'self'",
  "font-src 'self'",
  // A `<base>` would send the page's own relative addresses elsewhere; default-src is not about it.
  "base-uri 'none'",
  // Nor about forms, which would carry what is typed to anybody. The page sends by fetch alone.
  "form-action 'none'",
  // Nobody shows the page in a frame of theirs and lets a signed-in person click into it.
  "frame-ancestors 'none'",
  // Text becomes markup by a named policy or not at all: `innerHTML = task.body` throws.
  "require-trusted-types-for 'script'",
  // The one policy there is, made by the sanitiser; a second by its name cannot be made.
  'trusted-types dompurify',
].join('; ')

export const PAGE_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  // A script is a script by its type alone, never by a browser's guess.
  'X-Content-Type-Options': 'nosniff',
  // Names of tasks and payments stand in addresses, and a link in a task may lead anywhere.
  'Referrer-Policy': 'no-referrer',
  // What a link opens gets no hold of this window.
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const satisfies Record<string, string>

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
}

/** By the name's extension; an unknown one is to be saved, not shown. */
export const contentTypeOf = (name: string): string =>
  TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
