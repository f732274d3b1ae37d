// An edge of the benchmarks with payments of one gateway.

import type { PaymentsDatabase } from '../../harness/database.ts'
import type { PrepareEdge } from '../../start/edge-plan.ts'
import { type BenchEdge, startEdge } from '../programs.ts'

/** Signs the callbacks of the gateway, for all systems. */
export const API_KEY = 'the-key-of-the-benchmark-that-signs-callbacks'

/** `gatewayUrl`: where charges go; the callbacks alone need none. */
export const startPayments = (
  prepare: PrepareEdge,
  dir: string,
  database: Pick<PaymentsDatabase, 'url' | 'token'>,
  gatewayUrl = 'http://127.0.0.1:9',
): Promise<BenchEdge> =>
  startEdge(prepare, dir, {
    variables: {
      LIBSQL_URL: database.url,
      LIBSQL_AUTH_TOKEN: database.token,
      REDIRECT_GATEWAY_CLIENT_ID: 'bench',
      REDIRECT_GATEWAY_CLIENT_SECRET: 'the-secret-of-the-benchmark-at-the-gateway',
      REDIRECT_GATEWAY_API_KEY: API_KEY,
      REDIRECT_GATEWAY_BASE_URL: gatewayUrl,
      PAYMENT_PUBLIC_URL: 'http://127.0.0.1',
    },
  })
