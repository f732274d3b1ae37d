// Conditional requests, RFC 9110 section 13. Pure.

/** Whether `If-None-Match` names this tag; compared weakly, as a GET must. */
export function matchesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const opaque = strip(etag)
  return ifNoneMatch.split(',').some((tag) => strip(tag.trim()) === opaque)
}

const strip = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag)
