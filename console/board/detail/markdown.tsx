// Shows the Markdown of a task. What formats it is loaded with the first opened task. Before that,
// and for what cannot be formatted, the plain text is shown.

import { useEffect, useRef, useState } from 'preact/hooks'

type Shown = 'loading' | 'formatted' | 'plain'

export function Markdown({ text }: { text: string }) {
  const container = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState<Shown>('loading')
  useEffect(() => {
    const wanted = new AbortController()
    const format = async () => {
      const { fragmentOf } = await import('./markdown.ts')
      return await fragmentOf(text, wanted.signal)
    }
    const show = (fragment?: DocumentFragment) => {
      if (wanted.signal.aborted) return
      container.current?.replaceChildren(...(fragment === undefined ? [] : [fragment]))
      setShown(fragment === undefined ? 'plain' : 'formatted')
    }
    format().then(show, () => show())
    return () => wanted.abort()
  }, [text])
  return (
    <div class="markdown" dir="auto">
      {shown === 'plain' && (
        <p class="hint">Shown as plain text, because it could not be formatted.</p>
      )}
      {shown !== 'formatted' && <p class="raw">{text}</p>}
      <div ref={container} />
    </div>
  )
}
