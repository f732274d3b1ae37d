// The simulated webhooks, by driver. A new one needs its file and a line here.

import type { CallbackMaker } from './callback.ts'
import { fib } from './fib.ts'
import { redirect } from './redirect.ts'
import { stripe } from './stripe.ts'

export const CALLBACKS: Readonly<Record<string, CallbackMaker>> = { redirect, fib, stripe }
