// The words in which a room describes its routes; document.ts makes the OpenAPI document of them.
// Types only.

import type * as z from 'zod'
import type { Scope } from '../access.ts'
import type { Reason } from '../problem.ts'
import type { RequestHeader, ResponseHeader } from './components.ts'

/** What a room adds to the document. */
export interface Description {
  tag: { name: string; description: string }
  /** By method and path, as the router has them: `GET /api/tasks/:id`. */
  operations: Readonly<Record<string, Operation>>
  /** The schemas of bodies and answers by their public names, and what else deserves a name. */
  schemas: Readonly<Record<string, z.ZodType>>
  /** What we send ourselves, by name. */
  webhooks?: Readonly<Record<string, SentWebhook>>
  /** The routes come before request ids and our own failures. */
  isBare?: true
}

export interface Operation {
  /** The name of the function in generated clients. */
  id: string
  summary: string
  description?: string
  /** `token`: any valid token. `nobody`: no token is needed. */
  needs: Scope | 'token' | 'nobody'
  /** A ticket in the query does as well as a token. */
  takesTicket?: true
  /** What each `:name` of the path is. */
  path?: Readonly<Record<string, string>>
  query?: z.ZodObject
  headers?: readonly RequestHeader[]
  /** `any`: any body that a gateway sends. */
  body?: z.ZodType | 'any'
  isBodyOptional?: true
  /** By status. */
  answers: Readonly<Record<number, Answer>>
  /** Besides those that all routes behind the authentication have. */
  failures: readonly Reason[]
}

export interface Answer {
  description: string
  /** Missing: there is no body. */
  schema?: z.ZodType
  /** Default: `application/json`. */
  type?: 'text/plain' | 'text/event-stream'
  headers?: readonly ResponseHeader[]
}

export interface SentWebhook {
  summary: string
  headers: Readonly<Record<string, string>>
  body: z.ZodType
}
