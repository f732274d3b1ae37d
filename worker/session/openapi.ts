// What the OpenAPI document says of signing in and out.

import type { Description } from '../shared/openapi/operation.ts'
import { sessionSchema, signInSchema } from './schemas.ts'

export const describeSession = (): Description => ({
  tag: { name: 'Session', description: 'The cookie of a browser, which no script can read.' },
  operations: {
    'POST /api/session': {
      id: 'signIn',
      summary: 'Sign in with a token or with the code of a one-time link',
      needs: 'nobody',
      headers: ['Origin'],
      body: signInSchema,
      answers: {
        201: { description: 'Signed in.', schema: sessionSchema, headers: ['Set-Cookie'] },
      },
      failures: [
        ...(['invalid_request', 'unauthorized', 'code_spent', 'bad_origin'] as const),
        ...(['payload_too_large', 'not_configured', 'misconfigured'] as const),
        ...(['keys_unavailable', 'internal'] as const),
      ],
    },
    'GET /api/session': {
      id: 'getSession',
      summary: 'What this request may do, and until when',
      needs: 'token',
      answers: {
        200: {
          description: 'The scopes and repositories of the token.',
          schema: sessionSchema,
          headers: ['Cache-Control'],
        },
      },
      failures: [],
    },
    'DELETE /api/session': {
      id: 'signOut',
      summary: 'Sign out',
      needs: 'token',
      answers: { 204: { description: 'The cookie is gone.', headers: ['Set-Cookie'] } },
      failures: [],
    },
  },
  schemas: { SignIn: signInSchema, SignedIn: sessionSchema },
})
