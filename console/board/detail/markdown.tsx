// A text of a task as it is meant to be read. What renders it is loaded with the first task that is
// opened; until then, and if it cannot be had, the text stands as it was written.

import { useEffect, useRef, useState } from 'preact/hooks'

export function Markdown({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null)
  const [isRendered, setRendered] = useState(false)
  useEffect(() => {
    let isWanted = true
    const render = async () => {
      const { fragmentOf } = await import('./markdown.ts')
      if (!isWanted) return
      place.current?.replaceChildren(fragmentOf(text))
      setRendered(true)
    }
    render().catch(() => setRendered(false))
    return () => {
      isWanted = false
    }
  }, [text])
  return (
    <div class="markdown" dir="auto">
      {!isRendered && <p class="raw">{text}</p>}
      <div ref={place} />
    </div>
  )
}
