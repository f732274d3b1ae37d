// Signing in: at once with the code of a link, else with a pasted token.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { findSession, session, signIn } from '../data/session.ts'
import { go, replace, route } from '../router.ts'
import { words } from '../words.ts'
import { frameWords } from './words.ts'

export function SignIn() {
  const { view, id: code } = route.value
  const [isWorking, setWorking] = useState(view === 'sign-in')

  useEffect(() => {
    if (view !== 'sign-in') return
    void enter(code).finally(() => {
      setWorking(false)
      // Replaces the URL, so that the back button does not lead to a used code.
      if (session.peek().name === 'signed-in') replace({ view: 'board', query: {} })
    })
  }, [view, code])

  return (
    <main class="whole-page sign-in">
      <h1>{words.product}</h1>
      {isWorking ? <p role="status">{frameWords.signIn.working}</p> : <TokenForm />}
    </main>
  )
}

/** With the code. If it fails, the user may still be signed in from before, with the same link. */
async function enter(code: string | undefined): Promise<void> {
  if (code !== undefined) await signIn({ code })
  const tried = session.peek()
  if (tried.name === 'signed-in') return
  await findSession()
  if (session.peek().name === 'signed-out' && tried.name === 'signed-out') session.value = tried
}

function TokenForm() {
  const field = useRef<HTMLInputElement>(null)
  const [isWorking, setWorking] = useState(false)
  const [isEmpty, setEmpty] = useState(false)
  const ids = { token: useId(), hint: useId() }

  const submit = async (event: Event) => {
    event.preventDefault()
    const token = field.current?.value.trim() ?? ''
    setEmpty(token === '')
    if (token === '') return
    setWorking(true)
    await signIn({ token })
    setWorking(false)
    if (session.peek().name === 'signed-in') go({ view: 'board' })
  }
  return (
    <form onSubmit={submit}>
      <p>{frameWords.signIn.lead}</p>
      <label for={ids.token}>{frameWords.signIn.label}</label>
      <input
        id={ids.token}
        ref={field}
        type="password"
        autocomplete="off"
        spellcheck={false}
        aria-describedby={ids.hint}
        aria-invalid={isEmpty || undefined}
      />
      <p class="hint" id={ids.hint}>
        {frameWords.signIn.hint}
      </p>
      <p class="problem-line" role="alert">
        {isEmpty ? frameWords.signIn.empty : problemOf()}
      </p>
      <button type="submit" disabled={isWorking}>
        {isWorking ? frameWords.signIn.working : frameWords.signIn.submit}
      </button>
    </form>
  )
}

function problemOf(): string | undefined {
  const state = session.value
  if (state.name !== 'signed-out' || !state.problem) return undefined
  const { code, message } = state.problem
  switch (code) {
    case 'unreachable':
      return frameWords.signIn.unreachable
    case 'invalid_request':
      return frameWords.signIn.noToken
    default:
      return frameWords.signIn.problem(message)
  }
}
