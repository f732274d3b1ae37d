// Apart from reply.ts, whose types are public and must not bring zod along.

import * as z from 'zod'

/**
 * A text that may be missing. Some gateways write null or another type here, which must not make a
 * reply invalid whose amounts are correct.
 */
export const optionalText = z.string().min(1).optional().catch(undefined)
