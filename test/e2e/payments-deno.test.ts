// The drivers meet Deno's fetch and its Web Crypto.

import { paymentsContract } from '../contract/payments.ts'

paymentsContract('deno')
