// What the edge answers to one read, for as long as a part of the page is shown.

import { useEffect, useState } from 'preact/hooks'
import { problemText, request } from './http.ts'

/**
 * Read anew whenever one of `again` changes; the browser's cache answers what did not change.
 * Undefined: it is not read yet. A sentence: why it cannot be; what was read before stays.
 */
export function useRead<Body extends object>(
  path: string,
  again: readonly unknown[],
): Body | string | undefined {
  const [known, setKnown] = useState<{ path: string; answer: Body | string }>()
  useEffect(() => {
    const wanted = new AbortController()
    request<Body>(path, wanted).then(
      (answer) => setKnown({ path, answer }),
      (problem: unknown) => {
        if (wanted.signal.aborted) return
        const answer = problemText(problem)
        setKnown((last) =>
          last?.path === path && typeof last.answer === 'object' ? last : { path, answer },
        )
      },
    )
    return () => wanted.abort()
  }, [path, ...again])
  return known?.path === path ? known.answer : undefined
}
