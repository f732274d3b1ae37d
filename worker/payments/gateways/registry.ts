// The drivers that are included, by the names that signalbox.config.ts uses. A new one needs its
// file and a line here. An operator's own driver is a value in signalbox.config.ts.

import type { SignalboxFile } from '../define-config.ts'
import { fib } from './fib/fib.ts'
import type { Driver } from './gateway.ts'
import { redirect } from './redirect/redirect.ts'
import { stripe } from './stripe/stripe.ts'

export const DRIVERS = { redirect, fib, stripe } as const satisfies Record<string, Driver>

/** With those of the file. One of the same name takes the place of ours. */
export const driversOf = ({ payments }: SignalboxFile): Readonly<Record<string, Driver>> => ({
  ...DRIVERS,
  ...payments?.drivers,
})
