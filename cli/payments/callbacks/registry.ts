// What stands in for a gateway, by the driver's name. Another driver that is to be simulated is a
// file and a line here.

import type { CallbackMaker } from './callback.ts'
import { fib } from './fib.ts'
import { redirect } from './redirect.ts'
import { stripe } from './stripe.ts'

export const CALLBACKS: Readonly<Record<string, CallbackMaker>> = { redirect, fib, stripe }
