// The drivers, by the names that signalbox.config.ts uses. A new driver needs its file and a line
// here.

import { fib } from './fib/fib.ts'
import type { Driver } from './gateway.ts'
import { redirect } from './redirect/redirect.ts'
import { stripe } from './stripe/stripe.ts'

export const DRIVERS = { redirect, fib, stripe } as const satisfies Record<string, Driver>
