// A notice before the session ends, then a form to sign in again: what was typed stays.

import { computed } from '@preact/signals'
import { useState } from 'preact/hooks'
import { credentialIn, session, signInAgain } from '../data/session.ts'
import { Field, Form, useOnce } from '../ui/elements.tsx'
import { minuteOf } from '../ui/format.ts'
import { now } from '../ui/time.tsx'
import { signInProblem } from './sign-in.tsx'

const WARNED_MS = 10 * 60_000

/** Undefined while the end is far. */
const endsAt = computed(() => {
  if (session.value.name !== 'signed-in') return undefined
  const at = Date.parse(session.value.session.expiresAt)
  return at - now.value <= WARNED_MS ? at : undefined
})

/** In the frame, and in each dialog with a form, since a dialog covers the frame. */
export function SessionEnd() {
  const at = endsAt.value
  return at === undefined ? null : <SignInAgain at={at} />
}

const SignInAgain = ({ at }: { at: number }) => (
  <section class="notice caution session-end" aria-label="Your session">
    <p role="status">
      Your session ends at {minuteOf(at)}. Sign in again, here or by a link in another tab: what you
      have typed stays.
    </p>
    <SignInAgainForm />
  </section>
)

/** Replaces the session, and the page stays as it is. */
export function SignInAgainForm() {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const { isWorking, run } = useOnce(async () => {
    const refused = await signInAgain(credentialIn(text))
    setProblem(refused && signInProblem(refused))
  })
  return (
    <Form onSubmit={run}>
      <Field
        label="Access token or sign-in link"
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
        value={text}
        onText={setText}
      />
      <p class="problem-line" role="alert">
        {problem}
      </p>
      <button type="submit" disabled={isWorking}>
        Sign in again
      </button>
    </Form>
  )
}
