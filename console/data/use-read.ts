// What the edge answers to a read, for as long as a part of the page is shown.

import { useEffect, useState } from 'preact/hooks'
import { problemText, repeatedRead, request } from './http.ts'
import { openPagePoller } from './page-poller.ts'

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

/** Read again and again. `answer`: the last one. `problem`: why there has been none since. */
export function usePolled<Body>(path: string): { answer?: Body; problem?: string } {
  const [answer, setAnswer] = useState<Body>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const read = repeatedRead<Body>()
    setAnswer(undefined)
    const poller = openPagePoller({
      async round(aborted) {
        setAnswer(await read(path, aborted))
      },
      onFreshness: (freshness) =>
        setProblem(freshness.name === 'unreachable' ? problemText(freshness.problem) : undefined),
    })
    poller.refresh()
    return () => poller.close()
  }, [path])
  return { ...(answer !== undefined && { answer }), ...(problem !== undefined && { problem }) }
}
