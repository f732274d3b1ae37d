// What the command line knows of each driver. A new one needs its file and a line here.

import type { DriverTools } from './driver-tools.ts'
import { fib } from './fib.ts'
import { redirect } from './redirect.ts'
import { stripe } from './stripe.ts'

/** A driver of your own may have none. */
export const DRIVER_TOOLS: Readonly<Record<string, DriverTools>> = { redirect, fib, stripe }
