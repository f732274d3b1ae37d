// The drivers, by the names that signalbox.config.ts uses. Another one is a file and a line here.

import { fib } from './fib.ts'
import type { Driver } from './gateway.ts'
import { redirect } from './redirect.ts'
import { stripe } from './stripe.ts'

export const DRIVERS = { redirect, fib, stripe } as const satisfies Record<string, Driver>
