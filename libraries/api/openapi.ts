// The OpenAPI document of the whole edge, except for the pages of the console. board.ts and
// payments.ts describe their operations, and this file those of the session and of the document.

import * as z from 'zod'
import manifest from '../../package.json' with { type: 'json' }
import { messageSchema } from '../../worker/mcp/routes.ts'
import { sessionSchema, signInSchema } from '../../worker/session/routes.ts'
import { BOARD } from './board.ts'
import { makeDocument } from './make-document.ts'
import type { Description } from './operation.ts'
import { PAYMENTS } from './payments.ts'
import { WEBHOOKS } from './webhooks.ts'

const INFO = {
  title: 'Signalbox',
  version: manifest.version,
  description:
    'Changes of task boards as signals, and payments that change their status exactly once. ' +
    'Routes that take `GET` take `HEAD` too. A failure is ' +
    '`{"error": "<sentence>", "code": "<stable code>"}`.',
  license: { name: manifest.license, identifier: manifest.license },
}

const SESSION: Description = {
  tag: { name: 'Session', description: 'The cookie of a browser, which no script can read.' },
  operations: {
    'POST /api/session': {
      id: 'signIn',
      summary: 'Sign in with a token or with the code of a one-time link',
      description:
        'Makes a session of its own, until the token expires, for 30 days at most, and for a day ' +
        'with `payments:write`. A session that the browser has is ended.',
      needs: 'nothing',
      headers: ['Origin'],
      body: signInSchema,
      answers: {
        201: { description: 'Signed in.', schema: sessionSchema, headers: ['Set-Cookie'] },
      },
      failures: [
        ...(['invalid_request', 'unauthorized', 'code_spent', 'bad_origin'] as const),
        ...(['payload_too_large', 'not_configured', 'misconfigured'] as const),
        ...(['keys_unavailable', 'sessions_unavailable', 'internal'] as const),
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
      description:
        'Ends the session of the cookie: everywhere within 30 s, its streams within a minute. ' +
        'A bearer token stays as it is.',
      needs: 'token',
      answers: {
        204: { description: 'The session and its cookie are gone.', headers: ['Set-Cookie'] },
      },
      failures: [],
    },
  },
  schemas: { SignIn: signInSchema, SignedIn: sessionSchema },
}

const OWN: Description = {
  tag: { name: 'Document', description: 'This document.' },
  operations: {
    'GET /openapi.json': {
      id: 'getDocument',
      summary: 'This document',
      needs: 'nothing',
      headers: ['If-None-Match'],
      answers: {
        200: {
          description: 'The document.',
          schema: z.looseObject({ openapi: z.string() }),
          headers: ['ETag', 'Cache-Control'],
        },
        304: { description: 'It has not changed.', headers: ['ETag', 'Cache-Control'] },
      },
      failures: ['invalid_request', 'internal', 'misconfigured'],
    },
  },
  schemas: {},
}

const MCP: Description = {
  tag: { name: 'MCP', description: 'The tools of agents.' },
  operations: {
    'POST /mcp': {
      id: 'callMcp',
      summary: 'The Model Context Protocol',
      description:
        'A message of JSON-RPC, of the versions 2024-10-07 to 2026-07-28. A tool needs the ' +
        'scopes of the operations that it is.',
      needs: 'token',
      headers: ['Origin'],
      body: messageSchema,
      answers: {
        200: {
          description: 'The answer, or a stream of messages that ends with it.',
          schema: messageSchema,
          texts: ['text/event-stream'],
        },
        202: { description: 'A notification was heard.' },
        400: { description: 'What is wrong with it, as JSON-RPC', schema: messageSchema },
        404: { description: 'No such method in this version, as JSON-RPC.', schema: messageSchema },
      },
      failures: ['bad_host', 'payload_too_large'],
    },
  },
  schemas: {},
}

/** With the default prefix of the webhooks. An edge with another one changes it as it answers. */
export const openapiDocument = () =>
  makeDocument(INFO, [PAYMENTS, WEBHOOKS, BOARD, MCP, SESSION, OWN])
