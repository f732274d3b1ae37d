// What a sign-in takes and answers. The schemas validate, and describe it in the OpenAPI document.

import * as z from 'zod'

// People paste tokens with spaces around them. The token becomes a header, so the pattern is
// strict.
const token = z
  .string()
  .trim()
  .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)

export const signInSchema = z.union([
  z.strictObject({ token: token.describe('A token that was made before.') }),
  z.strictObject({ code: token.describe('Of a one-time link, as `signalbox sign-in` prints it.') }),
])

export const sessionSchema = z.object({
  subject: z.string().describe('The `sub` of the token.').exactOptional(),
  scopes: z.array(z.string()),
  repos: z.array(z.string()).describe('Exact, or ending in `*`. It limits the scopes of boards.'),
  expiresAt: z.string().meta({ format: 'date-time' }),
})

/** What this request may do, and until when. */
export type SessionAnswer = z.infer<typeof sessionSchema>
