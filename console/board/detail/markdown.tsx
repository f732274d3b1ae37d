// Renders the Markdown of a task. The renderer is loaded with the first opened task; before that,
// and if loading fails, the plain text is shown.

import { useEffect, useRef, useState } from 'preact/hooks'

export function Markdown({ text }: { text: string }) {
  const container = useRef<HTMLDivElement>(null)
  const [isRendered, setRendered] = useState(false)
  useEffect(() => {
    let isWanted = true
    const render = async () => {
      const { fragmentOf } = await import('./markdown.ts')
      if (!isWanted) return
      container.current?.replaceChildren(fragmentOf(text))
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
      <div ref={container} />
    </div>
  )
}
