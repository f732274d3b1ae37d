// The OpenAPI document of the whole edge. It is loaded with the first request for it: its schemas
// and its sentences would cost every cold start some time. The console's pages are not in it.

import * as z from 'zod'
import manifest from '../package.json' with { type: 'json' }
import { describeBoard } from './board/openapi.ts'
import { describePayments, describeWebhooks } from './payments/openapi.ts'
import { describeSession } from './session/openapi.ts'
import { makeDocument } from './shared/openapi/document.ts'
import type { Description } from './shared/openapi/operation.ts'

const INFO = {
  title: 'Signalbox',
  version: manifest.version,
  description:
    'Changes of task boards as signals, and payments that change their status exactly once. ' +
    'Routes that take `GET` take `HEAD` too. A failure is ' +
    '`{"error": "<sentence>", "code": "<stable code>"}`.',
  license: { name: manifest.license, identifier: manifest.license },
}

const OWN: Description = {
  tag: { name: 'Document', description: 'This document.' },
  operations: {
    'GET /openapi.json': {
      id: 'getDocument',
      summary: 'This document',
      needs: 'nobody',
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

/** `routePrefix`: of the webhooks, as it is configured. */
export const openapiDocument = (routePrefix: string) =>
  makeDocument(INFO, [
    describePayments(),
    describeWebhooks(routePrefix),
    describeBoard(),
    describeSession(),
    OWN,
  ])
