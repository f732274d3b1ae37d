// Asks for the repository, if the token covers more than one.

import { useId, useRef } from 'preact/hooks'
import { choose, repository } from '../data/live/open.ts'
import { frameWords } from './words.ts'

export function RepositoryPicker() {
  const field = useRef<HTMLInputElement>(null)
  const ids = { path: useId(), known: useId() }
  const known = repository.value.name === 'unchosen' ? repository.value.known : []

  const submit = (event: Event) => {
    event.preventDefault()
    const path = field.current?.value.trim() ?? ''
    if (path !== '') choose(path)
  }
  return (
    <form class="picker" onSubmit={submit}>
      <h1>{frameWords.repository.title}</h1>
      <p>{frameWords.repository.lead}</p>
      <label for={ids.path}>{frameWords.repository.label}</label>
      <input id={ids.path} ref={field} list={ids.known} spellcheck={false} required />
      <datalist id={ids.known}>
        {known.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      <button type="submit">{frameWords.repository.open}</button>
    </form>
  )
}
