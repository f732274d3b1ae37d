// Before the first view: signing in, at once with the code of a link, else with a pasted token.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Route } from '../address.ts'
import type { ApiProblem } from '../data/http.ts'
import { credentialIn, findSession, session, signIn } from '../data/session.ts'
import { replace, route } from '../router.ts'
import { Field, Form, useOnce } from '../ui/elements.tsx'

export function SignIn() {
  const { view, id: code } = route.value
  const [isWorking, setWorking] = useState(view === 'sign-in' && KEEPS_COOKIES)
  /** What to show afterwards: what the address asked for, until a link was followed here. */
  const asked = useRef<Route>({ view: 'board', query: {} })
  if (view !== 'sign-in') asked.current = route.value
  const leave = () => session.peek().name === 'signed-in' && replace(asked.current)

  useEffect(() => {
    // A link works once, and here it would be used for nothing.
    if (view !== 'sign-in' || !KEEPS_COOKIES) return
    void enter(code).finally(() => {
      setWorking(false)
      // Replaces the URL, so that the back button does not lead to a used code.
      leave()
    })
  }, [view, code])

  return (
    <main class="whole-page sign-in">
      <h1>Signalbox</h1>
      {isWorking ? (
        <p role="status" class="hint">
          {WORKING}
        </p>
      ) : KEEPS_COOKIES ? (
        <TokenForm onSignedIn={leave} />
      ) : (
        <PlainHttp />
      )}
    </main>
  )
}

const WORKING = 'Signing in…'

/** Over plain HTTP, a browser drops the session's cookie, unless the edge is on its machine. */
const KEEPS_COOKIES = isSecureContext

function PlainHttp() {
  const { host, hostname, port } = location
  const [local, remote] = port ? [port, host] : ['8787', `${host}:80`]
  return (
    <section>
      <p role="alert">
        This page came over plain HTTP from another machine: the browser drops the cookie that signs
        you in. It needs https.
      </p>
      <p>
        <code>signalbox --share</code> opens an https address for phones and other machines in the
        local network.
      </p>
      <p>
        In front of <code>signalbox serve</code>, it is a proxy that terminates TLS.
      </p>
      <p>
        With an account there, type this here, and open http://127.0.0.1:{local}:
        <br />
        <code>{`ssh -N -L ${local}:${remote} ${hostname}`}</code>
      </p>
    </section>
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

function TokenForm({ onSignedIn }: { onSignedIn(): void }) {
  const [token, setToken] = useState('')
  const [isEmpty, setEmpty] = useState(false)
  const keepsToken = session.value.name === 'signed-out' && session.value.keepsToken
  const { isWorking, run } = useOnce(async () => {
    setEmpty(token.trim() === '')
    if (token.trim() === '') return
    // What a phone's link opens is known only to the port that it leads to.
    if (PHONE_LINK.test(token.trim())) return location.assign(token.trim())
    await signIn(credentialIn(token))
    onSignedIn()
  })
  return (
    <Form onSubmit={run}>
      {keepsToken && (
        <p role="status">
          You are signed out in this browser. The token itself stays valid until it expires: this
          server cannot end it.
        </p>
      )}
      <Field
        label="Access token or sign-in link"
        hint={HINT}
        type="password"
        autocomplete="off"
        spellcheck={false}
        aria-invalid={isEmpty || undefined}
        value={token}
        onText={setToken}
      />
      <p class="problem-line" role="alert">
        {isEmpty ? 'Paste a token or a link first.' : problemOf()}
      </p>
      <button type="submit" disabled={isWorking}>
        {isWorking ? WORKING : 'Sign in'}
      </button>
    </Form>
  )
}

const PHONE_LINK = /^https:\/\/[^/#]+\/sign-in\/[\w-]+$/

const HINT =
  'On the machine where Signalbox runs, signalbox sign-in prints a link. For signalbox serve, ' +
  'signalbox token makes a token.'

function problemOf(): string | undefined {
  const state = session.value
  return state.name === 'signed-out' && state.problem ? signInProblem(state.problem) : undefined
}

export function signInProblem({ code, message }: ApiProblem): string {
  switch (code) {
    case 'unreachable':
      return 'The edge does not answer. Is it running?'
    case 'invalid_request':
      return 'This is not a valid token.'
    default:
      return message
  }
}
