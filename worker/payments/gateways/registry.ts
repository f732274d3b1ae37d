// The drivers that are included, by the names that signalbox.config.ts uses. For a new one the
// compiler asks for its simulation, in simulator/simulations.ts. An operator's own driver is a
// value in signalbox.config.ts.

import { fib } from './fib/fib.ts'
import type { Driver } from './gateway.ts'
import { mollie } from './mollie/mollie.ts'
import { redirect } from './redirect/redirect.ts'
import { stripe } from './stripe/stripe.ts'

export const DRIVERS = { redirect, fib, stripe, mollie } as const satisfies Record<string, Driver>

export type DriverName = keyof typeof DRIVERS
